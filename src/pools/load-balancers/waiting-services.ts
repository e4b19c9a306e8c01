/** The Services that wait for an address, in the order in which they began to. Read from the rows when it is first asked for. */
import type { OlderWaiters } from "../../api/rpc/load-balancers";
import type { ServiceRows, WaitingService } from "./service-rows";

export type WaitingEntry = readonly [key: string, WaitingService];

/** Asked addresses that are kept from younger Services, and those of one namespace; those beyond are anybody's. */
const ASKED_MAX = 500;
const ASKED_OF_NAMESPACE = 50;
/** Shown addresses that are kept for their Services: with the asked ones fewer than what a pool may be barred of (free-addresses.ts). */
const SHOWN_MAX = 500;

export class WaitingServices {
  #known: Map<string, WaitingService> | undefined;
  /** undefined = made anew when it is asked for */
  #ordered: WaitingEntry[] | undefined;
  #behindAll: Counted | undefined;
  #shown: Record<string, string> | undefined;

  constructor(private readonly rows: Pick<ServiceRows, "waiting" | "saveWaiting">) {}

  get size(): number {
    return this.#all.size;
  }

  get(key: string): WaitingService | undefined {
    return this.#all.get(key);
  }

  /** In the transaction of the change that makes it so. undefined = it waits no more. */
  set(key: string, waiting: WaitingService | undefined): void {
    if (!waiting && !this.#all.has(key)) return;
    this.rows.saveWaiting(key, waiting);
    const before = this.#all.get(key);
    if (waiting?.shown ?? before?.shown) this.#shown = undefined;
    if (waiting) this.#all.set(key, waiting);
    else this.#all.delete(key);
    const last = this.#ordered?.at(-1);
    // Mostly somebody begins to wait behind all others.
    if (waiting && !before && this.#ordered && (!last || isBefore(last, [key, waiting]))) this.#ordered.push([key, waiting]);
    else this.#ordered = undefined;
    if (waiting && !before && this.#behindAll) add(this.#behindAll, [key, waiting]);
    else this.#behindAll = undefined;
  }

  /** Memory is read anew: the rows of a turn were lost. */
  forget(): void {
    this.#known = this.#ordered = this.#behindAll = this.#shown = undefined;
  }

  get ordered(): readonly WaitingEntry[] {
    return (this.#ordered ??= [...this.#all].sort((a, b) => (isBefore(a, b) ? -1 : 1)));
  }

  /** Those before the Service of this key: all of them, unless it waits itself. undefined = nobody is. */
  before(key: string): OlderWaiters | undefined {
    if (this.size === 0) return undefined;
    if (!this.#all.has(key)) return (this.#behindAll ??= waitersOf(this.ordered)).waiters;
    const at = this.ordered.findIndex(([other]) => other === key);
    return at === 0 ? undefined : waitersOf(this.ordered.slice(0, at)).waiters;
  }

  /** address -> uid of the Service that shows it and has no row of it; undefined = there are none */
  get shown(): Readonly<Record<string, string>> | undefined {
    if (this.size === 0) return undefined;
    if (!this.#shown) {
      const all = this.ordered.flatMap(([, { uid, shown = [] }]) => shown.map((address) => [address, uid] as const));
      // Of two that show the same one, whoever waits longer is first.
      this.#shown = Object.fromEntries(all.slice(0, SHOWN_MAX).toReversed());
    }
    return Object.keys(this.#shown).length > 0 ? this.#shown : undefined;
  }

  get #all(): Map<string, WaitingService> {
    return (this.#known ??= new Map(this.rows.waiting()));
  }
}

interface Counted {
  readonly waiters: { readonly pools: Record<string, number>; readonly asked: Record<string, string[]> };
  total: number;
  /** by namespace */
  readonly addresses: Map<string, number>;
}

/** The order in which they are served. */
export function isBefore([a, { since: one }]: WaitingEntry, [b, { since: other }]: WaitingEntry): boolean {
  return one < other || (one === other && a < b);
}

function waitersOf(entries: readonly WaitingEntry[]): Counted {
  const counted: Counted = { waiters: { pools: {}, asked: {} }, total: 0, addresses: new Map() };
  for (const entry of entries) add(counted, entry);
  return counted;
}

/** What no pool would give to the Service, free or not, is kept from nobody: it names no pool. */
function add(counted: Counted, [key, { pools, asked }]: WaitingEntry): void {
  const { waiters, addresses } = counted;
  if (asked.length === 0) for (const pool of pools) waiters.pools[pool] = (waiters.pools[pool] ?? 0) + 1;
  if (asked.length === 0 || pools.length === 0) return;
  const namespace = key.slice(0, key.indexOf("/"));
  const ofNamespace = (addresses.get(namespace) ?? 0) + asked.length;
  if (ofNamespace > ASKED_OF_NAMESPACE || counted.total + asked.length > ASKED_MAX) return;
  addresses.set(namespace, ofNamespace);
  counted.total += asked.length;
  for (const pool of pools) (waiters.asked[pool] ??= []).push(...asked);
}
