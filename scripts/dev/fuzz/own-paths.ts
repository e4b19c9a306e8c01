/**
 * The paths of Nodes that are this server's own, as OpenAPI v3. What the server publishes leaves them out, because they are no Kubernetes objects; random
 * requests try them, too. Not /admin/tokens, which a server without credentials refuses. Sources: docs/load-balancer-health-checks.md, docs/load-balancer-haproxy.md, docs/proxies.md.
 */
const JSON_TYPE = "application/json";
const STATUS = { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status" };

const duration = { type: "integer", minimum: 0, maximum: 315_360_000_000 };
const familyReport = {
  type: "object",
  minProperties: 1,
  additionalProperties: false,
  properties: { queuedForMs: duration, appliedAgoMs: duration, healthy: { type: "boolean" } },
};
const report = { type: "object", additionalProperties: false, properties: { IPv4: familyReport, IPv6: familyReport } };

const page = {
  type: "object",
  required: ["isFull", "services", "removed"],
  additionalProperties: false,
  properties: {
    isFull: { type: "boolean" },
    services: { type: "array", items: { type: "object" } },
    removed: { type: "array", items: { type: "object" } },
  },
};

const ifNoneMatch = { name: "If-None-Match", in: "header", schema: { type: "string" } };
/** A long poll may last for minutes; a second shows as much. */
const timeoutSeconds = { name: "timeoutSeconds", in: "query", schema: { type: "integer", enum: [-1, 0, 1] } };

const inPath = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
const text = { type: "string" };
const familyHealth = {
  type: "object",
  required: ["lastUpdated", "healthy"],
  properties: { lastUpdated: text, healthy: { type: "boolean" } },
};
const proxyHealth = {
  type: "object",
  required: ["lastUpdated", "currentTime", "healthy"],
  additionalProperties: false,
  properties: {
    lastUpdated: text,
    currentTime: text,
    nodeEligible: { type: "boolean" },
    healthy: { type: "boolean" },
    status: { type: "object", additionalProperties: familyHealth },
  },
};
const serviceHealth = {
  type: "object",
  required: ["service", "localEndpoints", "serviceProxyHealthy"],
  additionalProperties: false,
  properties: {
    service: { type: "object", required: ["namespace", "name"], properties: { namespace: text, name: text } },
    localEndpoints: { type: "integer", minimum: 0 },
    serviceProxyHealthy: { type: "boolean" },
  },
};
const target = {
  type: "object",
  required: ["node", "addresses", "healthPort", "weight", "draining"],
  additionalProperties: false,
  properties: {
    node: text,
    zone: text,
    providerID: text,
    addresses: { type: "array", items: { type: "object", required: ["type", "address", "family"] } },
    healthPort: { type: "integer" },
    weight: { type: "integer", enum: [0, 1] },
    draining: { type: "boolean" },
  },
};
const targets = { type: "object", required: ["targets"], properties: { targets: { type: "array", items: target } } };
const httpSdGroups = { type: "array", items: { type: "object", required: ["targets", "labels"] } };

const jsonOf = (schema: object) => ({ content: { [JSON_TYPE]: { schema } } });
const answer = (schema: object) => ({ description: "OK", ...jsonOf(schema) });

function reportBy(operationId: string) {
  return {
    operationId,
    parameters: [inPath("name")],
    requestBody: { required: true, ...jsonOf(report) },
    responses: { 200: answer(STATUS) },
  };
}

/** A check says no with 503, which is no fault. */
function checkBy(operationId: string, parameters: object[], yes: object, no: object) {
  return { get: { operationId, parameters, responses: { 200: answer(yes), 503: answer(no) } } };
}

export const ownPaths = {
  "/nodes/{node}/healthz": checkBy("readNodeHealthz", [inPath("node")], proxyHealth, proxyHealth),
  "/nodes/{node}/livez": checkBy("readNodeLivez", [inPath("node")], proxyHealth, proxyHealth),
  "/nodes/{node}/services/{namespace}/{name}": checkBy(
    "readNodeServiceHealth",
    [
      ...["node", "namespace", "name"].map(inPath),
      { name: "family", in: "query", schema: { type: "string", enum: ["IPv4", "IPv6", "IPv5"] } },
    ],
    serviceHealth,
    { anyOf: [serviceHealth, STATUS] },
  ),
  "/nodes/targets": {
    get: {
      operationId: "listNodeTargets",
      parameters: [
        ifNoneMatch,
        { name: "format", in: "query", schema: { type: "string", enum: ["json", "http_sd", "xml"] } },
        { name: "draining", in: "query", schema: { type: "boolean" } },
      ],
      responses: { 200: answer({ anyOf: [targets, httpSdGroups] }), 304: { description: "nothing has changed" } },
    },
  },
  "/api/v1/nodes/{name}/proxy-health": { put: reportBy("replaceNodeProxyHealth"), post: reportBy("createNodeProxyHealth") },
  "/api/v1/nodes/{name}/proxy-config": {
    get: {
      operationId: "readNodeProxyConfig",
      parameters: [inPath("name"), ifNoneMatch, timeoutSeconds],
      responses: { 200: answer(page), 304: { description: "nothing has changed" } },
    },
  },
};
