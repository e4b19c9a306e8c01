/**
 * The part of the store of ServiceCIDRs that keeps ranges of Services apart from pools. A range is known as under way before the book is asked about it
 * (`underWay`), until its write has ended; behind that its object says the same. A pool is in the book before its write reads the ranges, those under way
 * included (guarded-pools.ts). So of a range and a pool that come at once, one meets the other, or both do.
 *
 *   the range dies behind      what there is         what a pool meets
 *   its entry under way        nothing               nothing: the object that dies carries nothing out
 *   its commit                 its object            the object
 */
import { invalidValue } from "../api/meta/field-errors";
import type { ServiceCIDR } from "../api/meta/kubernetes";
import { invalid, serviceUnavailable, type Status } from "../api/meta/status";
import { natDomainOf, poolText } from "../api/registry/ipam/ipam";
import { serviceCIDRsDefinition } from "../api/registry/service-cidrs/definition";
import type { PoolAnswer, RangeOfServices } from "../api/rpc/pool-book";
import { isProgramFault } from "../api/rpc/program-fault";
import { isUnsupported } from "../api/rpc/protocol";
import type { ProposedChange, StoreExtension } from "../api/store/state/extension";
import { forwarded } from "../api/store/state/forwarded-extension";
import { type AskedBookPorts, askPastLost } from "./asked-book";
import { factsOfRange } from "./pool-facts";

export interface GuardedRangesPorts extends AskedBookPorts {
  /** Whether the cluster ever had a pool, or an address of one; in doubt it had. Both are known before they read the ranges. Never rejects. */
  hasPools(): Promise<boolean>;
}

const RETRY_AFTER_SECONDS = 1;

export class GuardedRanges {
  /** what of each write has been compared */
  readonly #compared = new WeakMap<object, string>();
  readonly #underWay = new Map<object, RangeOfServices>();

  constructor(private readonly ports: GuardedRangesPorts) {}

  /** Ranges whose writes have not ended. */
  get underWay(): readonly RangeOfServices[] {
    return [...this.#underWay.values()];
  }

  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply> {
    return {
      ...forwarded(inner),
      admit: (change, operation) => {
        const range = rangeToCompare(change);
        if (range && this.#compared.get(operation) !== JSON.stringify(range))
          return { kind: "wait", supply: () => this.#compare(range, change, operation) };
        return inner.admit?.(change, operation) ?? { kind: "go" };
      },
      ended: (operation) => {
        inner.ended?.(operation);
        this.#underWay.delete(operation);
      },
    };
  }

  /**
   * What the range would meet, as the end of a sentence; undefined = nothing. For ranges that pools see already, without a write.
   *
   * @throws where the book does not answer
   */
  async met(range: RangeOfServices): Promise<string | undefined> {
    return textOf(await this.#ask(range));
  }

  async #ask(range: RangeOfServices): Promise<PoolAnswer> {
    if (!(await this.ports.hasPools())) return { kind: "done" };
    try {
      return await askPastLost(this.ports, { does: "meet", ranges: factsOfRange(range) });
    } catch (error) {
      // A store of a release before pools has none.
      if (isUnsupported(error)) return { kind: "done" };
      throw error;
    }
  }

  async #compare(range: RangeOfServices, { after, dryRun }: ProposedChange, operation: object): Promise<Status | undefined> {
    const { metadata, spec } = after as ServiceCIDR;
    // A dry run comes to nothing: no pool has to make room for it.
    if (!dryRun) this.#underWay.set(operation, { ...range, isUnderWay: true });
    try {
      const answer = await this.#ask(range);
      const met = textOf(answer);
      this.#compared.set(operation, JSON.stringify(range));
      if (met === undefined) return undefined;
      // Of two that come at once each may meet the other. Neither may hear that it is wrong: one of them can come when it is tried again.
      if ("isUnderWay" in answer && answer.isUnderWay)
        return serviceUnavailable(`the range ${met}, whose write is under way, try again later`, RETRY_AFTER_SECONDS);
      return invalid(serviceCIDRsDefinition, metadata?.name ?? "", [invalidValue("spec.cidrs", spec?.cidrs ?? [], met)]);
    } catch (error) {
      if (isProgramFault(error)) throw error;
      return serviceUnavailable("the range cannot be compared with the pools of the cluster now, try again later", RETRY_AFTER_SECONDS);
    }
  }
}

/** What a write adds to the addresses of Services; undefined = nothing. */
function rangeToCompare({ after, before }: ProposedChange): RangeOfServices | undefined {
  if (!after) return undefined;
  const { metadata, spec } = after as ServiceCIDR;
  const natDomain = natDomainOf(after);
  const known = before && natDomainOf(before) === natDomain ? ((before as ServiceCIDR).spec?.cidrs ?? []) : [];
  const cidrs = (spec?.cidrs ?? []).filter((cidr) => !known.includes(cidr));
  return cidrs.length > 0 ? { name: metadata?.name ?? "", natDomain, cidrs } : undefined;
}

function textOf(answer: PoolAnswer): string | undefined {
  switch (answer.kind) {
    case "done":
      return undefined;
    case "overlaps":
      return `overlaps with ${poolText(answer.pool)}`;
    case "held":
      return `IPAddress ${JSON.stringify(answer.by)} of ${poolText(answer.pool)} has ${answer.address}`;
    default:
      throw new Error(`the book of pools answers ${answer.kind}`);
  }
}
