/**
 * The paths of Nodes that are this server's own, as OpenAPI v3. What the server publishes leaves them out, because they are no Kubernetes objects; random
 * requests try them, too. Sources: docs/load-balancer-health-checks.md, docs/proxies.md.
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

const node = { name: "name", in: "path", required: true, schema: { type: "string" } };
const ifNoneMatch = { name: "If-None-Match", in: "header", schema: { type: "string" } };
/** A long poll may last for minutes; a second shows as much. */
const timeoutSeconds = { name: "timeoutSeconds", in: "query", schema: { type: "integer", enum: [-1, 0, 1] } };

const jsonOf = (schema: object) => ({ content: { [JSON_TYPE]: { schema } } });
const answer = (schema: object) => ({ description: "OK", ...jsonOf(schema) });

function reportBy(operationId: string) {
  return { operationId, parameters: [node], requestBody: { required: true, ...jsonOf(report) }, responses: { 200: answer(STATUS) } };
}

export const ownPaths = {
  "/api/v1/nodes/{name}/proxy-health": { put: reportBy("replaceNodeProxyHealth"), post: reportBy("createNodeProxyHealth") },
  "/api/v1/nodes/{name}/proxy-config": {
    get: {
      operationId: "readNodeProxyConfig",
      parameters: [node, ifNoneMatch, timeoutSeconds],
      responses: { 200: answer(page), 304: { description: "nothing has changed" } },
    },
  },
};
