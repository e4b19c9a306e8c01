/**
 * Calls to Durable Objects. A refusal is a value of the callee. An exception is a bug there or a fault of the platform: it becomes one Status
 * here, which says nothing about the insides of the server.
 *
 *   retryable, not overloaded      the call was not delivered, or its object went away: repeatable calls are repeated
 *   overloaded                     503 at once: a repetition would add load
 *   reset, lost                    503 with Retry-After
 *   it runs another release        503 with Retry-After where it does not know what it is asked
 *   a newer release wrote it       the same, and says so: a rollback has gone back too far
 *   a disk that takes no data      the same, with the reason; told once (disk-state.ts)
 *   no answer in time              504, as upstream; also when another object did not answer the callee
 *   the object is a tombstone      throws ClusterGone: known-clusters.ts knows the cluster's name and answers
 *   the client has left            503, which no client reads
 *   anything else                  logged, 500
 */
import { pause } from "../../core/base/pause";
import { diskFaultIn } from "../../core/base/disk-fault";
import { err, ok, type Result } from "../../core/base/result";
import { isTimeoutOfAny, withTimeout } from "../../core/base/timeout";
import { systemClock } from "../../../durable-objects/platform/ports";
import { internalError, requestTimedOut, serviceUnavailable, type Status } from "../../api/meta/status";
import { NOTHING_KNOWN, NOTHING_KNOWN_TEXT } from "../../proxy-health/rpc";
import { newerDataIn } from "../../api/rpc/newer-data";
import { isUnsupported, OTHER_RELEASE } from "../../api/rpc/protocol";
import { RULES_UNREAD } from "../../api/rpc/policy";
import { CLUSTER_GONE, DIRECTORY_SILENT } from "../../tenancy/rpc";
import { STORAGE_FAULT } from "../../api/store/state/store-storage";
import { log } from "../http/log";
import { diskState } from "./disk-state";
import { PEER_ATTEMPTS, PEER_RETRY_BASE_MS, PEER_TIMEOUT_MS, RETRY_AFTER_SECONDS } from "../http/limits";

export interface CallOptions {
  /** what is called, for the log line: "services.write" */
  what: string;
  /** the call may run twice without harm */
  repeatable: boolean;
  /** of one attempt; at most PEER_TIMEOUT_MS, which 0 stands for, too */
  timeoutMs?: number;
}

/** The called object belongs to a cluster that has been deleted. */
export class ClusterGone extends Error {}

type Fault = "gone" | "left" | "transient" | "overloaded" | "lost" | "unsupported" | "newer" | "disk" | "timeout" | "bug";

/** Texts of platform faults whose errors carry no property. */
const LOST = [
  "Network connection lost",
  "reset because its code was updated",
  "This script has been upgraded",
  "storage caused object to be reset",
  "Cannot resolve Durable Object due to transient issue",
  "The Durable Object's isolate",
  // a fault that the platform does not name, for example an object that cannot be opened
  "internal error; reference = ",
  // the directory does not answer the object
  DIRECTORY_SILENT,
  // nor does the store of Nodes
  NOTHING_KNOWN,
  NOTHING_KNOWN_TEXT,
  // nor a store of roles or bindings the one that compiles them
  RULES_UNREAD,
  "KV GET failed",
  "KV PUT failed",
];

function faultOf(error: unknown): Fault {
  if (isTimeoutOfAny(error)) return "timeout";
  if (!(error instanceof Error)) return "bug";
  if (error.message.includes(CLUSTER_GONE)) return "gone";
  if (error.name === "AbortError") return "left";
  if (isUnsupported(error)) return "unsupported";
  if (newerDataIn(error.message) !== undefined) return "newer";
  const facts = error as Error & { retryable?: unknown; overloaded?: unknown; durableObjectReset?: unknown };
  if (facts.overloaded === true) return "overloaded";
  if (facts.retryable === true) return "transient";
  const isStorage = STORAGE_FAULT.test(error.message);
  if (isStorage && diskFaultIn(error.message) !== undefined) return "disk";
  if (isStorage || facts.durableObjectReset === true || LOST.some((text) => error.message.includes(text))) return "lost";
  return "bug";
}

/**
 * Runs `attempt` (which must make its stub itself: a stub is dead after a throw) and turns what it throws into a Status.
 */
export async function call<T>(attempt: () => Promise<T>, options: CallOptions): Promise<Result<T, Status>> {
  const attempts = options.repeatable ? PEER_ATTEMPTS : 1;
  const timeoutMs = Math.min(options.timeoutMs || PEER_TIMEOUT_MS, PEER_TIMEOUT_MS);
  for (let tried = 1; ; tried++) {
    try {
      return ok(await withTimeout(systemClock, timeoutMs, attempt()));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === "gone") throw new ClusterGone(CLUSTER_GONE);
      if (fault === "transient" && tried < attempts) {
        await pause(systemClock, Math.random() * PEER_RETRY_BASE_MS * 2 ** (tried - 1));
        continue;
      }
      return err(statusOf(fault, error, options.what));
    }
  }
}

const UNABLE = "the server is currently unable to handle the request";

function statusOf(fault: Exclude<Fault, "gone">, error: unknown, what: string): Status {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const now = systemClock.now();
  if (fault === "disk") diskState.note(diskFaultIn(message) ?? "", now, what, message);
  else if (fault !== "left") log(fault === "bug" ? "error" : "warn", "peer call failed", { what, fault, error: message });
  switch (fault) {
    case "timeout":
      return requestTimedOut();
    case "overloaded":
      return serviceUnavailable("the server is currently overloaded, try again later", RETRY_AFTER_SECONDS);
    case "disk":
    case "lost": {
      // An object that a full disk keeps from its start does not say why.
      const why = diskState.faultNear(now);
      return serviceUnavailable(`${UNABLE}${why === undefined ? "" : `: ${why}`}`, RETRY_AFTER_SECONDS);
    }
    case "unsupported":
      return serviceUnavailable(`${UNABLE}: ${OTHER_RELEASE}`, RETRY_AFTER_SECONDS);
    case "newer":
      return serviceUnavailable(`${UNABLE}: ${newerDataIn(message) ?? ""}`, RETRY_AFTER_SECONDS);
    case "left":
    case "transient":
      return serviceUnavailable(UNABLE, RETRY_AFTER_SECONDS);
    case "bug":
      return internalError("unexpected error, see the log of the server");
  }
}
