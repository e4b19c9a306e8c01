/**
 * GET /nodes/{node}/healthz and /livez: what a load balancer asks that may only choose a path. Bodies and codes are those of the node's Service proxy.
 * The page is docs/load-balancer-health-checks.md.
 *
 * A load balancer takes every error for a node that is down. So where the cluster or the object of the node cannot answer, the last answer of this
 * isolate goes on, and without one that of a proxy at its start. An outage of the server turns no node red.
 */
import { configOf, type Env } from "../../../durable-objects/env";
import { nodeProxy } from "../../../durable-objects/peers";
import { validateDNS1123Subdomain } from "../../api/meta/names";
import { type HealthAnswer, healthAnswer, type HealthPath } from "../../api/meta/proxy-health";
import { statusResponse } from "../http/respond";
import { call } from "../routing/call";
import { inCluster } from "../routing/known-clusters";

/** Of an isolate. One has less than 1 KB. Beyond it the one goes that was asked for least recently. */
const LAST_ANSWERS_MAX = 5_000;
/** Load balancers give up after some seconds: where there is a last answer, the object has only so long. */
const ANSWER_TIMEOUT_MS = 3_000;

const lastAnswers = new Map<string, HealthAnswer>();

interface Asked {
  env: Env;
  /** its name */
  cluster: string;
  /** as it stands in the path: no name of a Node needs an escape */
  node: string;
  path: HealthPath;
}

export async function nodeHealthResponse({ env, cluster, node, path }: Asked): Promise<Response> {
  const key = `${cluster} ${node} ${path}`;
  const isName = validateDNS1123Subdomain(node).length === 0;
  let isAnswered = false;
  const response = await inCluster({ env, name: cluster, begins: false }, async (id) => {
    if (!isName) {
      isAnswered = true;
      const nodeEligible = !configOf(env).featureGates.KubeProxyDrainingTerminatingNodes;
      return rendered(healthAnswer(path, { healthy: true, nodeEligible, families: {} }, Date.now()));
    }
    const attempt = () => nodeProxy(env, id, node).health(node, path);
    const timeoutMs = lastAnswers.has(key) ? ANSWER_TIMEOUT_MS : 0;
    const answer = await call(attempt, { what: "nodeProxy.health", repeatable: true, timeoutMs });
    if (!answer.ok) return statusResponse(answer.error);
    isAnswered = true;
    keep(key, answer.value);
    return rendered(answer.value);
  });
  if (isAnswered) return response;
  if (response.status < 500) {
    lastAnswers.delete(key);
    return response;
  }
  return rendered(lastAnswers.get(key) ?? healthAnswer(path, { healthy: true, nodeEligible: true, families: {} }, Date.now()));
}

function keep(key: string, answer: HealthAnswer): void {
  lastAnswers.delete(key);
  lastAnswers.set(key, answer);
  if (lastAnswers.size <= LAST_ANSWERS_MAX) return;
  for (const oldest of lastAnswers.keys()) {
    lastAnswers.delete(oldest);
    return;
  }
}

function rendered({ code, headers, body }: HealthAnswer): Response {
  return new Response(body, { status: code, headers: { ...headers, "Cache-Control": "no-store" } });
}
