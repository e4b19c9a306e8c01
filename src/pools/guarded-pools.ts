/**
 * The part of the stores of pools that keeps pools apart: before a pool is stored, or its deletion begins, the book is asked (pool-book.ts). A write that
 * comes to nothing behind that takes back what it claimed. Where it dies, the book's header says what mends it.
 */
import { invalidValue } from "../api/meta/field-errors";
import { invalid, serviceUnavailable, type Status } from "../api/meta/status";
import { semanticEqual } from "../api/meta/equality";
import { type AddressPool, KEEP_OUT_OF_RANGE, keyOfPool, NAT_DOMAIN, type PoolKind, SKIP_DELETE_CHECK } from "../api/registry/ipam/ipam";
import type { ResourceDefinition } from "../api/registry/resource";
import type { PoolAnswer, PoolBookRpc, PoolQuestion } from "../api/rpc/pool-book";
import type { Operation, ProposedChange, StoreExtension } from "../api/store/state/extension";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Clock, Random } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { overlap } from "../core/net/interval";
import { formatPrefix, lastOf, type Prefix } from "../core/net/prefix";
import { areApart, factsOf, intervalsOf, sameFacts } from "./pool-facts";
import { refusalOf } from "./pool-book";

/** A range of the cluster that is no pool. */
export interface RangeOfServices {
  readonly name: string;
  readonly natDomain: string;
  readonly prefixes: readonly Prefix[];
}

export interface GuardedPoolsPorts {
  clock: Pick<Clock, "now" | "after">;
  random: Pick<Random, "uuid">;
  definition: ResourceDefinition;
  kind: PoolKind;
  /** makes a stub for one call */
  book(): PoolBookRpc;
  /** the ServiceCIDRs of the cluster */
  serviceRanges(): Promise<readonly RangeOfServices[]>;
}

type Wish = PoolQuestion & { does: "claim" | "close" };

const RETRY_AFTER_SECONDS = 1;

export class GuardedPools {
  /** what a write has claimed */
  readonly #claimed = new WeakMap<object, { wish: string; question: Wish }>();
  readonly #stored = new WeakSet<object>();

  constructor(private readonly ports: GuardedPoolsPorts) {}

  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> {
    return {
      ...inner,
      admit: (change, operation) => {
        const wish = this.#wishOf(change);
        if (wish && this.#claimed.get(operation)?.wish !== JSON.stringify(wish))
          return { kind: "wait", supply: () => this.#ask(wish, change, operation) };
        return inner.admit?.(change, operation) ?? { kind: "go" };
      },
      committed: (change, operation) => {
        inner.committed?.(change, operation);
        if (operation) this.#stored.add(operation);
      },
      ended: (operation) => {
        inner.ended?.(operation);
        const claimed = this.#claimed.get(operation);
        if (claimed && !this.#stored.has(operation)) this.#abandon(claimed.question);
      },
    };
  }

  /** What the change has to claim; undefined = it changes nothing that others meet. */
  #wishOf({ after, before, dryRun }: ProposedChange): Omit<Wish, "token"> | undefined {
    const pool = (after ?? before) as AddressPool;
    const key = keyOfPool(this.ports.kind, pool);
    if (before && !before.metadata?.deletionTimestamp && (!after || after.metadata?.deletionTimestamp)) {
      const inUse = before.metadata?.annotations?.[SKIP_DELETE_CHECK] !== undefined;
      return { does: "close", pool: key, facts: factsOf(before), inUse, dryRun } as Omit<Wish, "token">;
    }
    if (!after) return undefined;
    // Most writes are of the status: their entries are not read.
    if (before && isGivingAlike(before, after)) return undefined;
    const facts = factsOf(after);
    const earlier = before ? factsOf(before) : null;
    if (earlier && sameFacts(facts, earlier)) return undefined;
    const closed = after.metadata?.deletionTimestamp !== undefined;
    return { does: "claim", pool: key, facts, before: earlier, closed, dryRun } as Omit<Wish, "token">;
  }

  async #ask<Supply>(
    wish: Omit<Wish, "token">,
    { after, before }: ProposedChange,
    operation: Operation<Supply>,
  ): Promise<Status | undefined> {
    // A write whose wish changes between its turns is one write for the book.
    const earlier = this.#claimed.get(operation);
    const question = { ...wish, token: earlier?.question.token ?? this.ports.random.uuid() } as Wish;
    const pool = (after ?? before) as AddressPool;
    const addresses = pool.spec?.addresses ?? [];
    const of = { definition: this.ports.definition, name: pool.metadata?.name ?? "", addresses };
    try {
      if (question.does === "claim") {
        const range = await this.#serviceRange(question);
        if (range !== undefined)
          return invalid(of.definition, of.name, [invalidValue("spec.addresses", addresses, `overlaps with ${range}`)]);
      }
      // Whatever the book answers, or does not, it may have written.
      this.#claimed.set(operation, { wish: JSON.stringify(wish), question });
      const refused = refusalOf(await this.#claim(question), of);
      // What an earlier turn has claimed is abandoned when the operation ends.
      if (refused && !earlier) this.#claimed.delete(operation);
      return refused;
    } catch {
      return serviceUnavailable("the pools of the cluster cannot be compared now, try again later", RETRY_AFTER_SECONDS);
    }
  }

  /** What a lost write has left, and a pool that never came to be, or is gone, is in nobody's way. */
  async #claim(question: Wish): Promise<PoolAnswer> {
    for (;;) {
      const answer = await this.#book(question);
      if ((answer.kind !== "overlaps" && answer.kind !== "moves") || answer.isUnderWay) return answer;
      // Addresses of a pool that is gone stay in the way.
      if ((await this.#book({ does: "forget", pool: answer.pool })).kind !== "done") return answer;
    }
  }

  async #serviceRange({ facts }: Wish & { does: "claim" }): Promise<string | undefined> {
    const own = intervalsOf(facts);
    for (const { name, natDomain, prefixes } of await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.serviceRanges())) {
      if (areApart(natDomain, facts.natDomain)) continue;
      const met = prefixes.find(
        (prefix) =>
          prefix.family === facts.family && own.some((interval) => overlap(interval, { first: prefix.base, last: lastOf(prefix) })),
      );
      if (met) return `ServiceCIDR ${JSON.stringify(name)} (${formatPrefix(met)})`;
    }
    return undefined;
  }

  #abandon({ dryRun, pool, token }: Wish): void {
    if (!dryRun) void this.#book({ does: "abandon", pool, token }).catch(() => undefined);
  }

  #book(question: PoolQuestion): Promise<PoolAnswer> {
    return withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.book().askPools(question));
  }
}

function isGivingAlike(a: AddressPool, b: AddressPool): boolean {
  const same = [NAT_DOMAIN, KEEP_OUT_OF_RANGE].every((name) => a.metadata?.annotations?.[name] === b.metadata?.annotations?.[name]);
  return same && semanticEqual(a.spec, b.spec);
}

/** The NAT domain that an object is in; "" = none. */
export function natDomainOf({ metadata }: Pick<AddressPool, "metadata">): string {
  return metadata?.annotations?.[NAT_DOMAIN] ?? "";
}
