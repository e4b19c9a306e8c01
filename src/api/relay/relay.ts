/**
 * All watches of an isolate. A user may have a number of them open for each resource of a cluster. Watches whose requests the platform has dropped
 * silently are found by their silence, and forgotten.
 */
import type { Clock, Random } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { type Status, tooManyRequests } from "../meta/status";
import type { ResourceDefinition } from "../registry/resource";
import type { CollectionRequest, OpenWatches } from "../rpc/store";
import { filterOf } from "../store/hub/collection-filter";
import { viewOf } from "../store/hub/view-of";
import { WATCHES_RETRY_SECONDS } from "../store/state/limits";
import { watchDurationMs, watchedCollection } from "../store/watch/watch-plan";
import { Feeds } from "./feeds";
import { WATCH_SILENT_MS, WATCH_TEND_MS } from "./limits";
import { type ClientSink, RelayedWatch, type RelayedWatchPorts } from "./relayed-watch";

export interface AskedWatch {
  /** the cluster's id */
  cluster: string;
  /** of the store: watches of another life share nothing; absent = revisions alone say where a watch is */
  life?: string;
  /** the resource whose store is watched */
  store: string;
  request: CollectionRequest;
  /** the requested representation */
  definition: ResourceDefinition;
  /** whose watch it is, and how many of a store he may have open; absent = any number, and so is a `max` of 0 */
  watchedBy?: { user: string; max: number };
  open: RelayedWatchPorts["open"];
}

/** What a watch says of itself in metrics. */
interface Labels {
  cluster: string;
  store: string;
  watched: Omit<OpenWatches, "count">;
  /** of a user's watches of a store */
  counted: string;
}

export interface StoreWatches {
  store: string;
  watches: OpenWatches[];
}

export class Relay {
  readonly #watches = new Map<RelayedWatch, Labels>();
  readonly #counts = new Map<string, number>();
  readonly #feeds = new Feeds();
  #sweptAt: number;
  #isStopping = false;

  constructor(private readonly ports: { clock: Clock; random: Random }) {
    this.#sweptAt = ports.clock.now();
  }

  get size(): number {
    return this.#watches.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * Begins a watch whose bytes go to the sink that `sink` makes for it. A Status is a refusal before anything was sent. Then `running.run` must be
   * called at once, in the request of the watch. Rejects as `open` does.
   */
  async begin(asked: AskedWatch, sink: (watch: RelayedWatch) => ClientSink): Promise<Result<RunningWatch, Status>> {
    const { clock, random } = this.ports;
    const { cluster, store, life, request, definition, watchedBy } = asked;
    const filter = filterOf(request, definition);
    if (!filter.ok) return filter;
    const counted = watchedBy ? JSON.stringify([cluster, store, watchedBy.user]) : "";
    if (watchedBy && watchedBy.max > 0 && this.#isFull(counted, watchedBy.max)) {
      const text = `user ${JSON.stringify(watchedBy.user)} has ${watchedBy.max} watches of ${request.resource} open, which is the most`;
      return err(tooManyRequests(text, WATCHES_RETRY_SECONDS));
    }
    const watch = new RelayedWatch({
      clock,
      random,
      feeds: this.#feeds,
      request,
      cohort: cohortOf(cluster, life, request),
      view: viewOf(definition, request, () => clock.now()),
      endsAt: clock.now() + watchDurationMs(request, random),
      open: asked.open,
    });
    this.#watches.set(watch, { cluster, store, watched: watchedCollection(request, filter.value), counted });
    this.#count(counted, 1);
    let isRunning = false;
    try {
      const begun = await watch.begin(() => sink(watch));
      if (!begun.ok) return begun;
      isRunning = true;
    } finally {
      if (!isRunning) this.#forget(watch);
    }
    if (this.#isStopping) watch.end();
    const sweep = (): void => this.#sweep();
    return ok({ watch, run: () => watch.run(sweep).finally(() => this.#forget(watch)) });
  }

  /** The open watches of a cluster, by store and by what they watch. */
  open(cluster: string): StoreWatches[] {
    const stores = new Map<string, Map<string, OpenWatches>>();
    for (const [watch, labels] of this.#watches) {
      if (labels.cluster !== cluster || watch.isSilent()) continue;
      const counts = stores.get(labels.store) ?? new Map<string, OpenWatches>();
      stores.set(labels.store, counts);
      const key = Object.values(labels.watched).join(" ");
      const count = counts.get(key);
      if (count) count.count++;
      else counts.set(key, { ...labels.watched, count: 1 });
    }
    return [...stores].map(([store, counts]) => ({ store, watches: [...counts.values()] }));
  }

  /** Ends every watch properly, and later ones as soon as they have begun. */
  stop(): void {
    this.#isStopping = true;
    for (const watch of [...this.#watches.keys()]) watch.end();
  }

  /** Silent ones do not count, though nobody may be left that sweeps them out. */
  #isFull(counted: string, max: number): boolean {
    if ((this.#counts.get(counted) ?? 0) < max) return false;
    let count = 0;
    for (const [watch, labels] of this.#watches) if (labels.counted === counted && !watch.isSilent()) count++;
    return count >= max;
  }

  /**
   * To be called as a watch looks around: others had their turn, too. Not after a pause of the whole isolate: then everybody was silent, since his last look
   * before it.
   */
  #sweep(): void {
    const now = this.ports.clock.now();
    const sinceMs = now - this.#sweptAt;
    if (sinceMs >= 0 && sinceMs < WATCH_TEND_MS) return;
    this.#sweptAt = now;
    if (sinceMs < 0 || sinceMs > WATCH_SILENT_MS - WATCH_TEND_MS) return;
    for (const watch of [...this.#watches.keys()]) {
      if (!watch.isSilent()) continue;
      watch.forget();
      this.#forget(watch);
    }
  }

  #forget(watch: RelayedWatch): void {
    const labels = this.#watches.get(watch);
    if (!labels) return;
    this.#watches.delete(watch);
    this.#count(labels.counted, -1);
  }

  #count(key: string, by: number): void {
    if (key === "") return;
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

export interface RunningWatch {
  watch: RelayedWatch;
  /** Resolves when the watch is over. */
  run(): Promise<void>;
}

/** A Table tells its columns once, to each client: nobody shares it. */
function cohortOf(cluster: string, life: string | undefined, request: CollectionRequest): string | undefined {
  const { namespace, labelSelector, fieldSelector, group, version, resource, representation, encoding = "json", servedAt } = request;
  if (representation.as === "table") return undefined;
  return JSON.stringify([
    cluster,
    life,
    namespace,
    labelSelector,
    fieldSelector,
    group,
    version,
    resource,
    representation,
    encoding,
    servedAt,
  ]);
}
