/**
 * Allocators of Service addresses as a library: the Interface of KEP-1880 over the bitmaps of the server's owners, in plain memory and without a
 * Worker. `RangeAllocator` serves one CIDR, `MetaAllocator` (meta-allocator.ts) all ServiceCIDRs of a family. docs/allocator.md has an example.
 */
import type { Clock, Random } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import type { Scope } from "../../core/net/band";
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import { type Address, formatAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { formatPrefix, parsePrefix, type Prefix, type PrefixError } from "../../core/net/prefix";
import { isUsableIn, usableOf, usableSizeOf } from "../../core/net/usable";
import type { AllocationMetrics } from "../metrics/allocation-metrics";
import type { CidrUsage } from "../metrics/allocator-families";
import { Pool, type PoolFree } from "../alloc/pool";

/** Why no address was given out; upstream's names are ErrFull, ErrAllocated, ErrMismatchedNetwork, ErrNotInRange and ErrNotReady. */
export type AllocatorError =
  | { readonly reason: "full" | "allocated" | "mismatchedNetwork" | "notReady" }
  | { readonly reason: "notInRange"; readonly address: string; readonly cidr: string }
  /** the text is no IP address */
  | { readonly reason: "invalid"; readonly address: string }
  /** the records failed; their error as it was thrown */
  | { readonly reason: "records"; readonly error: unknown };

/** Upstream's text for an error (pkg/registry/core/service/ipallocator). */
export function allocatorErrorText(error: AllocatorError): string {
  switch (error.reason) {
    case "full":
      return "range is full";
    case "allocated":
      return "provided IP is already allocated";
    case "mismatchedNetwork":
      return "the provided network does not match the current range";
    case "notReady":
      return "allocator not ready";
    case "notInRange":
      return `the provided IP (${error.address}) is not in the valid range. The range of valid IPs is ${error.cidr}`;
    case "invalid":
      return `failed to parse service IP ${JSON.stringify(error.address)}`;
    case "records":
      return error.error instanceof Error ? error.error.message : String(error.error);
  }
}

export interface AllocatedAddress {
  /** canonical text */
  readonly address: string;
  /** the band of the address */
  readonly scope: Scope;
}

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

/** What both kinds of allocator share: the bitmap, the records beside it, and the counting. */
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
    const scope = this.pool.scopeOf(this.ipFamily, value);
    const taken = this.pool.take(this.ipFamily, value) ? this.#record(canonical, value) : ({ reason: "allocated" } as const);
    if (taken) {
      this.#metrics?.failed(this.cidrOf(value), "static");
      return err(taken);
    }
    this.#metrics?.allocated(this.cidrOf(value), "static", (this.ports.clock.now() - start) / 1_000);
    return ok({ address: canonical, scope });
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
        return ok({ address, scope: pick.scope });
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
      scopeOf: (address) => this.pool.scopeOf(this.ipFamily, address),
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

/** Allocator of one CIDR, of any length: a /31, /32 or /128 is always full. */
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

/** Answers as `allocator` would, without changing it. As upstream (ipallocator's dry run), it looks at the range only. */
class DryRunAllocator implements Allocator {
  constructor(
    private readonly allocator: Allocator,
    /** what the allocator knows at the time */
    private readonly ports: {
      shown(): Prefix | undefined;
      refusalOf(address: Address): AllocatorError | undefined;
      scopeOf(address: bigint): Scope;
    },
  ) {}

  allocate(text: string): Result<AllocatedAddress, AllocatorError> {
    const parsed = parseAddress(text);
    if (!parsed.ok || parsed.value.family !== this.ipFamily) return err({ reason: "invalid", address: text });
    const refusal = this.ports.shown() ? this.ports.refusalOf(parsed.value) : ({ reason: "notReady" } as const);
    return refusal ? err(refusal) : ok({ address: parsed.value.canonical, scope: this.ports.scopeOf(parsed.value.value) });
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
