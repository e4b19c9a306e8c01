/** What every kind of allocator is built on: the bitmap, the records beside it, and the counting. */
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import type { Clock, Random } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import { type Address, formatAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { formatPrefix, type Prefix } from "../../core/net/prefix";
import { usableOf, usableSizeOf } from "../../core/net/usable";
import { Pool, type PoolFree } from "../../addresses/alloc/pool";
import type { AllocationMetrics } from "../../addresses/metrics/allocation-metrics";
import type { CidrUsage } from "../../addresses/metrics/allocator-families";
import type { AllocatedAddress, Allocator } from "./allocator";
import type { AllocatorError } from "./allocator-error";
import { DryRunAllocator } from "./dry-run-allocator";

/**
 * The records of allocated addresses, such as the IPAddress objects of an API server. They decide whether an address was free; `create` throws
 * when it cannot tell.
 */
export interface AddressRecords {
  create(address: string): "created" | "exists";
  /** deleting a missing record is fine */
  delete(address: string): void;
}

export interface AllocatorPorts {
  random: Random;
  clock: Pick<Clock, "now">;
  /** absent: memory alone decides */
  records?: AddressRecords;
}

/** The parts of an IPAddress object that an allocator reads. */
export interface StoredAddress {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
}

export abstract class PoolAllocator implements Allocator {
  protected pool: Pool;
  protected destroyed = false;
  #metrics: AllocationMetrics | undefined;

  constructor(
    readonly ipFamily: Family,
    protected readonly ports: AllocatorPorts,
  ) {
    this.pool = new Pool(ports.random);
  }

  abstract readonly cidr: string;
  /** why a static request is refused before the records are asked; undefined = it may be tried */
  protected abstract refusalOf(address: Address): AllocatorError | undefined;
  /** the CIDR under which the address is counted */
  protected abstract cidrOf(address: bigint): string;
  /** CIDRs that a dynamic request found full */
  protected abstract readonly cidrs: readonly string[];
  /** the range whose network address stands for a dynamic one in a dry run; undefined = nothing is ready */
  protected abstract readonly shown: Prefix | undefined;

  allocate(text: string): Result<AllocatedAddress, AllocatorError> {
    const start = this.ports.clock.now();
    const address = this.#parse(text);
    if (!address) return err({ reason: "invalid", address: text });
    const refusal = this.destroyed ? ({ reason: "notReady" } as const) : this.refusalOf(address);
    if (refusal) return err(refusal);
    const { value, canonical } = address;
    const band = this.pool.bandOf(this.ipFamily, value);
    const taken = this.pool.take(this.ipFamily, value) ? this.#record(canonical, value) : ({ reason: "allocated" } as const);
    if (taken) {
      this.#metrics?.failed(this.cidrOf(value), "static");
      return err(taken);
    }
    this.#metrics?.allocated(this.cidrOf(value), "static", (this.ports.clock.now() - start) / 1_000);
    return ok({ address: canonical, scope: band });
  }

  allocateNext(): Result<AllocatedAddress, AllocatorError> {
    if (this.destroyed) return err({ reason: "notReady" });
    const start = this.ports.clock.now();
    for (;;) {
      const pick = this.pool.allocateDynamic(this.ipFamily);
      if (pick === undefined) {
        for (const cidr of this.cidrs) this.#metrics?.failed(cidr, "dynamic");
        return err({ reason: "full" });
      }
      const address = formatAddress(this.ipFamily, pick.address);
      const refusal = this.#record(address, pick.address);
      if (!refusal) {
        this.#metrics?.allocated(this.cidrOf(pick.address), "dynamic", (this.ports.clock.now() - start) / 1_000);
        return ok({ address, scope: pick.band });
      }
      this.#metrics?.failed(this.cidrOf(pick.address), "dynamic");
      // Somebody else has the address. Its bit stays taken, so the next pick is another address.
      if (refusal.reason !== "allocated") return err(refusal);
    }
  }

  release(text: string): void {
    const address = this.#parse(text);
    if (!address || !this.pool.isOwned(this.ipFamily, address.value)) return;
    this.ports.records?.delete(address.canonical);
    this.pool.release(this.ipFamily, address.value);
  }

  forEach(visit: (address: string) => void): void {
    for (const { address } of [...this.pool.taken(this.ipFamily)]) visit(formatAddress(this.ipFamily, address));
  }

  has(text: string): boolean {
    const address = this.#parse(text);
    return address !== undefined && this.pool.isTaken(this.ipFamily, address.value);
  }

  destroy(): void {
    this.destroyed = true;
    this.pool = new Pool(this.ports.random);
  }

  enableMetrics(metrics: AllocationMetrics): void {
    this.#metrics = metrics;
  }

  dryRun(): Allocator {
    return new DryRunAllocator(this, {
      shown: () => this.shown,
      refusalOf: (address) => this.refusalOf(address),
      bandOf: (address) => this.pool.bandOf(this.ipFamily, address),
    });
  }

  get free(): PoolFree {
    return this.pool.free(this.ipFamily);
  }

  get used(): number {
    return this.pool.takenCount();
  }

  /**
   * Takes the addresses of IPAddress objects that lie inside and that an allocator made (by their labels, as upstream). Answers their number. To
   * be called once at the start, when there are records already.
   */
  load(objects: Iterable<StoredAddress>): number {
    let loaded = 0;
    for (const { metadata } of objects) {
      const labels = metadata?.labels ?? {};
      if (labels[MANAGED_BY_LABEL] !== ALLOCATOR_NAME || labels[FAMILY_LABEL] !== this.ipFamily) continue;
      const address = this.#parse(metadata?.name ?? "");
      if (!address || !this.pool.isOwned(this.ipFamily, address.value)) continue;
      if (this.pool.take(this.ipFamily, address.value)) loaded++;
    }
    return loaded;
  }

  /** The gauges of one CIDR; an address in several CIDRs counts in each. */
  protected usageOf(prefix: Prefix): CidrUsage {
    const usable = usableOf(prefix);
    const allocated = usable ? this.pool.takenIn(this.ipFamily, usable.first, usable.last) : 0;
    return { cidr: formatPrefix(prefix), allocated, available: Number(usableSizeOf(prefix) - BigInt(allocated)) };
  }

  /** Records an address whose bit is taken; undefined = done. After a fault the bit is free again. */
  #record(text: string, address: bigint): AllocatorError | undefined {
    try {
      return (this.ports.records?.create(text) ?? "created") === "created" ? undefined : { reason: "allocated" };
    } catch (error) {
      this.pool.release(this.ipFamily, address);
      return { reason: "records", error };
    }
  }

  #parse(text: string): Address | undefined {
    const parsed = parseAddress(text);
    return parsed.ok && parsed.value.family === this.ipFamily ? parsed.value : undefined;
  }
}
