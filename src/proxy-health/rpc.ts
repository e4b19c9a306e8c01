/** What the Worker asks of the object that keeps a node's health. */
import type { HealthAnswer, HealthPath } from "../api/meta/proxy-health";
import type { Report } from "./report";

/** `unknownNode`: the API has no such Node. `unanswered`: the store of Nodes did not say whether it has. */
export type ReportResult = { ok: true } | { ok: false; reason: "unknownNode" | "unanswered" };

export interface NodeProxyRpc {
  /** keeps the report in place of the one before; durable when it answers */
  report(node: string, report: Report): Promise<ReportResult>;
  /** of any name; writes nothing for a node of which nothing is new */
  health(node: string, path: HealthPath): Promise<HealthAnswer>;
}
