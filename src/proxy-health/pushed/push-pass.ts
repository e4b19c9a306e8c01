/**
 * The pass of the controller "proxy-health": it reads what changed of Nodes, Services and their slices, and tells each shard what changed of its nodes.
 *
 * - What is told is on disk before. A push that fails is repeated; a shard that is being checked asks as well.
 * - What cannot be read holds up nothing else: shards go on with what they have.
 * - Nobody is told anything before everything has been read once: half of it would take nodes away.
 */
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EndpointSlice } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { inRange, namespaceRange, objectKey } from "../../api/store/keys";
import type { PassResult } from "../../controllers/controller";
import { FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import { shardOf } from "../../tenancy/cluster-objects";
import { LocalSlices } from "./local-slices";
import type { NodeTarget } from "./node-target";
import { ServiceChecks } from "./service-checks";
import { type Lack, ShardBooks } from "./shard-books";
import { compareCursors, type Cursor, type PushedNode, type ShardChange } from "./shard-change";
import { TargetNodes } from "./target-nodes";

/** Names of the cursors. */
const NODES = "nodes";
const SERVICES = "services";
const SLICES = "endpointslices";
/** Objects of a list for one call: some milliseconds of the store's thread. */
const PAGE_ENTRIES = 500;
/** Between the beginnings of two passes: changes of one moment share a push. */
const APART_MS = 100;
/** After this time no page of a store is read. */
const BUDGET_MS = 30_000;
/** A shard that does not answer holds up the next pass for so long. */
const PUSH_TIMEOUT_MS = 2_000;
const PUSHES_AT_ONCE = 16;
/** Whoever asks so long after the last pass asks for one, too: a poke may be lost. */
const FRESH_MS = 20_000;

export interface PushPorts {
  clock: Pick<Clock, "now" | "after" | "sleep">;
  recorder: Recorder;
  storage: RowStorage;
  nodes: ObjectFeed;
  services: ObjectFeed;
  slices: ObjectFeed;
  /** tells a shard; answers what it has then, null = nothing. Makes a stub for one call. */
  push(shard: number, change: ShardChange): Promise<Cursor | null>;
}

export class PushPass {
  readonly #rows: KeptRows;
  readonly #books: ShardBooks;
  readonly #nodes: TargetNodes;
  readonly #checks: ServiceChecks;
  readonly #slices: LocalSlices;
  readonly #nodeStore: FollowedStore;
  readonly #serviceStore: FollowedStore;
  readonly #sliceStore: FollowedStore;
  readonly #changed = new Set<string>();
  #areChecksOther = false;
  #isLoaded = false;
  #begunAt = -Infinity;
  #readAt = -Infinity;

  constructor(private readonly ports: PushPorts) {
    const { storage, clock, nodes, services, slices, recorder } = ports;
    const rows = (this.#rows = new KeptRows(storage));
    this.#books = new ShardBooks(rows, () => clock.now());
    this.#nodes = new TargetNodes(rows, (name) => this.#changed.add(name));
    this.#checks = new ServiceChecks(rows, {
      toldChanged: () => (this.#areChecksOther = true),
      ended: (service) => this.#slices.drop(service),
    });
    this.#slices = new LocalSlices({
      rows,
      isChecked: (service) => this.#checks.has(service),
      changed: (node) => this.#changedOn(node),
    });
    this.#nodeStore = new FollowedStore(NODES, nodes, this.#nodes.reader, rows, recorder);
    this.#serviceStore = new FollowedStore(SERVICES, services, this.#checks.reader, rows, recorder);
    this.#sliceStore = new FollowedStore(SLICES, slices, this.#slices.reader, rows, recorder);
  }

  async run(): Promise<PassResult> {
    const { clock } = this.ports;
    const apart = this.#begunAt + APART_MS - clock.now();
    if (apart > 0 && apart <= APART_MS) await clock.sleep(apart);
    this.#begunAt = clock.now();
    this.load();
    const endsAt = clock.now() + BUDGET_MS;
    const mayGoOn = (): boolean => clock.now() < endsAt;
    const areNodesRead = await this.#nodeStore.pull(mayGoOn);
    // Slices that cannot be read, or many of them, make no taint late.
    const areNodesTold = await this.#tell();
    const areCountsRead = (await this.#serviceStore.pull(mayGoOn)) && (await this.#readSlices(mayGoOn));
    const isRead = areNodesRead && areCountsRead;
    if (isRead) this.#readAt = clock.now();
    const isTold = (await this.#tell()) && areNodesTold;
    return { left: !isRead || !isTold };
  }

  /** Whether the slices of all checked Services are read. Without such a Service nobody reads slices. Never rejects. */
  async #readSlices(mayGoOn: () => boolean): Promise<boolean> {
    if (this.#checks.isEmpty) return true;
    const { unread } = this.#checks;
    if (!(await this.#sliceStore.pull(mayGoOn))) return false;
    // What was passed over before the Service had a check is read again. A list may have begun before, too.
    const namespaces = new Set(unread.map((service) => objectKey(service).namespace));
    try {
      for (const namespace of namespaces) await this.#readNamespace(namespace);
    } catch (error) {
      this.ports.recorder.log("warn", "a controller could not read", { store: SLICES, error: String(error) });
      return false;
    }
    for (const service of unread) {
      this.#checks.slicesRead(service);
      for (const node of this.#slices.nodesOf(service)) this.#changedOn(node);
    }
    return true;
  }

  async #readNamespace(namespace: string): Promise<void> {
    const range = namespaceRange(namespace);
    let after = range.from;
    while (inRange(after, range)) {
      const page = await this.ports.slices.objectsAfter(after, PAGE_ENTRIES);
      for (const text of page.objects) {
        const slice = readObject<EndpointSlice>(text);
        if (slice && inRange(keyOf(slice), range)) this.#slices.put(keyOf(slice), slice);
      }
      if (page.next === "") return;
      after = page.next;
    }
  }

  /** Endpoints may name a Node that is not there. */
  #changedOn(node: string): void {
    if (this.#nodes.get(node)) this.#changed.add(node);
  }

  /** The whole state of a shard; null = nothing is known yet, or nothing that the owner of the cursor `known` lacks. */
  stateOf(shard: number, known: Cursor | undefined): ShardChange | null {
    this.load();
    const to = this.#books.cursor;
    if (!to || (known && this.#books.isCurrent(shard, known))) return null;
    return this.#whole(shard, to);
  }

  /** Every Node; undefined = they were never read. */
  targets(): NodeTarget[] | undefined {
    this.load();
    return this.#books.cursor && [...this.#nodes.all];
  }

  /** Whether what changed long ago is known. */
  get isFresh(): boolean {
    const age = this.ports.clock.now() - this.#readAt;
    return age >= 0 && age < FRESH_MS;
  }

  /** Reads the rows, once; drops those of another form. To be called before anything of them is used. */
  load(): void {
    if (this.#isLoaded) return;
    this.#rows.load();
    this.#nodes.load();
    this.#checks.load();
    this.#slices.load();
    this.#books.load();
    this.#isLoaded = true;
  }

  /** Saves what was read and tells the shards of it. Answers whether they all have it. */
  async #tell(): Promise<boolean> {
    const books = this.#books;
    if (!books.cursor && this.#rows.cursor(NODES) && this.#rows.cursor(SERVICES) && this.#checks.unread.length === 0) {
      books.open();
      // Some may have been read before a crash.
      for (const { name } of this.#nodes.all) this.#changed.add(name);
    }
    if (books.cursor) {
      books.note(this.#changed, this.#areChecksOther);
      this.#changed.clear();
      this.#areChecksOther = false;
    }
    this.#rows.save();
    const lacking = books.lacking;
    let isTold = true;
    await inParallel(lacking, PUSHES_AT_ONCE, async ([shard, lack]) => {
      const isDone = (await this.#push(shard, lack)) || (lack.isWhole && (await this.#push(shard, lack)));
      isTold &&= isDone;
    });
    this.#rows.save();
    return isTold;
  }

  /** Never rejects. */
  async #push(shard: number, lack: Lack): Promise<boolean> {
    const { clock, recorder } = this.ports;
    const books = this.#books;
    const to = books.cursor;
    if (!to) return true;
    const change: ShardChange = lack.isWhole
      ? this.#whole(shard, to)
      : { from: books.startOf(shard), to, nodes: this.#entries(lack.nodes), ...(lack.checks && { checks: this.#checks.told }) };
    try {
      const has = await withTimeout(clock, PUSH_TIMEOUT_MS, this.ports.push(shard, change));
      if (has && has.epoch > to.epoch) {
        if (has.epoch >= (books.cursor?.epoch ?? 0)) books.beginAfter(has);
        this.#rows.save();
        return false;
      }
      const isDelivered = has !== null && compareCursors(has, to) >= 0;
      if (isDelivered) books.delivered(shard, to);
      else lack.isWhole = true;
      return isDelivered;
    } catch (error) {
      recorder.log("warn", "an object with the health of nodes could not be told what changed", { shard, error: String(error) });
      return false;
    }
  }

  #whole(shard: number, to: Cursor): ShardChange {
    const names = [...this.#nodes.all].map(({ name }) => name).filter((name) => shardOf(name) === shard);
    return { to, nodes: this.#entries(names), checks: this.#checks.told };
  }

  #entries(names: Iterable<string>): ShardChange["nodes"] {
    const entry = (name: string): PushedNode | null => {
      const node = this.#nodes.get(name);
      return node ? { facts: node.facts, counts: this.#slices.counts(name, (service) => this.#checks.isTold(service)) } : null;
    };
    return Object.fromEntries([...names].map((name) => [name, entry(name)]));
  }
}
