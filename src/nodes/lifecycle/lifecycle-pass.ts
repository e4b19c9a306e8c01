/**
 * The pass of the controller "node-lifecycle-controller" (upstream pkg/controller/nodelifecycle).
 *
 * - It reads the Nodes that changed. When the first of them may have been silent for its grace, it asks which Leases have been renewed (node-looks.ts).
 *   Between two such looks is a period at least.
 * - First the Nodes that were silent for the grace become Unknown. When that is done and read again, taints follow (taint-writes.ts), and Pods lose
 *   Ready (pod-marks.ts).
 * - Silence counts from look to look at the Leases. So the controller takes no outage of its stores for silence of the Nodes.
 * - Looks go on beside taints and marks, so neither many of them nor a call that hangs makes a look late.
 * - All work that is left follows from the stored Nodes and Pods, or from rows (known-nodes.ts, bound-pods.ts). None of it is in memory alone.
 * - Each write changes what was just read. A write that fails is tried again in the next period, and holds up no other. A write that the store refuses
 *   is tried again later and later (lifecycle-writes.ts).
 */
import { leastOf } from "../../core/base/extremes";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EventReport, EventSubject } from "../../api/events/event-recorder";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import { type Pass, type PassResult, RETRY_BASE_MS } from "../../controllers/frame/controller";
import { Frame } from "../../controllers/frame/frame";
import type { Round } from "../../controllers/frame/round";
import { KnownNodes } from "./known-nodes";
import { LifecycleWrites, type Made, statusOf, taintsOf } from "./lifecycle-writes";
import { type LookPorts, NodeLooks } from "./node-looks";
import { NodeProbes } from "./node-probes";
import type { NodeState } from "./node-state";
import { type MarkPorts, PodMarks } from "./pod-marks";
import { TaintWrites } from "./taint-writes";
import { ZoneTurns } from "./zone-turns";

/** Between two passes that changes ask for, and between two looks of which the first failed. */
const POKED_APART_MS = 1_000;

export interface LifecyclePorts extends LookPorts, MarkPorts {
  clock: Clock;
  storage: RowStorage;
  events: { report(event: EventReport): void; flush(): Promise<void> };
}

export function lifecyclePass(ports: LifecyclePorts): Pass {
  const pass = new LifecyclePass(ports);
  return (isPoked) => pass.run(isPoked);
}

class LifecyclePass {
  readonly #rows: KeptRows;
  readonly #probes: NodeProbes;
  readonly #turns: ZoneTurns;
  readonly #writes: LifecycleWrites;
  readonly #looks: NodeLooks;
  readonly #taints: TaintWrites;
  readonly #marks: PodMarks;
  readonly #frame: Frame;
  /** The last round wrote what the next one has to read, or had no time for everything. */
  #isMoreToDo = false;
  /** The last pass left nothing. */
  #isSettled = false;
  #endedAt = -Infinity;
  /** when the pass after the last one is due without being asked for */
  #dueAt: number | undefined;

  constructor(private readonly ports: LifecyclePorts) {
    const { clock, periodMs } = ports;
    const now = (): number => clock.now();
    const rows = (this.#rows = new KeptRows(ports.storage));
    const probes = (this.#probes = new NodeProbes(rows, periodMs));
    const writes = (this.#writes = new LifecycleWrites(ports));
    const known = new KnownNodes(rows, now, {
      registered: (node) => this.#tellNode(node, "RegisteredNode", `Node ${node.name} event: Registered Node ${node.name} in Controller`),
      removed: (name, uid) => {
        probes.forget(name);
        for (const write of [statusOf(name), taintsOf(name)]) writes.forget(write);
        this.#tellNode({ name, uid }, "RemovingNode", `Node ${name} event: Removing Node ${name} from Controller`);
      },
      leftReady: (node) => this.#tellNode(node, "NodeNotReady", `Node ${node.name} status is now: NodeNotReady`),
      seen: (node, heartbeatAt) => probes.seen(node, heartbeatAt, now()),
    });
    this.#turns = new ZoneTurns(rows);
    this.#looks = new NodeLooks(ports, known, probes, writes, () => this.#save());
    this.#taints = new TaintWrites(ports, known, this.#turns, writes, (nowMs) => probes.beginAnew(nowMs));
    this.#marks = new PodMarks(ports, rows, known, writes);
    this.#frame = new Frame(ports, {
      rows: { load: () => rows.load(), save: () => this.#save() },
      keeps: [known, this.#marks, this.#turns, { load: () => probes.load(known.names) }],
      follows: () => [this.#looks],
      work: (round) => this.#workBesideLooks(round),
      goesOn: () => this.#isMoreToDo,
      due: () => this.#nextAt(),
      waiting: () => writes.waiting,
      events: ports.events,
      retryAt: () => now() + periodMs,
    });
  }

  async run(isPoked: boolean): Promise<PassResult> {
    const { clock } = this.ports;
    this.#frame.load();
    const waitMs = this.#endedAt + POKED_APART_MS - clock.now();
    if (isPoked && waitMs > 0) await clock.sleep(Math.min(waitMs, POKED_APART_MS));
    if (isPoked || !this.#isDue(clock.now())) this.#marks.ask();
    else if (this.#isLookAlone(clock.now())) this.#looks.lookAlone();
    const result = await this.#frame.run();
    this.#endedAt = clock.now();
    this.#dueAt = result.againAt;
    this.#isSettled = result.report?.left === false;
    return result;
  }

  /** Whether a pass that begins now is the one that the last pass asked for. Otherwise cron has asked, or somebody during the last pass. */
  #isDue(nowMs: number): boolean {
    if (this.#dueAt === undefined) return false;
    const lateMs = nowMs - Math.max(this.#dueAt, this.#endedAt + RETRY_BASE_MS);
    return lateMs >= 0 && lateMs < this.ports.periodMs;
  }

  /** Whether nothing but a look is due. */
  #isLookAlone(nowMs: number): boolean {
    const others = [this.#taints.nextTurnAt, this.#writes.nextAt()].filter((at) => at !== undefined);
    return this.#isSettled && others.every((at) => at > nowMs);
  }

  async #workBesideLooks(round: Round): Promise<void> {
    const work = this.#work();
    await this.#lookBeside(work);
    const { written, failed, isCut } = await work;
    round.note("done", written);
    round.note("later", failed);
    this.#isMoreToDo = written > 0 || isCut;
  }

  /** Goes on to look, and to make silent Nodes Unknown, while the work of the round is under way. */
  async #lookBeside(work: Promise<Made>): Promise<void> {
    const { clock, periodMs } = this.ports;
    let isOver = false;
    const over = work.finally(() => (isOver = true));
    for (;;) {
      const now = clock.now();
      const waitMs = Math.max(Math.min((this.#looks.nextAt ?? Infinity) - now, periodMs), POKED_APART_MS);
      await withTimeout(clock, waitMs, over).catch(() => undefined);
      if (isOver) break;
      if (await this.#looks.pull()) void this.#looks.silenced();
      try {
        this.#save();
      } catch {
        // The frame saves once more behind the work, and says why it could not.
      }
    }
    await this.#looks.settled();
  }

  /** Does what the last look asks for. Writes that the next round has to read count as written: that round does what follows from them. */
  async #work(): Promise<Made> {
    const silenced = await this.#looks.silenced();
    if (silenced.written > 0) return { ...silenced, failed: 0 };
    const tainted = await this.#taints.write(this.#looks.isListening);
    const marked = await this.#marks.mark();
    return {
      written: this.#looks.isListening ? tainted.written : 0,
      failed: silenced.failed + tainted.failed + marked.failed,
      isCut: tainted.isCut || marked.isCut,
    };
  }

  #nextAt(): number | undefined {
    const turnAt = this.#looks.isListening ? this.#taints.nextTurnAt : undefined;
    const times = [this.#writes.nextAt(), this.#looks.nextAt, turnAt].filter((at) => at !== undefined);
    return times.length === 0 ? undefined : leastOf(times);
  }

  #tellNode({ name, uid }: Pick<NodeState, "name" | "uid">, reason: string, note: string): void {
    const regarding: EventSubject = { apiVersion: "v1", kind: "Node", name, uid };
    this.ports.events.report({ regarding, type: "Normal", reason, action: "NodeLifecycle", note });
  }

  #save(): void {
    try {
      this.#rows.save();
    } catch (error) {
      // The disk may be the one that refuses renewals, too.
      this.#probes.beginAnew(this.ports.clock.now());
      throw error;
    }
  }
}
