/**
 * GET /nodes/targets of one cluster: its Nodes for load balancers and for Prometheus, which poll. Where the cluster does not answer, this isolate
 * repeats its last answer, with its age: an outage of the server removes no node. The page is docs/load-balancer-haproxy.md.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { proxyHealthStub } from "../../../durable-objects/peers/peers";
import { badRequest, serviceUnavailable } from "../../api/meta/status";
import { balancerTargets, httpSdGroups } from "../../proxy-health/balancer-targets";
import type { NodeTarget } from "../../proxy-health/pushed/node-target";
import { withAge } from "../http/answer/age";
import { hashOf } from "../http/hash";
import { READY_TIMEOUT_MS, RETRY_AFTER_SECONDS } from "../http/limits";
import { queryBool } from "../http/read/query";
import { RecentMap } from "../http/recent-map";
import { jsonResponse, statusResponse } from "../http/answer/respond";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";
import { inCluster, knownIdOf } from "../routing/known-clusters";

/** Lists that an isolate keeps, of one cluster each; one of 5,000 Nodes has 2 MB. */
const LAST_LISTS_MAX = 20;

const FORMATS = ["json", "http_sd"] as const;

interface LastList {
  readonly nodes: readonly NodeTarget[];
  /** ms since the epoch */
  readonly at: number;
}

/** By the id of the cluster: the next cluster of its name has other Nodes. */
const lastLists = new RecentMap<string, LastList>(LAST_LISTS_MAX);

export interface TargetsRequest {
  env: Env;
  request: Request;
  /** its name */
  cluster: string;
  query: URLSearchParams;
}

export async function nodeTargetsResponse({ env, request, cluster, query }: TargetsRequest): Promise<Response> {
  const asked = query.get("format") ?? "json";
  const format = FORMATS.find((known) => known === asked);
  if (!format) return statusResponse(badRequest(`unknown format ${JSON.stringify(asked)}: there are ${FORMATS.join(" and ")}`));
  let isCurrent = false;
  const response = await inCluster({ env, name: cluster }, async (id) => {
    const timeoutMs = lastLists.has(id) ? READY_TIMEOUT_MS : 0;
    const answer = await call(() => proxyHealthStub(env, id).targets(), { what: "proxyHealth.targets", repeatable: true, timeoutMs });
    if (!answer.ok) return statusResponse(answer.error);
    if (!answer.value) return statusResponse(serviceUnavailable("the Nodes of the cluster could not be read yet", RETRY_AFTER_SECONDS));
    lastLists.put(id, { nodes: answer.value, at: Date.now() });
    isCurrent = true;
    return new Response(null);
  });
  // A cluster that is not there has no list.
  if (response.status >= 400 && response.status < 500) return response;
  const last = lastLists.get(knownIdOf(env, cluster));
  if (!last) return response;
  const list = await listed(last.nodes, format, { env, request, query });
  return isCurrent ? list : withAge(list, last.at);
}

async function listed(
  nodes: readonly NodeTarget[],
  format: (typeof FORMATS)[number],
  { env, request, query }: Omit<TargetsRequest, "cluster">,
): Promise<Response> {
  const config = configOf(env);
  if (!config.ok) return statusResponse(config.error);
  const { drainingTaints, featureGates } = config.value;
  const rules = { drainingTaints, drainsTerminatingNodes: featureGates.KubeProxyDrainingTerminatingNodes };
  const withDraining = queryBool(query, "draining");
  const targets = balancerTargets(nodes, rules).filter(({ draining }) => withDraining || !draining);
  const text = JSON.stringify(format === "http_sd" ? httpSdGroups(targets) : { targets });
  const etag = `"${await hashOf(text)}"`;
  const headers = { ETag: etag, "Cache-Control": "no-cache" };
  const known = (request.headers.get("If-None-Match") ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag) || known.includes("*")) return new Response(null, { status: 304, headers });
  const response = jsonResponse(200, text, "compact");
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
