/**
 * What a controller counts for /metrics. Counts are one row, saved with the rows of the round that counted. Only what is saved is shown. So a
 * crash loses counts that nobody has seen, and no counter goes back. Where rows of another form are dropped, counters begin at 0.
 *
 * Gauges are sums over Services. The share of each Service is a row, so that a controller that wakes up adds up without reading a Pod or a slice.
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

export class KeptCounts {
  readonly #counters = new Map<string, CountedSeries<number>>();
  readonly #histograms = new Map<string, CountedSeries<Histogram>>();
  readonly #shares = new Map<string, Share>();

  constructor(
    private readonly rows: KeptRows,
    private readonly metrics: EndpointMetrics,
  ) {}

  load(): void {
    for (const [, counts] of this.rows.saved<EndpointCounts>(COUNTS)) {
      for (const series of counts.counters) this.#counters.set(idOf(series.name, series.labels), series);
      for (const { name, labels, value } of counts.histograms) {
        this.#histograms.set(idOf(name, labels), { name, labels, value: new Histogram(this.#boundsOf(name), value) });
      }
    }
    for (const [key, share] of this.rows.saved<Share>(SHARES)) this.#shares.set(key, share);
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
    if (!share) {
      if (!this.#shares.delete(key)) return;
      this.rows.delete(SHARES, key);
    } else if (JSON.stringify(share) !== JSON.stringify(this.#shares.get(key))) {
      this.#shares.set(key, share);
      this.rows.put(SHARES, key, share);
    } else return;
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

  #gauges(): CountedSeries<number>[] {
    const shares = [...this.#shares.values()];
    const total = (of: (share: Share) => number): number => shares.reduce((sum, share) => sum + of(share), 0);
    const users = new Map<string, number>();
    for (const { trafficDistribution: way } of shares) if (way !== undefined) users.set(way, (users.get(way) ?? 0) + 1);
    return [
      { name: "endpoints_desired", labels: {}, value: total(({ endpoints }) => endpoints) },
      { name: "num_endpoint_slices", labels: {}, value: total(({ slices }) => slices) },
      { name: "desired_endpoint_slices", labels: {}, value: total(({ slicesDesired }) => slicesDesired) },
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
