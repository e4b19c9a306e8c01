/** A family of `/metrics` as a test compares it. */
import { parsePrometheus } from "../values/prometheus";
import type { Api } from "../clients/api";

/** The samples of the family, by the values of these labels with blanks between them. */
export async function metric(api: Api, family: string, ...labels: string[]): Promise<Record<string, number>> {
  const { text } = await api.get("/metrics");
  const { samples = [] } = parsePrometheus(text).get(family) ?? {};
  return Object.fromEntries(samples.map((sample) => [labels.map((label) => sample.labels[label]).join(" "), sample.value]));
}

/** The requests under way, by kind: `mutating` and `readOnly`. The question itself takes no place of a write. */
export function inFlight(api: Api): Promise<Record<string, number>> {
  return metric(api, "apiserver_current_inflight_requests", "request_kind");
}
