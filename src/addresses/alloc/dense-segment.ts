import { assert, InvariantError } from "../../core/base/assert";
import type { Random } from "../../core/base/ports";
import { DenseBitmap } from "../../core/bitmap/dense-bitmap";
import type { Page } from "../../core/bitmap/page";
import type { Bands, Band } from "../../core/net/band";
import { type Interval, memberAt } from "../../core/net/interval";
import { hostBitsOf, type Prefix } from "../../core/net/prefix";
import { OPEN_ZONE } from "../../core/net/zones";
import { type Segment, SegmentCore, type ZonedBands } from "./segment";
import { ZonesHere } from "./zones-here";

const BANDS: readonly Band[] = ["dynamic", "static"];

/** An allocatable interval of offsets. */
interface DenseBand {
  readonly band: Band;
  readonly first: number;
  readonly last: number;
  readonly zone: DenseZone;
  taken: number;
}

/** What a zone has here. */
interface DenseZone {
  /** ascending */
  spans: DenseBand[];
  readonly free: Record<Band, number>;
}

/** Segment of up to 2^28 addresses: bigint only at the edges, numbers inside. */
export class DenseSegment extends SegmentCore<DenseBitmap> implements Segment {
  /** ascending, disjoint */
  #spans: DenseBand[] = [];
  readonly #zones = new ZonesHere<DenseZone>(() => ({ spans: [], free: { dynamic: 0, static: 0 } }));
  /** pages were loaded since the last count; counting once after all of them costs one pass instead of one per page */
  #countsStale = false;

  constructor(prefix: Prefix) {
    super(prefix, new DenseBitmap(hostBitsOf(prefix)));
  }

  configure(bands: Bands, zoned?: ZonedBands): void {
    const span = (band: Band, { first, last }: Interval, zone: DenseZone): DenseBand => {
      return { band, first: this.#offset(first), last: this.#offset(last), zone, taken: 0 };
    };
    const openSpans = (band: Band): DenseBand[] => bands[band].map((interval) => span(band, interval, this.#zones.open));
    const spans = [...openSpans("dynamic"), ...openSpans("static")];
    this.#zones.clear();
    for (const band of BANDS) for (const part of zoned?.[band] ?? []) spans.push(span(band, part, this.#zones.get(part.zone)));
    this.#spans = spans.sort((a, b) => a.first - b.first);
    this.#zones.open.spans = [];
    for (const each of this.#spans) each.zone.spans.push(each);
    this.#countsStale = true;
  }

  isTaken(address: bigint): boolean {
    return this.bitmap.isTaken(this.#offset(address));
  }

  bandAt(address: bigint): Band | undefined {
    return memberAt(this.#spans, this.#offset(address))?.band;
  }

  take(address: bigint): boolean {
    this.#count();
    const offset = this.#offset(address);
    if (!this.bitmap.take(offset)) return false;
    const span = memberAt(this.#spans, offset);
    if (span !== undefined) this.#countTaken(span);
    return true;
  }

  release(address: bigint): boolean {
    this.#count();
    const offset = this.#offset(address);
    if (!this.bitmap.release(offset)) return false;
    const span = memberAt(this.#spans, offset);
    if (span === undefined) return true;
    span.taken--;
    span.zone.free[span.band]++;
    assert(span.taken >= 0, "segment: fewer than no taken addresses in an interval");
    return true;
  }

  freeCount(band: Band, zone = OPEN_ZONE): number {
    this.#count();
    return this.#zones.find(zone)?.free[band] ?? 0;
  }

  allocate(band: Band, random: Random, zone = OPEN_ZONE): bigint {
    let rest = random.below(this.freeCount(band, zone));
    for (const span of this.#zones.find(zone)?.spans ?? []) {
      if (span.band !== band) continue;
      const free = span.last - span.first + 1 - span.taken;
      if (rest < free) {
        const offset = this.bitmap.kthFree(span.first, span.last, rest);
        assert(this.bitmap.take(offset), "segment: the picked address is taken");
        this.#countTaken(span);
        return this.first + BigInt(offset);
      }
      rest -= free;
    }
    throw new InvariantError("segment: not that many free addresses in the band");
  }

  takenIn(first: bigint, last: bigint): number {
    const low = first > this.first ? first : this.first;
    const high = last < this.last ? last : this.last;
    return this.bitmap.takenIn(this.#offset(low), this.#offset(high));
  }

  *taken(): Generator<bigint> {
    for (const offset of this.bitmap.taken()) yield this.first + BigInt(offset);
  }

  loadPage(index: string, page: Page): void {
    this.bitmap.loadPage(Number(index), page);
    this.#countsStale = true;
  }

  verify(): void {
    this.#count();
    this.bitmap.verify();
    for (const { spans, free: counted } of this.#zones.all()) {
      const free: Record<Band, number> = { dynamic: 0, static: 0 };
      for (const span of spans) {
        assert(span.taken === this.bitmap.takenIn(span.first, span.last), "segment: the taken count of an interval differs from the bits");
        free[span.band] += span.last - span.first + 1 - span.taken;
      }
      assert(free.dynamic === counted.dynamic, "segment: the dynamic free count differs from the bits");
      assert(free.static === counted.static, "segment: the static free count differs from the bits");
    }
  }

  #countTaken(span: DenseBand): void {
    const { free } = span.zone;
    span.taken++;
    free[span.band]--;
    assert(free[span.band] >= 0, "segment: fewer than no free addresses in a band");
  }

  /** A few tree queries per interval; not on the hot path. */
  #count(): void {
    if (!this.#countsStale) return;
    this.#countsStale = false;
    for (const { free } of this.#zones.all()) free.dynamic = free.static = 0;
    for (const span of this.#spans) {
      span.taken = this.bitmap.takenIn(span.first, span.last);
      span.zone.free[span.band] += span.last - span.first + 1 - span.taken;
    }
  }

  #offset(address: bigint): number {
    return Number(address - this.first);
  }
}
