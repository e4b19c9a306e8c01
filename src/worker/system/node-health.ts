/**
 * GET /nodes/{node}/healthz, /livez and /services/{namespace}/{name}: what a load balancer asks that may only choose a path. Bodies and codes are those
 * of the node's Service proxy. Where no healthCheckNodePort answers, a connection would be refused: that is 503.
 * The page is docs/load-balancer-health-checks.md.
 *
 * A load balancer takes every error for a node that is down. So where the cluster or the object of the node cannot answer, the last answer of this
 * isolate goes on, and without one that of a proxy at its start. An outage of the server turns no node red.
 */
import { configOf, type Env } from "../../../durable-objects/env";
import { nodeProxy } from "../../../durable-objects/peers";
import { validateDNS1123Subdomain } from "../../api/meta/names";
import { type HealthAnswer, healthAnswer, type HealthPath, serviceHealthAnswer } from "../../api/meta/proxy-health";
import { badRequest, serviceUnavailable } from "../../api/meta/status";
import { FAMILIES } from "../../core/net/family";
import { statusResponse } from "../http/respond";
import { call } from "../routing/call";
import { inCluster } from "../routing/known-clusters";

/** Of an isolate. One has less than 1 KB. Beyond it the one goes that was asked for least recently. */
const LAST_ANSWERS_MAX = 5_000;
/** A Service may get its check at any time. */
const RETRY_SECONDS = 1;
/** Load balancers give up after some seconds: where there is a last answer, the object has only so long. */
const ANSWER_TIMEOUT_MS = 3_000;

/** null = nothing answers there */
const lastAnswers = new Map<string, HealthAnswer | null>();

interface Place {
  env: Env;
  /** its name */
  cluster: string;
  /** as it stands in the path: no name of a Node needs an escape */
  node: string;
}

export function nodeHealthResponse({ path, ...place }: Place & { path: HealthPath }): Promise<Response> {
  const { env, node } = place;
  const atStart = (nodeEligible: boolean): HealthAnswer => healthAnswer(path, { healthy: true, nodeEligible, families: {} }, Date.now());
  return lastingResponse(place, {
    key: path,
    ask: (id) => nodeProxy(env, id, node).health(node, path),
    unknown: () => atStart(!configOf(env).featureGates.KubeProxyDrainingTerminatingNodes),
    lost: () => atStart(true),
    refused: noCheck,
  });
}

/** GET /nodes/{node}/services/{namespace}/{name}. `family`: of the check; null = that of the Service's first ClusterIP. */
export function serviceHealthResponse({
  namespace,
  name,
  family,
  ...place
}: Place & { namespace: string; name: string; family: string | null }): Promise<Response> | Response {
  const { env, node } = place;
  const known = FAMILIES.find((one) => one === family) ?? null;
  if (family !== null && known === null) return statusResponse(badRequest(`family: must be one of ${FAMILIES.join(", ")}`));
  const service = { namespace, name };
  return lastingResponse(place, {
    key: `${namespace}/${name} ${family ?? ""}`,
    ask: (id) => nodeProxy(env, id, node).serviceHealth(node, service, known),
    unknown: () => null,
    // A proxy at its start knows no endpoints.
    lost: () => serviceHealthAnswer({ ...service, localEndpoints: 0 }, true),
    refused: noCheck,
  });
}

/** What answers on a port of the node besides its proxy's own. `refused`: nothing does. */
export function portHealthResponse({ port, refused, ...place }: Place & { port: number; refused: () => Response }): Promise<Response> {
  const { env, node } = place;
  return lastingResponse(place, {
    key: String(port),
    ask: (id) => nodeProxy(env, id, node).serviceHealth(node, { port }, null),
    unknown: () => null,
    lost: () => null,
    refused,
  });
}

interface Question {
  /** of its answer, among those of the node */
  key: string;
  ask(cluster: string): Promise<HealthAnswer | null>;
  /** of a name that no Node can have */
  unknown(): HealthAnswer | null;
  /** for want of any answer */
  lost(): HealthAnswer | null;
  /** where nothing answers */
  refused(): Response;
}

async function lastingResponse({ env, cluster, node }: Place, { key: question, ask, unknown, lost, refused }: Question): Promise<Response> {
  const key = `${cluster} ${node} ${question}`;
  const isName = validateDNS1123Subdomain(node).length === 0;
  let isAnswered = false;
  const response = await inCluster({ env, name: cluster, begins: false }, async (id) => {
    if (!isName) {
      isAnswered = true;
      return rendered(unknown(), refused);
    }
    const timeoutMs = lastAnswers.has(key) ? ANSWER_TIMEOUT_MS : 0;
    const answer = await call(() => ask(id), { what: "nodeProxy.health", repeatable: true, timeoutMs });
    if (!answer.ok) return statusResponse(answer.error);
    isAnswered = true;
    keep(key, answer.value);
    return rendered(answer.value, refused);
  });
  if (isAnswered) return response;
  if (response.status < 500) {
    lastAnswers.delete(key);
    return response;
  }
  const last = lastAnswers.get(key);
  return rendered(last === undefined ? lost() : last, refused);
}

function keep(key: string, answer: HealthAnswer | null): void {
  lastAnswers.delete(key);
  lastAnswers.set(key, answer);
  if (lastAnswers.size <= LAST_ANSWERS_MAX) return;
  for (const oldest of lastAnswers.keys()) {
    lastAnswers.delete(oldest);
    return;
  }
}

function rendered(answer: HealthAnswer | null, refused: () => Response): Response {
  const response = answer ? new Response(answer.body, { status: answer.code, headers: answer.headers }) : refused();
  response.headers.set("Cache-Control", "no-store");
  return response;
}

function noCheck(): Response {
  return statusResponse(serviceUnavailable("no Service of this name and family has a healthCheckNodePort", RETRY_SECONDS));
}
