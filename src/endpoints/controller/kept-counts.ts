/**
 * What a controller counts for /metrics. Counts are one row, saved with the rows of the round that counted. Only what is saved is shown. So a
 * crash loses counts that nobody has seen, and no counter goes back. Where rows of another form are dropped, counters begin at 0.
 *
 * Gauges are sums over Services. The share of each Service is a row, so that a controller that wakes up adds up without reading a Pod or a slice. Memory
 * has the sums alone.
 */
import { Histogram } from "../../core/telemetry/histogram";
import type { EndpointMetrics } from "../metrics/endpoint-families";
import type { CountedSeries, EndpointCounts } from "../rpc/endpoint-counts";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";

const COUNTS = "counts";
const SHARES = "shares";

/** What one Service, or one Endpoints object, adds to the gauges. */
export interface Share {
  readonly endpoints: number;
  /** slices after the writes */
  readonly slices: number;
  /** slices if each were full */
  readonly slicesDesired: number;
  readonly trafficDistribution?: string;
}

type Labels = Record<string, string>;

/** Of all shares. */
interface Sums {
  endpoints: number;
  slices: number;
  slicesDesired: number;
  /** Services by their trafficDistribution */
  readonly users: Map<string, number>;
}

function noSums(): Sums {
  return { endpoints: 0, slices: 0, slicesDesired: 0, users: new Map() };
}

export class KeptCounts {
  readonly #counters = new Map<string, CountedSeries<number>>();
  readonly #histograms = new Map<string, CountedSeries<Histogram>>();
  #sums = noSums();

  constructor(
    private readonly rows: KeptRows,
    private readonly metrics: EndpointMetrics,
  ) {
    rows.loadInto(SHARES, {
      begin: () => (this.#sums = noSums()),
      take: (_, share) => this.#add(share as Share, 1),
    });
  }

  load(): void {
    for (const [, counts] of this.rows.saved<EndpointCounts>(COUNTS)) {
      for (const series of counts.counters) this.#counters.set(idOf(series.name, series.labels), series);
      for (const { name, labels, value } of counts.histograms) {
        this.#histograms.set(idOf(name, labels), { name, labels, value: new Histogram(this.#boundsOf(name), value) });
      }
    }
  }

  /** One more on the counter. */
  count(name: string, labels: Labels): void {
    const id = idOf(name, labels);
    const series = this.#counters.get(id);
    if (series) series.value++;
    else this.#counters.set(id, { name, labels, value: 1 });
    this.#changed();
  }

  observe(name: string, value: number, labels: Labels = {}): void {
    const id = idOf(name, labels);
    const series = this.#histograms.get(id) ?? { name, labels, value: new Histogram(this.#boundsOf(name)) };
    this.#histograms.set(id, series);
    series.value.observe(value);
    this.#changed();
  }

  /** What the Service adds to the gauges from now on; undefined = nothing. */
  share(key: string, share: Share | undefined): void {
    const before = this.rows.get<Share>(SHARES, key);
    if (JSON.stringify(share) === JSON.stringify(before)) return;
    if (before) this.#add(before, -1);
    if (share) {
      this.#add(share, 1);
      this.rows.put(SHARES, key, share, before === undefined);
    } else this.rows.delete(SHARES, key);
    this.#changed();
  }

  /** All counts of now; a saved row has them of the time when it was saved. */
  toJSON(): EndpointCounts {
    return {
      counters: [...this.#counters.values()],
      gauges: this.#gauges(),
      histograms: [...this.#histograms.values()].map((series) => ({ ...series, value: series.value.value })),
    };
  }

  /** `sign`: 1 or -1 */
  #add(share: Share, sign: number): void {
    const sums = this.#sums;
    for (const sum of ["endpoints", "slices", "slicesDesired"] as const) sums[sum] += sign * share[sum];
    const { trafficDistribution: way } = share;
    if (way === undefined) return;
    const users = (sums.users.get(way) ?? 0) + sign;
    if (users > 0) sums.users.set(way, users);
    else sums.users.delete(way);
  }

  #gauges(): CountedSeries<number>[] {
    const { endpoints, slices, slicesDesired, users } = this.#sums;
    return [
      { name: "endpoints_desired", labels: {}, value: endpoints },
      { name: "num_endpoint_slices", labels: {}, value: slices },
      { name: "desired_endpoint_slices", labels: {}, value: slicesDesired },
      ...[...users].map(([way, value]) => ({
        name: "services_count_by_traffic_distribution",
        labels: { traffic_distribution: way },
        value,
      })),
    ];
  }

  #boundsOf(name: string): readonly number[] {
    return this.metrics.families[name]?.bounds ?? [];
  }

  /** The row is printed when the round is saved, with everything that was counted until then. */
  #changed(): void {
    this.rows.put(COUNTS, "", this);
  }
}

/** The counts as they are saved. */
export function savedCounts(storage: Pick<RowStorage, "rows">): EndpointCounts {
  const [row] = storage.rows(COUNTS);
  return row ? (JSON.parse(row[1]) as EndpointCounts) : { counters: [], gauges: [], histograms: [] };
}

function idOf(name: string, labels: Labels): string {
  return `${name} ${JSON.stringify(labels)}`;
}
