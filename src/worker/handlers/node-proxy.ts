/**
 * `/api/v1/nodes/{id}/proxy[/{path}]`: the answers of the node's Service proxy on its health port and on the ports of checks of Services. The id is a
 * Node's name, with an optional port and scheme. Any other port answers as if nothing listened there. Upstream: pkg/registry/core/node/rest/proxy.go.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { storeStub } from "../../../durable-objects/peers/peers";
import type { Node } from "../../api/meta/kubernetes";
import type { HealthPath } from "../../proxy-health/rules/health-answer";
import { badRequest, type Status, unclassified, unreachable } from "../../api/meta/status";
import { storedResource } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { StoreRpc } from "../../api/rpc/store";
import { err, ok, type Result } from "../../core/base/result";
import { type NodeId, parseNodeId, portOf, PROXY_HEALTH_PORT, refusedDial } from "../../proxy-health/node-connection";
import { clusterName } from "../../tenancy/cluster-id";
import { splitTarget } from "../http/read/request-url";
import { pageNotFound, type Rendering, statusResponse } from "../http/answer/respond";
import { call } from "../routing/call";
import { nodeHealthResponse, portHealthResponse, unkept } from "../system/node-health";

/** The longest wait for the Node, which is asked for beside each check: load balancers give up after some seconds. */
const NODE_TIMEOUT_MS = 3_000;

export interface ConnectRequest {
  env: Env;
  request: Request;
  /** id of the cluster */
  cluster: string;
  definition: ResourceDefinition;
  /** as the path has it */
  id: string;
  /** what stands behind the subresource: "" or from a slash on */
  path: string;
  query: URLSearchParams;
  /** how refusals are written */
  refusal: Rendering;
}

export type Connect = (request: ConnectRequest) => Promise<Response>;

/** Whatever it is, no cache may keep it. */
export async function nodeProxy(connect: ConnectRequest): Promise<Response> {
  return unkept(await connected(connect));
}

async function connected(connect: ConnectRequest): Promise<Response> {
  const { request, id, path, query, refusal } = connect;
  if (query.has("dryRun")) return statusResponse(badRequest("dryRun is not supported"), refusal);
  const nodeId = parseNodeId(id);
  if (!nodeId) return statusResponse(badRequest(`invalid node request ${JSON.stringify(id)}`), refusal);
  const asked = nodeOf(connect, nodeId);
  const isRedirected = path === "" && (request.method === "GET" || request.method === "HEAD");
  // Both are asked at once: a store that hangs leaves the balancer its answer in time. Only the kubelet's port is not known before its Node.
  const begun = isRedirected || nodeId.port === undefined ? undefined : answered(connect, nodeId, { path, port: nodeId.port, asked });
  // The Node counts first. What fails meanwhile is nobody's.
  begun?.catch(() => undefined);
  const found = await asked;
  // An outage of the store turns no node red: checks go on without the Node, whose kubelet's port alone is unknown.
  if (!found.ok && (found.error.code < 500 || nodeId.port === undefined)) return statusResponse(found.error, refusal);
  if (isRedirected) return redirected(request);
  return begun ?? answered(connect, nodeId, { path, port: portOf(nodeId, found.ok ? found.value : undefined), asked });
}

interface NodeProxyRequest {
  path: string;
  port: number;
  /** needed where nothing answers on the port */
  asked: Promise<Result<Node, Status>>;
}

/** What answers on the port. */
async function answered(connect: ConnectRequest, nodeId: NodeId, { path, port, asked }: NodeProxyRequest): Promise<Response> {
  const { env, cluster, query, refusal } = connect;
  if (nodeId.port === PROXY_HEALTH_PORT) return checked(connect, nodeId, path);
  return portHealthResponse({
    env,
    cluster: clusterName(cluster),
    node: nodeId.name,
    port,
    family: query.get("family"),
    refused: async () => {
      const found = await asked;
      return found.ok ? refused(found.value, port, refusal) : statusResponse(found.error, refusal);
    },
    ...(nodeId.scheme === "https" && { served: () => plainHttp(refusal) }),
  });
}

async function nodeOf({ env, cluster, definition }: ConnectRequest, { name }: NodeId): Promise<Result<Node, Status>> {
  const attempt = () => storeStub<StoreRpc>(env, cluster, storedResource(definition)).get({ namespace: "", name }, "");
  const found = await call(attempt, { what: "nodes.get", repeatable: true, timeoutMs: NODE_TIMEOUT_MS });
  if (!found.ok) return found;
  return found.value.ok ? ok(JSON.parse(found.value.object) as Node) : err(found.value.status);
}

/** As upstream: a browser resolves the page's links against the directory then. */
function redirected({ url }: Request): Response {
  const { path, query } = splitTarget(url);
  return new Response(null, { status: 301, headers: { Location: query === "" ? `${path}/` : `${path}/?${query}` } });
}

function checked({ env, cluster, refusal }: ConnectRequest, { scheme, name }: NodeId, path: string): Response | Promise<Response> {
  if (scheme === "https") return plainHttp(refusal);
  if (path !== "/healthz" && path !== "/livez") return pageNotFound();
  return nodeHealthResponse({ env, cluster: clusterName(cluster), node: name, path: path satisfies HealthPath, counted: "ofNodes" });
}

/** Health checks are plain HTTP. */
function plainHttp(refusal: Rendering): Response {
  return statusResponse(unreachable("http: server gave HTTP response to HTTPS client"), refusal);
}

function refused(node: Node, port: number, refusal: Rendering): Response {
  const dialled = refusedDial(node, port);
  return statusResponse(dialled.ok ? unreachable(dialled.value) : unclassified(dialled.error), refusal);
}
