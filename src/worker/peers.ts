/**
 * Calls to Durable Objects. A refusal is a value of the callee; what is thrown is a bug there or a fault of the platform, and becomes
 * one Status here, without a word about our insides.
 *
 *   retryable, not overloaded      the call was not delivered or the object went away: a call that is safe to repeat is repeated
 *   overloaded                     503 at once: repeating makes it worse
 *   reset, connection lost, …      503, clients come back by themselves (Retry-After)
 *   no answer in time              504, as upstream
 *   anything else                  logged, 500
 */
import { err, ok, type Result } from "../base/result";
import { internalError, serviceUnavailable, type Status, timeout } from "../meta/status";
import { log } from "./log";
import { PEER_ATTEMPTS, PEER_RETRY_BASE_MS, PEER_TIMEOUT_MS, RETRY_AFTER_SECONDS } from "./limits";

export interface CallOptions {
  /** what is called, for the log line: "services.write" */
  what: string;
  /** the call may run twice without harm */
  repeatable: boolean;
  timeoutMs?: number;
}

class PeerTimeout extends Error {}

type Fault = "transient" | "overloaded" | "lost" | "timeout" | "bug";

/** Texts by which the platform names a fault of its own when the error carries no property. */
const LOST = [
  "Network connection lost",
  "reset because its code was updated",
  "This script has been upgraded",
  "storage caused object to be reset",
  "Cannot resolve Durable Object due to transient issue",
  "The Durable Object's isolate",
];

function faultOf(error: unknown): Fault {
  if (error instanceof PeerTimeout) return "timeout";
  if (!(error instanceof Error)) return "bug";
  const facts = error as Error & { retryable?: unknown; overloaded?: unknown; durableObjectReset?: unknown };
  if (facts.overloaded === true) return "overloaded";
  if (facts.retryable === true) return "transient";
  if (facts.durableObjectReset === true || LOST.some((text) => error.message.includes(text))) return "lost";
  return "bug";
}

/**
 * Runs `attempt` (which must make its stub itself: a stub is dead after a throw) and turns what it throws into a Status.
 */
export async function call<T>(attempt: () => Promise<T>, options: CallOptions): Promise<Result<T, Status>> {
  const attempts = options.repeatable ? PEER_ATTEMPTS : 1;
  for (let tried = 1; ; tried++) {
    try {
      return ok(await inTime(attempt(), options.timeoutMs ?? PEER_TIMEOUT_MS));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === "transient" && tried < attempts) {
        await sleep(Math.random() * PEER_RETRY_BASE_MS * 2 ** (tried - 1));
        continue;
      }
      return err(statusOf(fault, error, options.what));
    }
  }
}

function statusOf(fault: Fault, error: unknown, what: string): Status {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  log(fault === "bug" ? "error" : "warn", "peer call failed", { what, fault, error: message });
  switch (fault) {
    case "timeout":
      return timeout("request did not complete within the allotted timeout");
    case "overloaded":
      return serviceUnavailable("the server is currently overloaded, try again later", RETRY_AFTER_SECONDS);
    case "transient":
    case "lost":
      return serviceUnavailable("the server is currently unable to handle the request", RETRY_AFTER_SECONDS);
    case "bug":
      return internalError("unexpected error, see the log of the server");
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function inTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new PeerTimeout()), timeoutMs);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        // Passed on as thrown: the platform's properties on it decide what happens.
        reject(error);
      },
    );
  });
}
