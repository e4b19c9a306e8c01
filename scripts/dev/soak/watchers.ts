/** The watchers of a run: which collections, who selects, who is slow, and who begins anew. */
import type { WordRandom } from "../../../src/core/base/word-random";
import { EVERYTHING, Ledger, type Selection } from "./ledger";
import { Watcher, type WatcherCounts } from "./watcher";
import { PART_LABEL, partOf, PARTS } from "./services";

export const SERVICES = "/api/v1/services";

/** Of a hundred watchers so many watch each. */
const SHARES: Readonly<Record<string, number>> = {
  [SERVICES]: 50,
  "/apis/networking.k8s.io/v1/ipaddresses": 14,
  "/apis/discovery.k8s.io/v1/endpointslices": 14,
  "/api/v1/pods": 6,
  "/api/v1/nodes": 4,
  "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases": 8,
  "/apis/networking.k8s.io/v1/servicecidrs": 4,
};

interface Listed {
  metadata: { resourceVersion: string };
  items: { metadata: { name: string; uid: string; resourceVersion: string } }[];
}

export interface WatchersSetting {
  url(): string;
  random: WordRandom;
  count: number;
  lifetimeSeconds: number;
  /** reads a collection */
  list(path: string): Promise<unknown>;
}

export class Watchers {
  readonly ledgers = new Map<string, Ledger>();
  readonly #all: { ledger: Ledger; watcher: Watcher }[] = [];

  /** Starts them. Nothing is written meanwhile that they would have to be told of before. */
  static async start(setting: WatchersSetting): Promise<Watchers> {
    const watchers = new Watchers();
    for (const [path, share] of Object.entries(SHARES)) {
      const { metadata, items } = (await setting.list(path)) as Listed;
      const objects = items.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, revision: Number(resourceVersion) }));
      const revision = Number(metadata.resourceVersion);
      const ledger = new Ledger(path, revision, objects);
      watchers.ledgers.set(path, ledger);
      const count = Math.max(2, Math.round((setting.count * share) / 100));
      for (let nth = 0; nth < count; nth++) watchers.#add(setting, { path, ledger, revision, nth });
    }
    for (const { watcher } of watchers.#all) watcher.start();
    return watchers;
  }

  get count(): number {
    return this.#all.length;
  }

  get problems(): string[] {
    return [...this.#all.flatMap(({ watcher }) => watcher.problems), ...[...this.ledgers.values()].flatMap(({ problems }) => problems)];
  }

  get counts(): WatcherCounts {
    const sum: WatcherCounts = { events: 0, watches: 0, expired: 0, refused: 0, broken: 0 };
    for (const { watcher } of this.#all) for (const key of Object.keys(sum) as (keyof WatcherCounts)[]) sum[key] += watcher.counts[key];
    return sum;
  }

  /** Compares what all of them have. `isLast`: everything is at rest. */
  look(isLast = false): void {
    for (const ledger of this.ledgers.values()) ledger.look(this.#stretches(ledger), isLast);
  }

  /** Whether each has all changes up to its collection's revision. Who selects may stand below it: bookmarks come once in a minute. */
  areThrough(revisions: ReadonlyMap<string, number>): boolean {
    return this.#all.every(({ ledger, watcher: { stretch } }) => {
      if (!stretch || !ledger.isComplete(stretch)) return false;
      return stretch.selection !== EVERYTHING || stretch.through >= (revisions.get(ledger.collection) ?? 0);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map(({ watcher }) => watcher.stop()));
  }

  #stretches(ledger: Ledger) {
    return this.#all.flatMap(({ ledger: own, watcher }) => (own === ledger && watcher.stretch ? [watcher.stretch] : []));
  }

  /** Of each collection the first two watch everything and go on and on; of the others some are slow, some begin anew, and of Services some select. */
  #add(
    { url, random, lifetimeSeconds }: WatchersSetting,
    { path, ledger, revision, nth }: { path: string; ledger: Ledger; revision: number; nth: number },
  ): void {
    const kind = nth < 2 ? 0 : nth % 5;
    const watcher = new Watcher({
      name: `${path}#${String(nth)}`,
      path,
      ledger,
      selection: kind === 1 && path === SERVICES ? partSelection(nth % PARTS) : EVERYTHING,
      random,
      url,
      lifetimeSeconds,
      anew: kind === 3,
      rests: kind === 4,
    });
    // From the list on, of which the ledger knows: those that begin with objects come to it later.
    watcher.beginAfter(revision);
    this.#all.push({ ledger, watcher });
  }
}

function partSelection(part: number): Selection {
  return { labelSelector: `${PART_LABEL}=${String(part)}`, matches: (name) => partOf(name) === part };
}
