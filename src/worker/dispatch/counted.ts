/** Answers to requests for resources: each is counted by the metrics, and gets its warnings. */
import { type CountedRequest, dryRunLabel } from "../http/negotiate/request-labels";
import { nowNoted } from "../http/connection/process-start";
import { fleetMetrics } from "../http/connection/fleet";
import { requestMetrics } from "../http/connection/request-metrics";
import { terminations } from "../http/connection/terminations";
import { warned } from "../http/answer/respond";
import type { RequestUrl } from "../http/read/request-url";
import type { RequestInfo } from "../routing/request-info";

/** Counts the answer of the request, and hands it on. */
export type Count = (response: Response) => Response;

/** Begins the time of the request. `warnings`: of every answer. */
export function counting({ cluster, query }: RequestUrl, asked: CountedRequest, warnings: readonly string[]): Count {
  const dryRun = dryRunLabel(query);
  const begunMs = nowNoted();
  return (response) => {
    requestMetrics.note(cluster, asked, dryRun, response.status, Math.max(0, Date.now() - begunMs) / 1000);
    terminations.note(cluster, asked, response);
    fleetMetrics.addRequest(asked, response.status);
    return warned(response, warnings);
  };
}

/** The warnings of a resource whose version is deprecated. */
export function deprecationsOf({ definition, version }: RequestInfo): string[] {
  const text = definition.deprecations?.[version];
  return text === undefined ? [] : [text];
}
