/** What the root's store of addresses keeps of other clusters, beside its objects and in its transactions. */
import type { PoolKey } from "../api/registry/ipam/ipam";
import { leastOf } from "../core/base/extremes";

/** A cluster that has asked for an address of a pool of the root. */
export interface FleetCluster {
  /** of the last life of its store that spoke; 0 = none did */
  readonly session: number;
  /** names of pools that had nothing for it, each with the time since when its oldest claim waits, in milliseconds since the epoch */
  readonly waits: Readonly<Record<string, number>>;
}

/** `beganAt`: of the last questions to all clusters, in milliseconds since the epoch; 0 = never. `after`: the last one that was asked; absent = all were. */
export interface FleetAudit {
  readonly beganAt: number;
  readonly after?: string;
}

/** By the id of the life of a cluster. */
export interface FleetRowStorage {
  load(): Iterable<[string, FleetCluster]>;
  /** undefined = forget it */
  save(cluster: string, kept: FleetCluster | undefined): void;
  /** Behind a time to which the store was brought back: the last cluster of the list that has compared its addresses; undefined = all have. */
  comparing(): string | undefined;
  saveComparing(after: string | undefined): void;
  /** of the questions to all clusters */
  audit(): FleetAudit;
  saveAudit(audit: FleetAudit): void;
}

/** Pools of which the claims of one cluster are remembered as waiting. Those of further ones hear of room by their own next try. */
const WAITS_MAX = 64;
const NONE: FleetCluster = { session: 0, waits: {} };

/** The rows, read once. What the database undoes has to be forgotten. */
export class FleetClusters {
  #clusters: Map<string, FleetCluster> | undefined;

  constructor(private readonly rows: Pick<FleetRowStorage, "load" | "save">) {}

  forgetMemory(): void {
    this.#clusters = undefined;
  }

  get ids(): Iterable<string> {
    return this.#known.keys();
  }

  of(cluster: string): FleetCluster {
    return this.#known.get(cluster) ?? NONE;
  }

  saveSession(cluster: string, session: number): void {
    this.#save(cluster, { ...this.of(cluster), session });
  }

  /** undefined = its claims wait for this pool no more */
  saveWait(cluster: string, pool: string, since: number | undefined): void {
    const { waits, ...kept } = this.of(cluster);
    const { [pool]: known, ...others } = waits;
    const told = since === undefined ? undefined : Math.min(since, known ?? Infinity);
    if (told === known || (known === undefined && Object.keys(others).length >= WAITS_MAX)) return;
    this.#save(cluster, { ...kept, waits: told === undefined ? others : { ...others, [pool]: told } });
  }

  /** Ids of those whose claims wait for one of these pools, the one that waits longest first. */
  waiting(pools: ReadonlySet<PoolKey>, nameOf: (pool: PoolKey) => string): string[] {
    const names = [...pools].map(nameOf);
    const since = ({ waits }: FleetCluster): number => leastOf(names.map((name) => waits[name] ?? Infinity));
    const found = [...this.#known].map(([id, kept]) => [since(kept), id] as const).filter(([at]) => at < Infinity);
    return found.toSorted(([a], [b]) => a - b).map(([, id]) => id);
  }

  remove(cluster: string): void {
    if (this.#known.delete(cluster)) this.rows.save(cluster, undefined);
  }

  #save(cluster: string, kept: FleetCluster): void {
    this.#known.set(cluster, kept);
    this.rows.save(cluster, kept);
  }

  get #known(): Map<string, FleetCluster> {
    return (this.#clusters ??= new Map(this.rows.load()));
  }
}
