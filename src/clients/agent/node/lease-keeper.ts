/**
 * Holds the Lease of a node: at most one agent at a time writes what belongs to the node.
 *
 * - The Lease is taken at once if it is this agent's, nobody's, or missing. Another agent's is taken when it has stood unchanged for its duration, by this process's
 *   clock. If it is renewed meanwhile, that agent lives, and this one ends.
 * - While the server does not answer, the other agent cannot renew: that time does not count.
 * - Each renewal has the resourceVersion of the one before. Whoever finds the Lease in other hands ends at once.
 * - A Lease of an earlier process of the same state folder is the agent's own past: a server that was restored shows it. It is written anew.
 * - `isHeld` ends by the clock, before a duration has passed since the sending of the last renewal that succeeded. So no other agent can have taken
 *   the Lease while a request of that time is under way.
 */
import type { Lease, OwnerReference } from "../../../api/meta/kubernetes";
import { type Moment, momentOf } from "../../elector/term";
import type { AgentKeeperPorts } from "../ports/agent-ports";
import { REQUEST_MS_MAX } from "../ports/api-client";
import { Attempts } from "../ports/attempts";
import { Nap } from "../ports/nap";
import { AgentTrouble } from "../ports/trouble";
import {
  durationMsOf,
  holderOf,
  type AgentIdentity,
  isForeign,
  isOpenTo,
  LEASE_SECONDS,
  NODE_LEASES,
  renewalOf,
  writtenBy,
} from "./agent-lease";

/** A quarter of the duration, as the kubelet. */
const RENEW_MS = 10_000;
const RENEW_JITTER = 0.04;
/** The rest of the duration is for the last request. */
const HELD_MS = LEASE_SECONDS * 1_000 - REQUEST_MS_MAX;
/** Between two looks at another agent's Lease. */
const LOOK_MS = 2_000;
/** Looks that are further apart say nothing about the time between them. */
const LOOK_GAP_MAX_MS = 15_000;

/** `foreign`: another agent has the node. */
export type LeaseEnd = { readonly kind: "foreign"; readonly holder: string } | { readonly kind: "stopped" };

interface Watched {
  renewal: string;
  /** how long it has stood unchanged while the server answered */
  stoodMs: number;
  /** by the steady clock, in milliseconds; -Infinity = the last look had no answer */
  lookedAtMs: number;
}

export class LeaseKeeper {
  readonly #path: string;
  readonly #nap: Nap;
  readonly #trouble: AgentTrouble;
  readonly #attempts: Attempts;
  /** as it was read or written last; undefined = there is none */
  #lease: Lease | undefined;
  #watched: Watched | undefined;
  #renewedAt: Moment | undefined;
  #isStopped = false;
  #isNodeGone = false;

  constructor(
    private readonly ports: AgentKeeperPorts,
    private readonly identity: AgentIdentity,
  ) {
    this.#path = `${NODE_LEASES}/${identity.node}`;
    this.#nap = new Nap(ports.clock);
    this.#attempts = new Attempts(ports.clock, ports.random);
    this.#trouble = new AgentTrouble("the Lease of the node cannot be kept", ports.recorder);
  }

  /** No other agent can have the node. */
  get isHeld(): boolean {
    if (!this.#renewedAt) return false;
    if (this.#isNodeGone) return true;
    const { steadyMs, wallMs } = momentOf(this.ports.clock);
    return Math.max(steadyMs - this.#renewedAt.steadyMs, wallMs - this.#renewedAt.wallMs) < HELD_MS;
  }

  /** The Node is deleted. What is left to do needs no Lease, which goes with it: it is made no more, and looked at, since another agent may make one. */
  nodeIsGone(): void {
    this.#isNodeGone = true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#nap.wake();
  }

  /** Until the Lease may be taken. Writes nothing. */
  async untilFree(): Promise<LeaseEnd | { readonly kind: "free" }> {
    const { api, recorder } = this.ports;
    while (!this.#isStopped) {
      this.#attempts.begin();
      const reply = await api.request<Lease>("GET", this.#path);
      if (reply.kind === "done") {
        this.#answered();
        this.#lease = reply.object;
        if (isOpenTo(reply.object, this.identity)) return { kind: "free" };
        const isFirst = this.#watched === undefined;
        const waited = this.#look(reply.object);
        if (waited === "renewed") return { kind: "foreign", holder: holderOf(reply.object) };
        if (waited) return { kind: "free" };
        if (isFirst)
          recorder.log("info", "another agent held the node; waiting to see whether it lives", { agent: holderOf(reply.object) });
        await this.#nap.wait(LOOK_MS);
      } else if (reply.kind === "refused" && reply.code === 404) {
        this.#answered();
        this.#lease = undefined;
        return { kind: "free" };
      } else {
        this.#trouble.tellOf(reply);
        await this.#pause();
      }
    }
    return { kind: "stopped" };
  }

  /** Takes the Lease, after `untilFree`. */
  async take(owner: OwnerReference): Promise<LeaseEnd | { readonly kind: "held" }> {
    for (;;) {
      const free = await this.untilFree();
      if (free.kind !== "free") return free;
      this.#attempts.begin();
      const written = await this.#write(owner);
      if (written === "stored") return { kind: "held" };
      if (written === "failed") await this.#pause();
    }
  }

  /**
   * Renews the Lease until it is stopped or in other hands. Never rejects. `onBack`: a renewal has succeeded after failed ones, or after a time
   * without any (a machine that slept), or the Lease was gone. Its Node may be gone, too.
   */
  async keep(owner: OwnerReference, onBack: () => void): Promise<LeaseEnd> {
    let isBehind = false;
    let waitMs = this.#renewMs();
    for (;;) {
      await this.#nap.wait(waitMs);
      waitMs = this.#renewMs();
      if (this.#isStopped) return { kind: "stopped" };
      this.#attempts.begin();
      let isBack = isBehind || !this.isHeld;
      let written = this.#isNodeGone && !this.#lease ? "conflict" : await this.#write(owner);
      if (written === "conflict") {
        const found = await this.#find();
        if (found === "foreign") return { kind: "foreign", holder: this.#lease ? holderOf(this.#lease) : "" };
        if (found === "missing" && this.#isNodeGone) continue;
        isBack ||= found === "missing";
        written = found === "failed" ? "failed" : await this.#write(owner);
      }
      if (written === "stored" && isBack) onBack();
      isBehind = written !== "stored";
      if (isBehind) waitMs = this.#attempts.failed();
    }
  }

  /** Deletes the Lease if it still is this process's. One attempt. */
  async remove(): Promise<void> {
    if (!this.#lease) return;
    const { uid, resourceVersion } = this.#lease.metadata ?? {};
    const reply = await this.ports.api.request("DELETE", this.#path, { preconditions: { uid, resourceVersion } });
    if (reply.kind !== "done" && !(reply.kind === "refused" && reply.code === 404)) this.#trouble.tellOf(reply);
  }

  /** Whether the Lease of another agent has stood for its duration; "renewed": that agent lives. */
  #look(lease: Lease): boolean | "renewed" {
    const nowMs = this.ports.clock.steady();
    const renewal = renewalOf(lease);
    const before = this.#watched;
    if (before && before.renewal !== renewal) return "renewed";
    const gapMs = before ? nowMs - before.lookedAtMs : 0;
    const stoodMs = (before?.stoodMs ?? 0) + (gapMs <= LOOK_GAP_MAX_MS ? gapMs : 0);
    this.#watched = { renewal, stoodMs, lookedAtMs: nowMs };
    return stoodMs >= durationMsOf(lease);
  }

  /** "conflict": it is another one by now, or gone. */
  async #write(owner: OwnerReference): Promise<"stored" | "conflict" | "failed"> {
    const { api, clock } = this.ports;
    const sent = momentOf(clock);
    const lease = writtenBy(this.#lease, this.identity, owner, sent.wallMs);
    const reply = await (this.#lease ? api.request<Lease>("PUT", this.#path, lease) : api.request<Lease>("POST", NODE_LEASES, lease));
    if (reply.kind === "done") {
      this.#lease = reply.object;
      this.#renewedAt = sent;
      this.#answered();
      return "stored";
    }
    if (reply.kind === "refused" && (reply.code === 409 || (reply.code === 404 && this.#lease))) return "conflict";
    this.#trouble.tellOf(reply);
    return "failed";
  }

  /** Looks whose the Lease is after a conflict. */
  async #find(): Promise<"own" | "foreign" | "missing" | "failed"> {
    const reply = await this.ports.api.request<Lease>("GET", this.#path);
    if (reply.kind === "done") {
      this.#lease = reply.object;
      return isForeign(reply.object, this.identity) ? "foreign" : "own";
    }
    if (reply.kind === "refused" && reply.code === 404) {
      this.#lease = undefined;
      return "missing";
    }
    this.#trouble.tellOf(reply);
    return "failed";
  }

  #answered(): void {
    this.#attempts.succeeded();
    this.#trouble.over();
  }

  /** While nothing is answered, the other agent cannot renew either. */
  async #pause(): Promise<void> {
    if (this.#watched) this.#watched = { ...this.#watched, lookedAtMs: -Infinity };
    await this.#nap.wait(this.#attempts.failed());
  }

  #renewMs(): number {
    return RENEW_MS * (1 + this.ports.random.next() * RENEW_JITTER);
  }
}
