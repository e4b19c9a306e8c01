/** The allocator that changes nothing. */
import { err, ok, type Result } from "../../core/base/result";
import { type Address, formatAddress, parseAddress } from "../../core/net/address";
import type { Band } from "../../core/net/band";
import type { Family } from "../../core/net/family";
import type { Prefix } from "../../core/net/prefix";
import type { PoolFree } from "../../addresses/alloc/pool";
import type { AllocatedAddress, Allocator } from "./allocator";
import type { AllocatorError } from "./allocator-error";

/** Answers as `allocator` would, without changing it. As upstream (ipallocator's dry run), it looks at the range only. */
export class DryRunAllocator implements Allocator {
  constructor(
    private readonly allocator: Allocator,
    /** what the allocator knows at the time */
    private readonly ports: {
      shown(): Prefix | undefined;
      refusalOf(address: Address): AllocatorError | undefined;
      bandOf(address: bigint): Band;
    },
  ) {}

  allocate(text: string): Result<AllocatedAddress, AllocatorError> {
    const parsed = parseAddress(text);
    if (!parsed.ok || parsed.value.family !== this.ipFamily) return err({ reason: "invalid", address: text });
    const refusal = this.ports.shown() ? this.ports.refusalOf(parsed.value) : ({ reason: "notReady" } as const);
    return refusal ? err(refusal) : ok({ address: parsed.value.canonical, scope: this.ports.bandOf(parsed.value.value) });
  }

  allocateNext(): Result<AllocatedAddress, AllocatorError> {
    const shown = this.ports.shown();
    return shown ? ok({ address: formatAddress(shown.family, shown.base), scope: "dynamic" }) : err({ reason: "notReady" });
  }

  release(): void {}

  forEach(visit: (address: string) => void): void {
    this.allocator.forEach(visit);
  }

  get cidr(): string {
    return this.allocator.cidr;
  }

  get ipFamily(): Family {
    return this.allocator.ipFamily;
  }

  has(address: string): boolean {
    return this.allocator.has(address);
  }

  destroy(): void {}

  enableMetrics(): void {}

  dryRun(): Allocator {
    return this;
  }

  get free(): PoolFree {
    return this.allocator.free;
  }

  get used(): number {
    return this.allocator.used;
  }
}
