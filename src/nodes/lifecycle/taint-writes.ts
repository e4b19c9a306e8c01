/** Writes the taints of Nodes. A Node gets a NoExecute taint when it is its turn, and only while the controller listens. */
import { leastOf } from "../../core/base/extremes";
import type { Clock } from "../../core/base/ports";
import type { Node } from "../../api/meta/kubernetes";
import type { WrittenStore } from "../../controllers/followed/called-store";
import type { KnownNodes } from "./known-nodes";
import { type LifecycleWrites, type Made, type LifecycleOutcome, taintsOf } from "./lifecycle-writes";
import { nodeState, type NodeState, readyOf } from "./node-state";
import { lacksEvictingTaint, type NoExecute, wantedTaints } from "./node-taints";
import { rewrite } from "./rewrite";
import type { ZoneTurns } from "./zone-turns";

export class TaintWrites {
  /** @param leftDisruption called when the cluster has left the full disruption of all its zones */
  constructor(
    private readonly ports: { clock: Pick<Clock, "now">; nodes: WrittenStore },
    private readonly known: KnownNodes,
    private readonly turns: ZoneTurns,
    private readonly writes: LifecycleWrites,
    private readonly leftDisruption: (nowMs: number) => void,
  ) {}

  /** When the next Node has its turn, in milliseconds since the epoch; undefined = none waits for one. */
  get nextTurnAt(): number | undefined {
    const times = this.#waiting.flatMap(({ zone }) => this.turns.turnAt(zone) ?? []);
    return times.length === 0 ? undefined : leastOf(times);
  }

  /** Brings the taints of all Nodes in line with their conditions. */
  async write(isListening: boolean): Promise<Made> {
    const { known, turns, writes } = this;
    const now = this.ports.clock.now();
    if (turns.judge(known.states, now)) this.leftDisruption(now);
    const mustClear = turns.mustClear;
    const adding = new Map<string, NodeState>();
    for (const node of isListening ? this.#waiting : []) {
      const turnAt = turns.turnAt(node.zone);
      if (turnAt !== undefined && turnAt <= now && !known.isNew(node.name) && !adding.has(node.zone)) adding.set(node.zone, node);
    }
    const decided = (node: NodeState): NoExecute =>
      mustClear || known.isNew(node.name) ? "remove" : adding.get(node.zone) === node ? "add" : "follow";
    const made = await writes.eachInPeriod(known.states, (node) => this.#writeOne(node, decided(node)));
    const isAnyRefused = known.states.some(({ name }) => !writes.mayTry(taintsOf(name)));
    if (mustClear && made.failed === 0 && !made.isCut && !isAnyRefused) turns.cleared();
    return made;
  }

  /** The Nodes that wait for a NoExecute taint, those first that have waited longest. One that refused its taints lets the others go first. */
  get #waiting(): NodeState[] {
    return this.known.notReady.filter((node) => lacksEvictingTaint(node) && this.writes.mayTry(taintsOf(node.name)));
  }

  async #writeOne(node: NodeState, noExecute: NoExecute): Promise<LifecycleOutcome> {
    const { clock, nodes } = this.ports;
    const now = clock.now();
    const write = taintsOf(node.name);
    let result: LifecycleOutcome = "none";
    if (wantedTaints(node, noExecute, now)) {
      if (!this.writes.mayTry(write)) return "none";
      const rewritten = await rewrite<Node>(nodes, node.name, "", (stored) => {
        const state = nodeState(stored);
        // It changed since: the next round judges it anew.
        if (state.uid !== node.uid || readyOf(state) !== readyOf(node)) return undefined;
        const taints = wantedTaints(state, noExecute, now);
        return taints && { ...stored, spec: { ...stored.spec, taints } };
      });
      result = this.writes.outcome(write, rewritten);
      if (rewritten.result === "refused") return result;
      // What was to be done is not done before it is read.
      if (result === "none") result = "failed";
    }
    if (result === "failed") return result;
    if (noExecute === "add" && result === "written") this.turns.tainted(node.zone, now);
    if (this.known.isNew(node.name) && this.known.get(node.name)?.uid === node.uid) this.known.settled(node.name);
    return result;
  }
}
