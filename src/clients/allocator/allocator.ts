/**
 * Allocators of Service addresses as a library: the Interface of KEP-1880 over the bitmaps of the server's owners, in plain memory and without a
 * Worker. `RangeAllocator` serves one CIDR, `MetaAllocator` all ServiceCIDRs of a family. docs/allocator.md has an example.
 */
import type { Result } from "../../core/base/result";
import type { Band } from "../../core/net/band";
import type { Family } from "../../core/net/family";
import type { PoolFree } from "../../addresses/alloc/pool";
import type { AllocationMetrics } from "../../addresses/metrics/allocation-metrics";
import type { AllocatorError } from "./allocator-error";

export interface AllocatedAddress {
  /** canonical text */
  readonly address: string;
  /** the band of the address */
  readonly scope: Band;
}

export interface Allocator {
  /** Takes this address, of either band. */
  allocate(address: string): Result<AllocatedAddress, AllocatorError>;
  /** Takes any free address: uniform over those of the dynamic band, then over those of the static band. */
  allocateNext(): Result<AllocatedAddress, AllocatorError>;
  /** Frees the address; a text that is not allocated, or is no address, is fine. */
  release(address: string): void;
  /** All taken addresses in canonical text, ascending. */
  forEach(visit: (address: string) => void): void;
  /** canonical CIDR; "" when there are several or none */
  readonly cidr: string;
  readonly ipFamily: Family;
  has(address: string): boolean;
  /** From now on nothing is given out. Taken addresses are forgotten here; records stay as they are. */
  destroy(): void;
  /** Counts into `metrics` from now on, by the CIDR of each address. */
  enableMetrics(metrics: AllocationMetrics): void;
  /** The same without effects: nothing is taken, released or counted. As upstream, a dynamic request answers the range's network address. */
  dryRun(): Allocator;
  /** Free addresses by band. */
  readonly free: PoolFree;
  /** Number of taken addresses. */
  readonly used: number;
}
