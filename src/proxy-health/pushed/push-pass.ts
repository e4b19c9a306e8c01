/**
 * The pass of the controller "proxy-health": it reads what changed of Nodes, Services and their slices, and tells each shard what changed of its nodes.
 *
 * - What is told is on disk before. A push that fails is repeated; a shard that is being checked asks as well.
 * - Nodes have a frame of their own, beside that of Services and slices. So what cannot be read holds up nothing else, and neither does who cannot be
 *   told: shards go on with what they have.
 * - Nobody is told of Nodes before all of them have been read once, nor of checks and counts before Services and slices have: half of them would take
 *   some away.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EndpointSlice } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { readObject } from "../../api/meta/read-object";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { StoreNews } from "../../api/rpc/store";
import { inRange, namespaceRange, objectKey } from "../../api/store/state/keys";
import { FollowedStore, PAGE_ENTRIES } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import type { PassResult } from "../../controllers/frame/controller";
import { Frame } from "../../controllers/frame/frame";
import { type PassReport, summed } from "../../controllers/frame/status";
import { shardOf } from "../../tenancy/cluster-objects";
import { LocalSlices } from "./local-slices";
import type { NodeTarget } from "./node-target";
import { ServiceChecks } from "./service-checks";
import { type Lack, ShardBooks } from "./shard-books";
import type { Cursor, PushedNode, ShardChange } from "./shard-change";
import { ShardSender, type ShardSenderPorts } from "./shard-sender";
import { TargetNodes } from "./target-nodes";

/** Names of the cursors. */
const NODES = "nodes";
const SERVICES = "services";
const SLICES = "endpointslices";
/** Between the beginnings of two passes: changes of one moment share a push. */
const APART_MS = 100;
/** After this time a frame reads no other page. */
const BUDGET_MS = 30_000;
/** How long Services, slices and shards hold up the next pass: a change of a Node waits for it. */
const SETTLE_MS = 250;
/** Whoever asks so long after the last pass began asks for one, too: a poke may be lost. */
const FRESH_MS = 5_000;

export interface PushPorts extends Pick<ShardSenderPorts, "push"> {
  clock: Pick<Clock, "now" | "after" | "sleep">;
  recorder: Recorder;
  storage: RowStorage;
  nodes: ObjectFeed;
  services: ObjectFeed;
  slices: ObjectFeed;
}

export class PushPass {
  readonly #rows: KeptRows;
  readonly #books: ShardBooks;
  readonly #nodes: TargetNodes;
  readonly #checks: ServiceChecks;
  readonly #slices: LocalSlices;
  readonly #nodeFrame: Frame;
  readonly #countFrame: Frame;
  readonly #sender: ShardSender;
  /** of the reading that ended behind its pass: the next pass shows it */
  #late: PassReport | undefined;
  readonly #changed = new Set<string>();
  #areChecksOther = false;
  /** Services with a check whose slices are to be read */
  #unread: readonly string[] = [];
  /** Services and slices have been read once. */
  #areCountsRead = false;
  readonly #nodeStore: FollowedStore;
  #reading: Promise<PassResult> | undefined;
  #mustReadAgain = false;
  /** More than pokes asks for that: both stores are read. */
  #mustReadCounts = false;
  #begunAt = -Infinity;

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
    this.#sender = new ShardSender({
      clock,
      recorder,
      books: this.#books,
      change: (shard, lack, to) => this.#change(shard, lack, to),
      save: () => this.#note(),
      push: (shard, change) => ports.push(shard, change),
    });
    const nodeStore = (this.#nodeStore = new FollowedStore(NODES, nodes, this.#nodes.reader, rows, recorder));
    const serviceStore = new FollowedStore(SERVICES, services, this.#checks.reader, rows, recorder);
    const sliceStore = new FollowedStore(SLICES, slices, this.#slices.reader, rows, recorder);
    const shared = { budgetMs: BUDGET_MS, saved: (): void => this.#sender.begin() };
    this.#nodeFrame = new Frame(ports, {
      ...shared,
      rows: { load: () => rows.load(), save: () => this.#note() },
      keeps: [this.#nodes, this.#checks, this.#slices, this.#books],
      follows: () => [nodeStore],
    });
    this.#countFrame = new Frame(ports, {
      ...shared,
      rows: { load: () => this.load(), save: () => this.#note() },
      follows: () => this.#countSteps(serviceStore, sliceStore),
      work: () => this.#readPassedOver(),
    });
  }

  /** What a poke says, to both frames; see PassHearing. */
  hears(news: readonly StoreNews[] | undefined): void {
    for (const frame of [this.#nodeFrame, this.#countFrame]) frame.hears(news);
  }

  get wants(): boolean {
    return this.#nodeFrame.wants || this.#countFrame.wants;
  }

  /** `isPoked`: only pokes ask for it, so it reads the stores that they named. */
  async run(isPoked = false): Promise<PassResult> {
    const { clock } = this.ports;
    const apart = this.#begunAt + APART_MS - clock.now();
    if (apart > 0 && apart <= APART_MS) await clock.sleep(apart);
    this.#begunAt = clock.now();
    this.load();
    let counts: PassResult = { left: true };
    let isOver = false;
    const reading = this.#readCounts(isPoked).then((result) => {
      counts = result;
      if (isOver && result.report) this.#late = { ...result.report, waiting: 0 };
    });
    const nodes = await this.#nodeFrame.run(isPoked);
    await withTimeout(
      clock,
      SETTLE_MS,
      reading.then(() => this.#sender.end()),
    ).catch(() => undefined);
    isOver = true;
    const left = nodes.left || counts.left || !this.#sender.isDone;
    const report = { ...summed([nodes.report, counts.report, this.#late]), left };
    this.#late = undefined;
    return { left, report };
  }

  /** Reads Services and slices and tells of them: once more if that is under way. */
  #readCounts(isPoked: boolean): Promise<PassResult> {
    this.#mustReadAgain = true;
    if (!isPoked) this.#mustReadCounts = true;
    return (this.#reading ??= this.#readUntilDone());
  }

  async #readUntilDone(): Promise<PassResult> {
    let result: PassResult = { left: false };
    try {
      while (this.#mustReadAgain && !result.left) {
        const mustReadAll = this.#mustReadCounts;
        this.#mustReadAgain = this.#mustReadCounts = false;
        result = await this.#countFrame.run(!mustReadAll);
      }
      return result;
    } finally {
      // In the turn of the last look: whoever asks from now on begins anew.
      this.#reading = undefined;
    }
  }

  /** Without a checked Service nobody reads slices. */
  *#countSteps(services: FollowedStore, slices: FollowedStore): Iterable<FollowedStore> {
    yield services;
    this.#unread = this.#checks.unread;
    if (!this.#checks.isEmpty) yield slices;
  }

  /** What was passed over before its Service had a check is read again. A list may have begun before, too. */
  async #readPassedOver(): Promise<void> {
    const namespaces = new Set(this.#unread.map((service) => objectKey(service).namespace));
    for (const namespace of namespaces) await this.#readNamespace(namespace);
    for (const service of this.#unread) {
      this.#checks.slicesRead(service);
      for (const node of this.#slices.nodesOf(service)) this.#changedOn(node);
    }
    this.#areCountsRead = true;
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

  /**
   * The whole state of a shard; null = nothing is known yet, or nothing that the owner of the cursor `known` lacks. Throws when it cannot be put on
   * disk: a crash would take back what the shard was told.
   */
  stateOf(shard: number, known: Cursor | undefined): ShardChange | null {
    this.load();
    this.#note();
    const to = this.#books.cursor;
    if (!to || (known && this.#books.isCurrent(shard, known))) return null;
    return this.#whole(shard, to);
  }

  /** Whether all Nodes were ever read. */
  get knowsNodes(): boolean {
    this.load();
    return this.#books.cursor !== undefined;
  }

  /** Every Node; undefined = they were never read. */
  targets(): NodeTarget[] | undefined {
    return this.knowsNodes ? [...this.#nodes.all] : undefined;
  }

  /** Whether a pass has begun recently. */
  get isFresh(): boolean {
    const age = this.ports.clock.now() - this.#begunAt;
    return age >= 0 && age < FRESH_MS;
  }

  /** Reads the rows, once; drops those of another form. To be called before anything of them is used. */
  load(): void {
    this.#nodeFrame.load();
  }

  /** Saves what was read, and what shards lack for it: together, or a crash would lose what they lack. Throws when storage does. */
  #note(): void {
    const books = this.#books;
    const isOpening = !books.cursor && (this.#nodeStore.isRead || this.#rows.cursor(NODES) !== undefined);
    if (isOpening) books.open();
    const areCountsNew = this.#areCountsRead && !books.knowsChecks;
    if (books.cursor) {
      // Some may have been read before a crash.
      if (isOpening || areCountsNew) for (const { name } of this.#nodes.all) this.#changed.add(name);
      books.note(this.#changed, areCountsNew || (books.knowsChecks && this.#areChecksOther));
      this.#changed.clear();
      this.#areChecksOther = false;
    }
    this.#rows.save();
  }

  #change(shard: number, { nodes, checks, isWhole }: Lack, to: Cursor): ShardChange {
    const from = this.#books.startOf(shard);
    if (isWhole || !from) return this.#whole(shard, to);
    return { from, to, nodes: this.#entries(nodes), ...(checks && { checks: this.#checks.told }) };
  }

  #whole(shard: number, to: Cursor): ShardChange {
    const names = [...this.#nodes.all].map(({ name }) => name).filter((name) => shardOf(name) === shard);
    return { to, nodes: this.#entries(names), ...(this.#books.knowsChecks && { checks: this.#checks.told }) };
  }

  #entries(names: Iterable<string>): ShardChange["nodes"] {
    const entry = (name: string): PushedNode | null => {
      const node = this.#nodes.get(name);
      if (!node) return null;
      const counts = this.#books.knowsChecks && { counts: this.#slices.counts(name, (service) => this.#checks.isTold(service)) };
      return { facts: node.facts, ...counts };
    };
    return Object.fromEntries([...names].map((name) => [name, entry(name)]));
  }
}
