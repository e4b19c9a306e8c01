/** The allocator of one CIDR. */
import { ok, type Result } from "../../core/base/result";
import type { Address } from "../../core/net/address";
import { formatPrefix, parsePrefix, type Prefix, type PrefixError } from "../../core/net/prefix";
import { isUsableIn } from "../../core/net/usable";
import type { CidrUsage } from "../../addresses/metrics/allocator-families";
import type { AllocatorError } from "./allocator-error";
import { type AllocatorPorts, PoolAllocator } from "./pool-allocator";

/** The CIDR has any length: a /31, /32 or /128 is always full. */
export class RangeAllocator extends PoolAllocator {
  readonly cidr: string;
  readonly #prefix: Prefix;

  /** `cidr` in canonical form. */
  static of(cidr: string, ports: AllocatorPorts): Result<RangeAllocator, PrefixError> {
    const parsed = parsePrefix(cidr);
    return parsed.ok ? ok(new RangeAllocator(parsed.value, ports)) : parsed;
  }

  private constructor(prefix: Prefix, ports: AllocatorPorts) {
    super(prefix.family, ports);
    this.#prefix = prefix;
    this.cidr = formatPrefix(prefix);
    this.pool.configure([prefix], [prefix]);
  }

  /** The gauges. */
  usage(): CidrUsage[] {
    return this.destroyed ? [] : [this.usageOf(this.#prefix)];
  }

  protected get shown(): Prefix | undefined {
    return this.destroyed ? undefined : this.#prefix;
  }

  protected get cidrs(): readonly string[] {
    return [this.cidr];
  }

  protected cidrOf(): string {
    return this.cidr;
  }

  protected refusalOf({ family, value, canonical }: Address): AllocatorError | undefined {
    return isUsableIn(this.#prefix, family, value) ? undefined : { reason: "notInRange", address: canonical, cidr: this.cidr };
  }
}
