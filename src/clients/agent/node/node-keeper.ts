/**
 * Keeps the Node of a machine: registers it or takes it over, and keeps its status true. The status is written when it differs from what the API has, when an outage
 * is over, and as a heartbeat every five minutes (kubelet's nodeStatusReportFrequency). Between heartbeats the Lease says that the node lives.
 */
import type { FollowStep } from "../../../api/client/follow-collection";
import type { Node } from "../../../api/meta/kubernetes";
import type { AgentKeeperPorts } from "../ports/agent-ports";
import type { ApiClient, ApiReply } from "../ports/api-client";
import { Attempts } from "../ports/attempts";
import { Nap } from "../ports/nap";
import { AgentTrouble } from "../ports/trouble";
import { differs, leaving, type Machine, newNode, takenOver, withStatus } from "./node-object";

const NODES = "/api/v1/nodes";
const HEARTBEAT_MS = 300_000;
/** A status that the server stores otherwise than it was sent is not sent more often (kubelet's nodeStatusUpdateFrequency). */
const STATUS_MS = 10_000;
/** Codes of refusals that pass: no rights yet, too many requests, an object that changed, a server in trouble. */
const PASSING_CODES = [401, 403, 404, 408, 409, 410, 429];

/** `refused`: the server takes no such Node, whatever is tried; the text says why. `gone`: the Node is deleted. */
export type NodeEnd = { readonly kind: "refused"; readonly message: string } | { readonly kind: "gone" } | { readonly kind: "stopped" };

export class NodeKeeper {
  readonly #path: string;
  /** until there is something to write */
  readonly #nap: Nap;
  /** after a failure; news of the Node does not end it */
  readonly #rest: Nap;
  readonly #attempts: Attempts;
  readonly #trouble: AgentTrouble;
  #uid = "";
  /** as the watch or a write has shown it last */
  #seen: Node | undefined;
  /** The watch misses the Node. A question decides. */
  #isMissed = false;
  /** The next look at the API is not the watch's: it may be behind. */
  #isBack = false;
  #reportedRevision = -1;
  #isLeaving = false;
  #isStopped = false;
  #unfollow: () => void = () => undefined;

  constructor(
    private readonly ports: AgentKeeperPorts,
    private readonly machine: Machine,
  ) {
    this.#path = `${NODES}/${machine.name}`;
    this.#nap = new Nap(ports.clock);
    this.#rest = new Nap(ports.clock);
    this.#attempts = new Attempts(ports.clock, ports.random);
    this.#trouble = new AgentTrouble("the Node cannot be written", ports.recorder);
  }

  /** Until the API has the Node; one that is there is not changed. `api`: the Lease is not held yet, since it needs the Node. */
  async ensure(api: ApiClient): Promise<{ readonly kind: "there"; readonly uid: string } | Exclude<NodeEnd, { kind: "gone" }>> {
    const { clock } = this.ports;
    while (!this.#isStopped) {
      this.#attempts.begin();
      let reply = await api.request<Node>("GET", this.#path);
      if (reply.kind === "refused" && reply.code === 404)
        reply = await api.request<Node>("POST", NODES, newNode(this.machine, clock.now()));
      if (reply.kind === "done") {
        this.#note(reply.object);
        this.#uid = reply.object.metadata?.uid ?? "";
        return { kind: "there", uid: this.#uid };
      }
      if (isFinal(reply)) return { kind: "refused", message: reply.message };
      await this.#pause(reply);
    }
    return { kind: "stopped" };
  }

  /** Sets the agent's labels on a Node that was there, after `ensure`. A `taint` meanwhile stays. */
  takeOver(): Promise<NodeEnd | { readonly kind: "done" }> {
    return this.#change((node) => takenOver(node, this.machine, this.#isLeaving), Infinity);
  }

  /** Taints the Node, so that load balancers drain it. Tries for `limitMs`. */
  taint(limitMs: number): Promise<NodeEnd | { readonly kind: "done" }> {
    this.#isLeaving = true;
    return this.#change(leaving, this.ports.clock.steady() + limitMs);
  }

  /** Deletes the Node that this agent holds. Tries for `limitMs`; answers whether it is gone. */
  async remove(limitMs: number): Promise<boolean> {
    const { api, clock } = this.ports;
    const endMs = clock.steady() + limitMs;
    for (;;) {
      this.#attempts.begin();
      const reply = await api.request("DELETE", this.#path, { preconditions: { uid: this.#uid } });
      // 409: another Node has the name.
      if (reply.kind === "done" || (reply.kind === "refused" && (reply.code === 404 || reply.code === 409))) return true;
      if (clock.steady() >= endMs) return false;
      await this.#pause(reply);
    }
  }

  /** Keeps the status true until it is stopped or the Node is deleted. Never rejects. */
  async keep(): Promise<NodeEnd> {
    const { api, clock } = this.ports;
    this.#unfollow = api.follow<Node>({
      path: NODES,
      fieldSelector: `metadata.name=${this.machine.name}`,
      onStep: (step) => this.#hear(step),
      // The requests below tell the same trouble.
      onError: () => undefined,
    });
    let reportedMs = -Infinity;
    while (!this.#isStopped) {
      this.#attempts.begin();
      const node = await this.#known();
      if (node === "gone") return { kind: "gone" };
      if (node === "failed") continue;
      const next = withStatus(node, this.machine, clock.now());
      const isChanged = differs(node, next);
      const isNews = isChanged && revisionOf(node) > this.#reportedRevision;
      const dueMs = reportedMs + (isChanged ? STATUS_MS : HEARTBEAT_MS);
      if (!isNews && clock.steady() < dueMs) {
        // There is nothing to write.
        this.#answered();
        await this.#nap.wait(dueMs - clock.steady());
      } else if (await this.#report(next)) reportedMs = clock.steady();
    }
    return { kind: "stopped" };
  }

  /** The server answers again after an outage: the status may say Unknown by now. */
  serverIsBack(): void {
    this.#isBack = true;
    this.#nap.wake();
    this.#rest.wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unfollow();
    this.#nap.wake();
    this.#rest.wake();
  }

  #hear(step: FollowStep<Node>): void {
    if (step.kind === "list") this.#heard(step.objects[0]);
    else for (const { type, object } of step.changes) this.#heard(type === "DELETED" ? undefined : object);
  }

  #heard(node: Node | undefined): void {
    if (node?.metadata?.uid === this.#uid) this.#note(node);
    else this.#isMissed = true;
    this.#nap.wake();
  }

  /** A watch may be behind what a write has shown. */
  #note(node: Node): void {
    if (revisionOf(node) >= revisionOf(this.#seen)) this.#seen = node;
  }

  /** The Node as it is known, or as a question shows it. */
  async #known(): Promise<Node | "gone" | "failed"> {
    if (this.#seen && !this.#isMissed && !this.#isBack) return this.#seen;
    const reply = await this.ports.api.request<Node>("GET", this.#path);
    if (reply.kind === "done" ? reply.object.metadata?.uid !== this.#uid : reply.kind === "refused" && reply.code === 404) return "gone";
    if (reply.kind !== "done") {
      await this.#pause(reply);
      return "failed";
    }
    this.#seen = reply.object;
    this.#isMissed = this.#isBack = false;
    return reply.object;
  }

  async #report(next: Node): Promise<boolean> {
    const reply = await this.ports.api.request<Node>("PUT", `${this.#path}/status`, next);
    if (reply.kind === "done") {
      this.#note(reply.object);
      this.#reportedRevision = revisionOf(reply.object);
      this.#answered();
      return true;
    }
    // Somebody else has written the Node, or it is gone.
    if (reply.kind === "refused" && (reply.code === 409 || reply.code === 404)) this.#isMissed = true;
    else await this.#pause(reply);
    return false;
  }

  async #change(next: (node: Node) => Node, endMs: number): Promise<NodeEnd | { readonly kind: "done" }> {
    const { api, clock } = this.ports;
    while (!this.#isStopped) {
      this.#attempts.begin();
      let reply: ApiReply<Node> = await api.request<Node>("GET", this.#path);
      if (reply.kind === "done") {
        if (reply.object.metadata?.uid !== this.#uid) return { kind: "gone" };
        reply = await api.request<Node>("PUT", this.#path, next(reply.object));
      }
      if (reply.kind === "done") {
        this.#note(reply.object);
        this.#answered();
        return { kind: "done" };
      }
      if (reply.kind === "refused" && reply.code === 404) return { kind: "gone" };
      if (isFinal(reply)) return { kind: "refused", message: reply.message };
      if (clock.steady() >= endMs) break;
      await this.#pause(reply);
    }
    return { kind: "stopped" };
  }

  async #pause(reply: Exclude<ApiReply<unknown>, { kind: "done" }>): Promise<void> {
    this.#trouble.tellOf(reply);
    await this.#rest.wait(this.#attempts.failed());
  }

  #answered(): void {
    this.#attempts.succeeded();
    this.#trouble.over();
  }
}

/** What is refused for good: the Node, or a label of it, is no valid one. */
function isFinal(reply: ApiReply<unknown>): reply is Extract<ApiReply<unknown>, { kind: "refused" }> {
  return reply.kind === "refused" && reply.code < 500 && !PASSING_CODES.includes(reply.code);
}

function revisionOf(node: Node | undefined): number {
  return Number(node?.metadata?.resourceVersion ?? -1);
}
