import { assert, InvariantError } from "../../core/base/assert";
import type { Random } from "../../core/base/ports";
import { type Page, PAGE_BITS } from "../../core/bitmap/page";
import { SparseBitmap } from "../../core/bitmap/sparse-bitmap";
import type { Bands, Band } from "../../core/net/band";
import { type Interval, memberAt } from "../../core/net/interval";
import { hostBitsOf, type Prefix } from "../../core/net/prefix";
import { OPEN_ZONE } from "../../core/net/zones";
import { type Segment, SegmentCore, type ZonedBands } from "./segment";
import { ZonesHere } from "./zones-here";

const BANDS: readonly Band[] = ["dynamic", "static"];
const PAGE_LAST = BigInt(PAGE_BITS - 1);

/** An allocatable interval of offsets. */
interface SparseBand {
  readonly band: Band;
  readonly first: bigint;
  readonly last: bigint;
  readonly zone: SparseZone;
  free: bigint;
}

/** What a zone has here. */
interface SparseZone {
  /** ascending */
  spans: SparseBand[];
  readonly free: Record<Band, bigint>;
}

/** Segment of more than 2^28 addresses, such as an IPv6 /64. */
export class SparseSegment extends SegmentCore<SparseBitmap> implements Segment {
  /** ascending, disjoint */
  #spans: SparseBand[] = [];
  readonly #zones = new ZonesHere<SparseZone>(() => ({ spans: [], free: { dynamic: 0n, static: 0n } }));
  /** pages were loaded since the last count; counting once after all of them costs one pass instead of one per page */
  #countsStale = false;

  constructor(prefix: Prefix) {
    super(prefix, new SparseBitmap(hostBitsOf(prefix)));
  }

  configure(bands: Bands, zoned?: ZonedBands): void {
    const span = (band: Band, { first, last }: Interval, zone: SparseZone): SparseBand => {
      return { band, first: first - this.first, last: last - this.first, zone, free: 0n };
    };
    const openSpans = (band: Band): SparseBand[] => bands[band].map((interval) => span(band, interval, this.#zones.open));
    const spans = [...openSpans("dynamic"), ...openSpans("static")];
    this.#zones.clear();
    for (const band of BANDS) for (const part of zoned?.[band] ?? []) spans.push(span(band, part, this.#zones.get(part.zone)));
    this.#spans = spans.sort((a, b) => (a.first < b.first ? -1 : 1));
    this.#zones.open.spans = [];
    for (const each of this.#spans) each.zone.spans.push(each);
    this.#countsStale = true;
  }

  isTaken(address: bigint): boolean {
    return this.bitmap.isTaken(address - this.first);
  }

  bandAt(address: bigint): Band | undefined {
    return memberAt(this.#spans, address - this.first)?.band;
  }

  take(address: bigint): boolean {
    this.#count();
    const offset = address - this.first;
    if (!this.bitmap.take(offset)) return false;
    this.#change(memberAt(this.#spans, offset), -1n);
    return true;
  }

  release(address: bigint): boolean {
    this.#count();
    const offset = address - this.first;
    if (!this.bitmap.release(offset)) return false;
    this.#change(memberAt(this.#spans, offset), 1n);
    return true;
  }

  freeCount(band: Band, zone = OPEN_ZONE): bigint {
    this.#count();
    return this.#zones.find(zone)?.free[band] ?? 0n;
  }

  allocate(band: Band, random: Random, zone = OPEN_ZONE): bigint {
    this.#count();
    const span = this.#drawSpan(band, random, this.#zones.find(zone) ?? this.#zones.open);
    const offset = this.bitmap.pickFree(span.first, span.last, span.free, random);
    assert(this.bitmap.take(offset), "segment: the picked address is taken");
    this.#change(span, -1n);
    return this.first + offset;
  }

  takenIn(first: bigint, last: bigint): number {
    const low = first > this.first ? first : this.first;
    const high = last < this.last ? last : this.last;
    return this.bitmap.takenIn(low - this.first, high - this.first);
  }

  *taken(): Generator<bigint> {
    for (const offset of this.bitmap.taken()) yield this.first + offset;
  }

  loadPage(index: string, page: Page): void {
    this.bitmap.loadPage(BigInt(index), page);
    this.#countsStale = true;
  }

  verify(): void {
    this.#count();
    this.bitmap.verify();
    for (const { spans, free: counted } of this.#zones.all()) {
      const free: Record<Band, bigint> = { dynamic: 0n, static: 0n };
      for (const span of spans) {
        assert(span.free === this.bitmap.freeIn(span.first, span.last), "segment: the free count of an interval differs from the bits");
        free[span.band] += span.free;
      }
      assert(free.dynamic === counted.dynamic, "segment: the dynamic free count differs from the bits");
      assert(free.static === counted.static, "segment: the static free count differs from the bits");
    }
  }

  /** Draws an interval of the band with a probability proportional to its free addresses. */
  #drawSpan(band: Band, random: Random, zone: SparseZone): SparseBand {
    const spans = zone.spans.filter((span) => span.band === band && span.free > 0n);
    const only = spans[0];
    assert(only !== undefined, "segment: no free address in the band");
    if (spans.length === 1) return only;
    let rest = random.belowBig(zone.free[band]);
    for (const span of spans) {
      if (rest < span.free) return span;
      rest -= span.free;
    }
    throw new InvariantError("segment: not that many free addresses in the band");
  }

  #change(span: SparseBand | undefined, delta: 1n | -1n): void {
    if (span === undefined) return;
    span.free += delta;
    span.zone.free[span.band] += delta;
    assert(span.free >= 0n, "segment: fewer than no free addresses in an interval");
  }

  #count(): void {
    if (!this.#countsStale) return;
    this.#countsStale = false;
    for (const { free } of this.#zones.all()) free.dynamic = free.static = 0n;
    for (const span of this.#spans) span.free = span.last - span.first + 1n;
    // One pass over the pages, however many intervals there are: nearly every page lies wholly in one interval.
    for (const { first, page } of this.bitmap.pages()) {
      const whole = memberAt(this.#spans, first);
      if (whole !== undefined && whole.last >= first + PAGE_LAST) {
        whole.free -= BigInt(page.count);
        continue;
      }
      for (const index of page.taken()) {
        const span = memberAt(this.#spans, first + BigInt(index));
        if (span !== undefined) span.free--;
      }
    }
    for (const span of this.#spans) span.zone.free[span.band] += span.free;
  }
}
