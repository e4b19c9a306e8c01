/**
 * What one isolate counts for the whole deployment. Its counts since the last point go into a dataset as one point: at most one a minute, and none
 * while nothing happens. `GET /metrics` has one cluster's counters in more detail; this has all clusters' in a few numbers.
 */

/** The numbers of a point, in this order: queries know them by their places, so the list only grows at its end. Places begin at 1. */
export const FLEET_COUNTS = [
  /** requests for resources, by their codes */
  "requests2xx",
  "requests4xx",
  "requests429",
  "requests5xx",
  /** objects created: of other kinds than Services, and Services, each with its addresses */
  "creates",
  "serviceCreates",
  /** other writes that were taken */
  "otherWrites",
  /** watches begun */
  "watches",
  /** runs of cron, seconds that they came late in all, clusters that they visited, and tasks that failed there */
  "cronRuns",
  "cronLateSeconds",
  "cronVisits",
  "cronErrors",
  /** clusters backed up, attempts that failed, and refusals of the bucket */
  "backups",
  "backupFailures",
  "bucketRefusals",
] as const;
type FleetCount = (typeof FLEET_COUNTS)[number];

const POINT_MS = 60_000;

export class FleetMetrics {
  readonly #counts = new Map<FleetCount, number>();
  #lastMs: number | undefined;

  add(count: FleetCount, by = 1): void {
    if (by !== 0) this.#counts.set(count, (this.#counts.get(count) ?? 0) + by);
  }

  /** A request for a resource that was answered. */
  addRequest({ verb, resource }: { verb: string; resource: string }, code: number): void {
    this.add(code === 429 ? "requests429" : code >= 500 ? "requests5xx" : code >= 400 ? "requests4xx" : "requests2xx");
    if (code >= 400) return;
    if (verb === "watch") this.add("watches");
    else if (verb === "create" && code === 201) this.add(resource === "services" ? "serviceCreates" : "creates");
    else if (["update", "patch", "delete", "deletecollection"].includes(verb)) this.add("otherWrites");
  }

  /** The numbers of a point, and the counts begin anew. Undefined: there is nothing to tell, or the last point is less than a minute old. */
  take(nowMs: number, isDue = false): number[] | undefined {
    if (this.#counts.size === 0) return undefined;
    if (!isDue && this.#lastMs !== undefined && nowMs - this.#lastMs < POINT_MS) return undefined;
    this.#lastMs = nowMs;
    const numbers = FLEET_COUNTS.map((count) => this.#counts.get(count) ?? 0);
    this.#counts.clear();
    return numbers;
  }
}
