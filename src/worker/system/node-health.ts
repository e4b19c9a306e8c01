/**
 * GET /nodes/{node}/healthz, /livez and /services/{namespace}/{name}: health checks for load balancers that can only choose a path. Bodies and codes
 * are those of the node's Service proxy. Where no healthCheckNodePort answers, a node would refuse the connection; the answer here is 503. The page
 * is docs/load-balancer-health-checks.md.
 *
 * A load balancer takes every error for a node that is down. So where the cluster or the object of the node cannot answer, the last answer of this
 * isolate is given with its age (last-answers.ts). Without one the answer is that of a proxy at its start. An outage of the server turns no node red.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { nodeProxy } from "../../../durable-objects/peers/peers";
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../api/meta/names";
import { type HealthAnswer, healthAnswer, type HealthPath, serviceHealthAnswer } from "../../proxy-health/rules/health-answer";
import { badRequest, serviceUnavailable, type Status } from "../../api/meta/status";
import { isPortNumber } from "../../api/registry/port-rules";
import { err, ok, type Result } from "../../core/base/result";
import { FAMILIES, type Family } from "../../core/net/family";
import type { CountedAnswers, NodeAnswer } from "../../proxy-health/rpc";
import { withAge } from "../http/answer/age";
import { statusResponse } from "../http/answer/respond";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";
import { inCluster, knownIdOf } from "../routing/known-clusters";
import { LastAnswers } from "./last-answers";

/** A Service may get its check at any time. */
const RETRY_SECONDS = 1;
/** Load balancers give up after some seconds: where there is a last answer, the object has only so long. */
const ANSWER_TIMEOUT_MS = 3_000;

const lastAnswers = new LastAnswers();

interface NodeOfCluster {
  env: Env;
  /** its name */
  cluster: string;
  /** as it stands in the path: no name of a Node needs an escape */
  node: string;
}

/** `counted`: which answers count in /metrics. */
export function nodeHealthResponse({
  path,
  counted,
  ...place
}: NodeOfCluster & { path: HealthPath; counted: CountedAnswers }): Promise<Response> | Response {
  const { env, node } = place;
  const config = configOf(env);
  if (!config.ok) return statusResponse(config.error);
  const { KubeProxyDrainingTerminatingNodes: drains } = config.value.featureGates;
  const atStart = (nodeEligible: boolean): HealthAnswer => healthAnswer(path, { healthy: true, nodeEligible, families: {} }, Date.now());
  return lastingResponse(place, {
    key: path,
    canBe: true,
    ask: (id) => nodeProxy(env, id, node).health(node, path, counted),
    unknown: () => atStart(!drains),
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
}: NodeOfCluster & { namespace: string; name: string; family: string | null }): Promise<Response> | Response {
  const { env, node } = place;
  const known = askedFamily(family);
  if (!known.ok) return unkept(statusResponse(known.error));
  const service = { namespace, name };
  return lastingResponse(place, {
    key: `${namespace}/${name} ${family ?? ""}`,
    canBe: [namespace, name].every((part) => validateDNS1123Label(part).length === 0),
    ask: (id) => nodeProxy(env, id, node).serviceHealth(node, service, known.value),
    unknown: () => null,
    // A proxy at its start knows no endpoints.
    lost: () => serviceHealthAnswer({ ...service, localEndpoints: 0 }, true),
    refused: noCheck,
  });
}

/** What a query asks for; null = nothing. */
function askedFamily(text: string | null): Result<Family | null, Status> {
  const known = FAMILIES.find((one) => one === text) ?? null;
  return text !== null && known === null ? err(badRequest(`family: must be one of ${FAMILIES.join(", ")}`)) : ok(known);
}

/** What answers on a port of the node besides its proxy's own. `refused`: nothing does; `served`: something does, in place of its answer. */
export function portHealthResponse({
  port,
  family,
  refused,
  served,
  ...place
}: NodeOfCluster & {
  port: number;
  family: string | null;
  refused: () => Promise<Response>;
  served?: () => Response;
}): Promise<Response> | Response {
  const { env, node } = place;
  const known = askedFamily(family);
  if (!known.ok) return unkept(statusResponse(known.error));
  return lastingResponse(place, {
    key: `${port} ${family ?? ""}`,
    canBe: isPortNumber(port),
    ask: (id) => nodeProxy(env, id, node).serviceHealth(node, { port }, known.value),
    unknown: () => null,
    lost: () => null,
    refused,
    ...(served && { served }),
  });
}

interface Question {
  /** of its answer, among those of the node */
  key: string;
  /** whether there can be what is asked for, besides the node */
  canBe: boolean;
  ask(cluster: string): Promise<NodeAnswer | null>;
  /** of a name that no Node or Service can have, or a port that none has */
  unknown(): HealthAnswer | null;
  /** for want of any answer */
  lost(): HealthAnswer | null;
  /** where nothing answers */
  refused(): Response | Promise<Response>;
  /** in place of an answer */
  served?: () => Response;
}

async function lastingResponse({ env, cluster, node }: NodeOfCluster, question: Question): Promise<Response> {
  const { key, ask, unknown, lost } = question;
  // The next cluster of the name has other nodes.
  const placeIn = (id: string): string => `${id} ${node}`;
  const before = knownIdOf(env, cluster);
  const canBe = question.canBe && validateDNS1123Subdomain(node).length === 0;
  let isAnswered = false;
  const response = await inCluster({ env, name: cluster }, async (id) => {
    if (!canBe) {
      isAnswered = true;
      return rendered(unknown(), question);
    }
    const timeoutMs = lastAnswers.get(placeIn(id), key) === undefined ? 0 : ANSWER_TIMEOUT_MS;
    const askedAt = Date.now();
    const answer = await call(() => ask(id), { what: "nodeProxy.health", repeatable: true, timeoutMs });
    if (!answer.ok) return statusResponse(answer.error);
    isAnswered = true;
    lastAnswers.put(placeIn(id), key, answer.value, askedAt);
    return rendered(answer.value, question);
  });
  if (isAnswered) return response;
  if (response.status < 500) {
    lastAnswers.forget(placeIn(before));
    return unkept(response);
  }
  const last = lastAnswers.get(placeIn(knownIdOf(env, cluster)), key);
  return last ? withAge(await rendered(last.answer, question), last.at) : rendered(lost(), question);
}

async function rendered(answer: HealthAnswer | null, { refused, served }: Pick<Question, "refused" | "served">): Promise<Response> {
  if (!answer) return unkept(await refused());
  const other = served?.();
  return other ? unkept(other) : new Response(answer.body, { status: answer.code, headers: { ...answer.headers, ...UNKEPT } });
}

const UNKEPT = { "Cache-Control": "no-store" };

/** No cache may keep it. */
export function unkept(response: Response): Response {
  response.headers.set("Cache-Control", UNKEPT["Cache-Control"]);
  return response;
}

function noCheck(): Response {
  return statusResponse(serviceUnavailable("no Service of this name and family has a healthCheckNodePort", RETRY_SECONDS));
}
