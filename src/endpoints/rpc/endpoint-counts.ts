import type { HistogramValue } from "../../core/telemetry/histogram";

/** One series of a metric, whose name has no prefix. */
export interface CountedSeries<Value> {
  name: string;
  labels: Record<string, string>;
  value: Value;
}

/** What a controller of slices has counted since its cluster began, and what is there now. Only series that have occurred. */
export interface EndpointCounts {
  counters: CountedSeries<number>[];
  gauges: CountedSeries<number>[];
  histograms: CountedSeries<HistogramValue>[];
}

export interface EndpointCountsRpc {
  /** Reads one row, and begins no pass. null = the controller is switched off. */
  endpointCounts(): Promise<EndpointCounts | null>;
}
