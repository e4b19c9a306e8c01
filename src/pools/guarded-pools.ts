/**
 * The part of the stores of pools that keeps pools apart: before a pool is stored, or its deletion begins, the book is asked (pool-book.ts). A write that
 * comes to nothing behind that takes back what it claimed. Where it dies, the book's header says what mends it. The ranges of Services are read behind the
 * claim, so that a range that comes at once meets it (guarded-ranges.ts).
 */
import { invalidValue } from "../api/meta/field-errors";
import { badRequest, invalid, serviceUnavailable, type Status } from "../api/meta/status";
import { semanticEqual } from "../api/meta/equality";
import {
  type AddressPool,
  isPrefixPool,
  KEEP_OUT_OF_RANGE,
  keyOfPool,
  NAT_DOMAIN,
  type PoolKind,
  SKIP_DELETE_CHECK,
} from "../api/registry/ipam/ipam";
import { BALANCER_ANNOTATIONS } from "../api/registry/ipam/load-balancer";
import type { ResourceDefinition } from "../api/registry/resource";
import type { PoolQuestion, RangeOfServices } from "../api/rpc/pool-book";
import { isProgramFault } from "../api/rpc/program-fault";
import type { Operation, ProposedChange, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Random } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { askBook, type AskedBookPorts, askPastLost } from "./asked-book";
import { factsOf, intervalsOf, type MetRange, rangeMeeting, sameFacts } from "./pool-facts";
import { refusalOf } from "./pool-book";

export interface GuardedPoolsPorts extends AskedBookPorts {
  random: Pick<Random, "uuid">;
  definition: ResourceDefinition;
  kind: PoolKind;
  /** the ranges of Services of the cluster, those under way included */
  serviceRanges(): Promise<readonly RangeOfServices[]>;
  /** See BalancedServicesRpc. */
  expectBalancerPools(): Promise<void>;
}

type Wish = PoolQuestion & { does: "claim" | "close" };
/** of each kind by itself */
type Untokened<W> = W extends Wish ? Omit<W, "token"> : never;

const RETRY_AFTER_SECONDS = 1;

export class GuardedPools {
  /** what a write has claimed */
  readonly #claimed = new WeakMap<object, { wish: string; question: Wish }>();
  readonly #stored = new WeakSet<object>();

  constructor(private readonly ports: GuardedPoolsPorts) {}

  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => {
        const wish = this.#wishOf(change);
        if (wish?.does === "claim" && wish.before && wish.before.unit !== wish.facts.unit)
          return { kind: "refuse", status: badRequest("spec.allocationPrefixLength is immutable") };
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
  #wishOf({ after, before, dryRun }: ProposedChange): Untokened<Wish> | undefined {
    const pool = (after ?? before) as AddressPool;
    const key = keyOfPool(this.ports.kind, pool);
    if (before && !before.metadata?.deletionTimestamp && (!after || after.metadata?.deletionTimestamp)) {
      const inUse = before.metadata?.annotations?.[SKIP_DELETE_CHECK] !== undefined;
      return { does: "close", pool: key, facts: factsOf(before), inUse, dryRun };
    }
    if (!after) return undefined;
    // Most writes are of the status: their entries are not read.
    if (before && isGivingAlike(before, after)) return undefined;
    const facts = factsOf(after);
    const earlier = before ? factsOf(before) : null;
    if (earlier && sameFacts(facts, earlier)) return undefined;
    const closed = after.metadata?.deletionTimestamp !== undefined;
    return { does: "claim", pool: key, facts, before: earlier, closed, dryRun };
  }

  async #ask<Supply>(wish: Untokened<Wish>, { after, before }: ProposedChange, operation: Operation<Supply>): Promise<Status | undefined> {
    // A write whose wish changes between its turns is one write for the book.
    const earlier = this.#claimed.get(operation);
    const question = { ...wish, token: earlier?.question.token ?? this.ports.random.uuid() } as Wish;
    const pool = (after ?? before) as AddressPool;
    const isOfPrefixes = isPrefixPool(this.ports.kind);
    const entries = (isOfPrefixes ? pool.spec?.prefixes : pool.spec?.addresses) ?? [];
    const field = isOfPrefixes ? "spec.prefixes" : "spec.addresses";
    const of = { definition: this.ports.definition, name: pool.metadata?.name ?? "", field, entries };
    try {
      // Before the pool gives anything, so that no status has an address of it that nobody took.
      if (!question.dryRun && question.does === "claim" && question.facts.loadBalancer && !question.before?.loadBalancer)
        await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.expectBalancerPools());
      // Whatever the book answers, or does not, it may have written. What a refused write has claimed is abandoned when the operation ends.
      this.#claimed.set(operation, { wish: JSON.stringify(wish), question });
      const refused = refusalOf(await askPastLost(this.ports, question), of);
      if (refused && !earlier) this.#claimed.delete(operation);
      if (refused || question.does !== "claim") return refused;
      const range = await this.#serviceRange(question);
      if (range === undefined) return undefined;
      // Of two that come at once each may meet the other (guarded-ranges.ts).
      return range.isUnderWay
        ? serviceUnavailable(`the pool overlaps with ${range.text}, whose write is under way, try again later`, RETRY_AFTER_SECONDS)
        : invalid(of.definition, of.name, [invalidValue(field, entries, `overlaps with ${range.text}`)]);
    } catch (error) {
      if (isProgramFault(error)) throw error;
      return serviceUnavailable("the pools of the cluster cannot be compared now, try again later", RETRY_AFTER_SECONDS);
    }
  }

  async #serviceRange({ facts }: Wish & { does: "claim" }): Promise<MetRange | undefined> {
    return rangeMeeting(await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.serviceRanges()), facts, intervalsOf(facts));
  }

  #abandon({ dryRun, pool, token }: Wish): void {
    if (!dryRun) void askBook(this.ports, { does: "abandon", pool, token }).catch(() => undefined);
  }
}

function isGivingAlike(a: AddressPool, b: AddressPool): boolean {
  const same = [NAT_DOMAIN, KEEP_OUT_OF_RANGE, ...BALANCER_ANNOTATIONS].every(
    (name) => a.metadata?.annotations?.[name] === b.metadata?.annotations?.[name],
  );
  return same && semanticEqual(a.spec, b.spec);
}
