/**
 * Requests that were ended in self-defense: refused with 429 because too many were under way, or not answered in their time. Each isolate counts its
 * own per cluster, from its start, with the labels of upstream's counter.
 * Upstream: apiserver endpoints/metrics/metrics.go (RecordRequestTermination).
 */
import type { MetricFamily } from "../../../core/telemetry/metrics";
import { type CountedRequest, type RequestLabels, labelsOf } from "../negotiate/request-labels";
import { TERMINATIONS_CLUSTERS_MAX } from "../limits";

type Labels = RequestLabels & { code: string };

export class Terminations {
  /** by cluster, by the text of the labels */
  readonly #counts = new Map<string, Map<string, { labels: Labels; value: number }>>();

  /** Counts an answer that ended its request in self-defense. `cluster` is the name that clients know. */
  note(cluster: string, asked: CountedRequest, response: Pick<Response, "status" | "headers">): void {
    if (!isTermination(response)) return;
    let counts = this.#counts.get(cluster);
    if (!counts) {
      // Clients may name any number of clusters.
      if (this.#counts.size >= TERMINATIONS_CLUSTERS_MAX) this.#counts.clear();
      this.#counts.set(cluster, (counts = new Map()));
    }
    const labels = { ...labelsOf(asked), code: String(response.status) };
    const key = Object.values(labels).join(" ");
    const count = counts.get(key) ?? { labels, value: 0 };
    count.value++;
    counts.set(key, count);
  }

  family(cluster: string): MetricFamily {
    return {
      name: "apiserver_request_terminations_total",
      type: "counter",
      help: "[ALPHA] Number of requests which apiserver terminated in self-defense.",
      samples: [...(this.#counts.get(cluster)?.values() ?? [])].map(({ labels, value }) => ({ labels: { ...labels }, value })),
    };
  }
}

/** A list of a future revision is 504 too, with a Retry-After. */
function isTermination({ status, headers }: Pick<Response, "status" | "headers">): boolean {
  return status === 429 || (status === 504 && !headers.has("Retry-After"));
}

/** One for each isolate. */
export const terminations = new Terminations();
