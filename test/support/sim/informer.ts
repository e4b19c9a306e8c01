/** Somebody who follows a store by its feed and knows what is in it, through crashes and lost answers (I5). */
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import type { FedChanges, FedPage } from "../../../src/api/rpc/object-feed";
import type { StoreCursor } from "../../../src/api/rpc/object-links";
import { ObjectFeedReader } from "../../../src/api/store/feeds/object-feed-reader";
import type { StoreEngine } from "../../../src/api/store/engine/store-engine";
import type { SimCluster } from "./cluster";
import { ALWAYS, type SimNode } from "./platform/network";

const PAGE = 20;

export class SimInformer {
  readonly #objects = new Map<string, string>();
  readonly #violations: string[] = [];
  #cursor: StoreCursor | undefined;
  /** The newest revision of the pages of the last list. They start at the first page's cursor, so changes up to it repeat. */
  #listedTo = 0;
  #running = false;

  constructor(
    private readonly cluster: SimCluster,
    private readonly what: "services" | "ipaddresses",
  ) {}

  /** Reads what is new, unless that is under way. A call that fails leaves it where it was. */
  async follow(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      for (let more = true; more;) more = await this.#step();
    } catch {
      // Lost: the next time goes on from the same cursor.
    } finally {
      this.#running = false;
    }
  }

  /** Compares what was seen with what is there. */
  check(): string[] {
    const rows = this.cluster.tables[this.what === "services" ? "services" : "ipAddresses"].store.objectScan("", "");
    const stored = new Map(rows.map(({ key, data }) => [key, data]));
    const lost = [...stored].filter(([key, data]) => this.#objects.get(key) !== data).map(([key]) => key);
    const phantoms = [...this.#objects.keys()].filter((key) => !stored.has(key));
    return [
      ...this.#violations,
      ...lost.map((key) => `I5: who follows the ${this.what} has not heard how ${key} is`),
      ...phantoms.map((key) => `I5: who follows the ${this.what} has not heard that ${key} is gone`),
    ];
  }

  async #step(): Promise<boolean> {
    const changes = await this.#read((feed): FedChanges => feed.objectsSince(this.#cursor, PAGE));
    if (changes === undefined) return false;
    if (changes.kind === "expired") return this.#relist();
    for (const { deleted, object } of changes.changes) this.#apply(object, deleted);
    this.#cursor = changes.cursor;
    return changes.more;
  }

  async #relist(): Promise<boolean> {
    this.#objects.clear();
    let cursor: StoreCursor | undefined;
    for (let next = ""; ;) {
      const page = await this.#read((feed): FedPage => feed.objectsAfter(next, PAGE));
      if (page === undefined) return false;
      cursor ??= page.cursor;
      this.#listedTo = page.cursor.revision;
      for (const object of page.objects) this.#apply(object, false);
      if (page.next === "") break;
      ({ next } = page);
    }
    this.#cursor = cursor;
    return true;
  }

  #apply(text: string, deleted: boolean): void {
    const { metadata } = JSON.parse(text) as KubeObject;
    const key = metadata?.namespace ? `${metadata.namespace}/${metadata.name ?? ""}` : (metadata?.name ?? "");
    const before = this.#objects.get(key);
    const [was, is] = [before, text].map((of) => Number((JSON.parse(of ?? "{}") as KubeObject).metadata?.resourceVersion ?? 0));
    if ((is ?? 0) > this.#listedTo && (is ?? 0) <= (was ?? 0))
      this.#violations.push(`I5: ${key} came with revision ${is ?? 0} after ${was ?? 0}`);
    if (deleted) this.#objects.delete(key);
    else this.#objects.set(key, text);
  }

  /** undefined: no answer in time */
  #read<T>(work: (feed: ObjectFeedReader) => T): Promise<T | undefined> {
    const { network, services, ipAddresses, scheduler } = this.cluster;
    const node = (this.what === "services" ? services : ipAddresses) as unknown as SimNode<{ store: StoreEngine<never> }>;
    const answer = network.call(
      ALWAYS,
      node,
      ({ store }) => Promise.resolve(work(new ObjectFeedReader(store))),
      () => "feed",
    );
    return Promise.race([answer, new Promise<undefined>((resolve) => void scheduler.after(30_000, () => resolve(undefined)))]);
  }
}
