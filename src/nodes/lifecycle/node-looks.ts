/**
 * The looks at Nodes and Leases. A look is due when a Node may have been silent for its grace (node-probes.ts). It asks the store of Leases once which of
 * them have been renewed, and reads the Nodes that changed. Nodes that were silent for the grace become Unknown.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { Node } from "../../api/meta/kubernetes";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { ValuedStore } from "../../api/rpc/object-values";
import { objectKey } from "../../api/store/state/keys";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { type Cursors, FollowedStore } from "../../controllers/followed/followed-store";
import type { Followed } from "../../controllers/frame/frame";
import type { KnownNodes } from "./known-nodes";
import { type LifecycleWrites, type Made, NOTHING, type LifecycleOutcome, statusOf } from "./lifecycle-writes";
import type { NodeProbes, WatchedNode } from "./node-probes";
import { heartbeatOf, nodeState, type NodeState, readyOf } from "./node-state";
import { rewrite } from "./rewrite";
import { unknownConditions } from "./unknown-conditions";

const NODES = "nodes";
/** Namespace of the Leases by which kubelets show that they live. */
export const NODE_LEASES = "kube-node-lease";
const RENEW_TIME = { namespace: NODE_LEASES, path: ["spec", "renewTime"] };
/** The first wait after stores that could not be read; each further one is twice as long, up to the period. */
const UNREAD_WAIT_MS = 500;

export interface LookPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  nodes: WrittenStore;
  leases: ValuedStore;
  /** all in milliseconds */
  graceMs: number;
  startupGraceMs: number;
  periodMs: number;
}

export class NodeLooks implements Followed {
  /** In memory alone: each start reads all Nodes, because what it needs of them is more than a row should hold. */
  readonly #cursors = new MemoryCursors();
  readonly #store: FollowedStore;
  #silencing: Promise<Made> | undefined;
  #leases: StoreCursor | undefined;
  /** looks in a row that could not read a store */
  #unread = 0;
  #leasesFailure: string | undefined;
  /** The next pull is a look alone: nothing says that a Node has changed. */
  #isLookAlone = false;

  /** @param save saves the rows. Throws when storage does */
  constructor(
    private readonly ports: LookPorts,
    private readonly known: KnownNodes,
    private readonly probes: NodeProbes,
    private readonly writes: LifecycleWrites,
    private readonly save: () => void,
  ) {
    this.#store = new FollowedStore(NODES, ports.nodes, known.reader, this.#cursors, ports.recorder);
  }

  /** Whether the last look could read Nodes and Leases. */
  get isListening(): boolean {
    return this.#unread === 0;
  }

  /** When the next look is due without a change, in milliseconds since the epoch; undefined = no Node may become Unknown. */
  get nextAt(): number | undefined {
    const now = this.ports.clock.now();
    if (this.#unread > 0) return now + Math.min(this.ports.periodMs, UNREAD_WAIT_MS * 2 ** (this.#unread - 1));
    const watched = this.#watched;
    return watched.length > 0 ? this.probes.nextLook(watched, now) : undefined;
  }

  /** changes and Nodes that were read since this object began */
  get read(): number {
    return this.#store.read;
  }

  /** why the Nodes or the Leases could not be read at the last look */
  get failure(): string | undefined {
    return this.#store.failure ?? this.#leasesFailure;
  }

  /** The next pull reads the Nodes only if their Leases say that one is silent: its heartbeat may be in its status. */
  lookAlone(): void {
    this.#isLookAlone = this.#store.isRead && this.isListening;
  }

  /** A look: reads the Nodes, and the Leases if that is due. False: the Nodes cannot be read. */
  async pull(): Promise<boolean> {
    const isLookAlone = this.#isLookAlone;
    this.#isLookAlone = false;
    if (isLookAlone) {
      const hasLeases = await this.#listen();
      this.#unread = hasLeases ? 0 : this.#unread + 1;
      if (!hasLeases || !this.#watched.some((node) => this.probes.isSilent(node))) return true;
    }
    const hasNodes = await this.#store.pull(() => true);
    const isListening = hasNodes && (await this.#listen());
    this.#unread = isListening ? 0 : this.#unread + 1;
    return hasNodes;
  }

  /** Makes the Nodes Unknown that were silent for the grace. A call while that is under way joins it. */
  silenced(): Promise<Made> {
    return (this.#silencing ??= this.#makeUnknown().finally(() => (this.#silencing = undefined)));
  }

  /** Ends when no Node is being made Unknown. */
  async settled(): Promise<void> {
    await this.#silencing;
  }

  /** The Nodes that may become Unknown. */
  get #watched(): (WatchedNode & { node: NodeState })[] {
    const { graceMs, startupGraceMs } = this.ports;
    return this.known.states.flatMap((node) => {
      const ready = readyOf(node);
      if (ready === "Unknown") return [];
      const { name } = node;
      return [{ name, node, graceMs: ready === undefined ? startupGraceMs : graceMs, isPutOff: !this.writes.mayTry(statusOf(name)) }];
    });
  }

  /** Asks which Leases have been renewed, if that is due. False: the Leases cannot be read, and no silence counts. */
  async #listen(): Promise<boolean> {
    const { clock, leases, recorder } = this.ports;
    const askedAt = clock.now();
    const watched = this.#watched;
    if (watched.length === 0 || this.probes.nextLook(watched, askedAt) > askedAt) return true;
    this.probes.asked(watched);
    try {
      const { values, cursor, servingMs } = await leases.valuesSince(RENEW_TIME, this.#leases);
      const answeredAt = clock.now();
      for (const [key, renewTime, , agoMs] of values) this.probes.renewed(objectKey(key).name, { renewTime, agoMs }, answeredAt);
      this.probes.looked(askedAt, answeredAt, servingMs, this.#watched);
      this.#leases = cursor;
      this.#leasesFailure = undefined;
    } catch (error) {
      this.#leasesFailure = String(error);
      recorder.log("warn", "the node lifecycle controller could not read the Leases", { error: String(error) });
      return false;
    }
    return true;
  }

  /** Nobody acts on a judgement that is not on disk: the disk may be the one that refuses renewals, too. */
  async #makeUnknown(): Promise<Made> {
    const now = this.ports.clock.now();
    const silent = this.#watched.filter((node) => this.probes.isSilent(node));
    if (silent.length === 0) return NOTHING;
    this.probes.judge(silent.map(({ name }) => name));
    try {
      this.save();
    } catch {
      return { ...NOTHING, failed: silent.length };
    }
    return this.writes.all(silent, ({ node }) => this.#makeOneUnknown(node, now));
  }

  async #makeOneUnknown(node: NodeState, nowMs: number): Promise<LifecycleOutcome> {
    const write = statusOf(node.name);
    if (!this.writes.mayTry(write)) return "none";
    const rewritten = await rewrite<Node>(this.ports.nodes, node.name, "status", (stored) => {
      const state = nodeState(stored);
      // A sign of life since: the next round reads it.
      if (state.uid !== node.uid || heartbeatOf(state) !== heartbeatOf(node)) return undefined;
      const conditions = unknownConditions(state.conditions, stored.metadata?.creationTimestamp ?? "", nowMs);
      return conditions && { ...stored, status: { ...stored.status, conditions } };
    });
    return this.writes.outcome(write, rewritten);
  }
}

class MemoryCursors implements Cursors {
  readonly #cursors = new Map<string, StoreCursor>();

  cursor(store: string): StoreCursor | undefined {
    return this.#cursors.get(store);
  }

  moveCursor(store: string, cursor: StoreCursor): void {
    this.#cursors.set(store, cursor);
  }
}
