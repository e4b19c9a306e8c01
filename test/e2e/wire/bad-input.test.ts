import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkState } from "../../support/checks/checkers";
import { observe } from "../../support/server/observe";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();
beforeAll(async () => {
  expect((await send("POST", "/api/v1/namespaces/default/services", service("there"))).code).toBe(201);
});
afterAll(async () => {
  // After all refusals nothing is half-written, and the server still serves.
  const { services, ...rest } = await observe(cluster.url);
  expect(checkState({ services, ...rest })).toEqual([]);
  expect(services.map((s) => s.metadata?.name).sort()).toEqual(["kubernetes", "there"]);
});

const services = "/api/v1/namespaces/default/services";
const service = (name: string, more: object = {}) => JSON.stringify({ metadata: { name, ...more }, spec: { ports: [{ port: 80 }] } });

interface Answer {
  code: number;
  type: string;
  text: string;
  status: { kind?: string; status?: string; reason?: string; code?: number; message?: string; details?: Record<string, unknown> };
}

/** One request with the path exactly as written (fetch would normalise it). */
function send(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = { "Content-Type": "application/json" },
  prefix = cluster.path,
): Promise<Answer> {
  const { hostname, port } = new URL(cluster.origin);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path: prefix + path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", reject);
      response.on("end", () => {
        const type = response.headers["content-type"] ?? "";
        resolve({
          code: response.statusCode ?? 0,
          type,
          text,
          status: type.includes("json") ? (JSON.parse(text) as Answer["status"]) : {},
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

type Row = [
  name: string,
  method: string,
  path: string,
  body: string | undefined,
  headers: Record<string, string> | undefined,
  code: number,
  reason: string,
  message: string | RegExp,
];

const rows: Row[] = [
  [
    "a truncated body",
    "POST",
    services,
    '{"metadata":{"name":"a"',
    undefined,
    400,
    "BadRequest",
    /^the object provided is unrecognized|cannot be handled as a Service/,
  ],
  [
    "a body that is no JSON",
    "POST",
    services,
    "name: a",
    undefined,
    400,
    "BadRequest",
    /^the object provided is unrecognized|cannot be handled as a Service/,
  ],
  ["an empty body", "POST", services, "", undefined, 400, "BadRequest", /./],
  ["a JSON array", "POST", services, "[]", undefined, 400, "BadRequest", /./],
  [
    "a wrong content type",
    "POST",
    services,
    service("a"),
    { "Content-Type": "text/plain" },
    415,
    "UnsupportedMediaType",
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  ],
  [
    "a wrong patch type",
    "PATCH",
    `${services}/there`,
    "{}",
    { "Content-Type": "application/json" },
    415,
    "UnsupportedMediaType",
    "415: Unsupported Media Type",
  ],
  [
    "an Accept that is not served",
    "GET",
    `${services}/there`,
    undefined,
    { Accept: "text/html" },
    406,
    "NotAcceptable",
    /^406: Not Acceptable\n\nAvailable representations: application\/json, /,
  ],
  ["a wrong kind", "POST", services, '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}', undefined, 400, "BadRequest", /Pod/],
  [
    "a wrong apiVersion",
    "POST",
    services,
    '{"kind":"Service","apiVersion":"v2","metadata":{"name":"a"}}',
    undefined,
    400,
    "BadRequest",
    /v2/,
  ],
  [
    "another name in the body than in the URL",
    "PUT",
    `${services}/there`,
    service("other"),
    undefined,
    400,
    "BadRequest",
    "the name of the object (other) does not match the name on the URL (there)",
  ],
  [
    "another namespace in the body than in the URL",
    "POST",
    services,
    service("a", { namespace: "kube-system" }),
    undefined,
    400,
    "BadRequest",
    "the namespace of the provided object does not match the namespace sent on the request",
  ],
  [
    "no name",
    "POST",
    services,
    '{"metadata":{},"spec":{"ports":[{"port":80}]}}',
    undefined,
    422,
    "Invalid",
    /^Service "" is invalid: metadata\.name: Required value: name or generateName is required/,
  ],
  [
    "a name that is no DNS label",
    "POST",
    services,
    service("A_b"),
    undefined,
    422,
    "Invalid",
    /^Service "A_b" is invalid: metadata\.name: Invalid value: "A_b"/,
  ],
  [
    "a namespace that does not exist",
    "POST",
    "/api/v1/namespaces/nowhere/services",
    service("a"),
    undefined,
    404,
    "NotFound",
    'namespaces "nowhere" not found',
  ],
  ["a name that exists", "POST", services, service("there"), undefined, 409, "AlreadyExists", 'services "there" already exists'],
  ["an object that does not exist", "GET", `${services}/nobody`, undefined, undefined, 404, "NotFound", 'services "nobody" not found'],
  [
    "an unknown resource",
    "GET",
    "/api/v1/namespaces/default/widgets",
    undefined,
    undefined,
    404,
    "NotFound",
    "the server could not find the requested resource",
  ],
  ...(
    [
      ["POST", "/apis/apps/v1/namespaces/default/deployments", "deployments.apps"],
      ["POST", "/apis/batch/v1/namespaces/default/jobs", "jobs.batch"],
      ["POST", "/api/v1/persistentvolumes", "persistentvolumes"],
      ["DELETE", "/apis/apps/v1/namespaces/default/deployments/web", "deployments.apps"],
    ] as const
  ).map(([method, path, name]): Row => [
    `${name} that are not served (${method})`,
    method,
    path,
    method === "POST" ? service("a") : undefined,
    undefined,
    404,
    "NotFound",
    `the server could not find the requested resource: ${name} is not served; see kubectl api-resources and docs/compatibility.md for what is`,
  ]),
  [
    "an unknown subresource",
    "GET",
    `${services}/there/widgets`,
    undefined,
    undefined,
    404,
    "NotFound",
    "the server could not find the requested resource",
  ],
  [
    "a verb that is not served",
    "POST",
    `${services}/there`,
    service("there"),
    undefined,
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
  ],
  [
    "an invalid label selector",
    "GET",
    `${services}?labelSelector=${encodeURIComponent("a in (")}`,
    undefined,
    undefined,
    400,
    "BadRequest",
    /unable to parse requirement|found/,
  ],
  [
    "an invalid field selector",
    "GET",
    `${services}?fieldSelector=spec.nothing%3D1`,
    undefined,
    undefined,
    400,
    "BadRequest",
    /field label not supported/,
  ],
  ["a limit that is no number", "GET", `${services}?limit=ten`, undefined, undefined, 400, "BadRequest", /./],
  ["an empty limit", "GET", `${services}?limit=`, undefined, undefined, 400, "BadRequest", 'strconv.ParseInt: parsing "": invalid syntax'],
  [
    "a resourceVersion of a list that is no number",
    "GET",
    `${services}?resourceVersion=abc`,
    undefined,
    undefined,
    400,
    "BadRequest",
    'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [
    "a resourceVersion of a watch that is no number",
    "GET",
    `${services}?resourceVersion=abc&watch=true`,
    undefined,
    undefined,
    422,
    "Invalid",
    /abc/,
  ],
  [
    "a used address",
    "POST",
    services,
    JSON.stringify({ metadata: { name: "a" }, spec: { clusterIP: "10.96.0.1", ports: [{ port: 80 }] } }),
    undefined,
    422,
    "Invalid",
    'Service "a" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is already allocated',
  ],
  [
    "an address outside the range",
    "POST",
    services,
    JSON.stringify({ metadata: { name: "a" }, spec: { clusterIP: "10.97.0.1", ports: [{ port: 80 }] } }),
    undefined,
    422,
    "Invalid",
    /^Service "a" is invalid: spec\.clusterIPs: Invalid value: \["10\.97\.0\.1"\]: failed to allocate IP 10\.97\.0\.1: /,
  ],
  [
    "an unknown field with fieldValidation=Strict",
    "POST",
    `${services}?fieldValidation=Strict`,
    '{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}],"foo":1}}',
    undefined,
    400,
    "BadRequest",
    'Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.foo"',
  ],
  ["an invalid dryRun", "POST", `${services}?dryRun=Some`, service("a"), undefined, 422, "Invalid", /dryRun: Unsupported value/],
  [
    "a JSON patch that does not apply",
    "PATCH",
    `${services}/there`,
    '[{"op":"remove","path":"/spec/nothing"}]',
    { "Content-Type": "application/json-patch+json" },
    422,
    "Invalid",
    /./,
  ],
  [
    "a JSON patch that is no array",
    "PATCH",
    `${services}/there`,
    '{"op":"remove"}',
    { "Content-Type": "application/json-patch+json" },
    400,
    "BadRequest",
    /./,
  ],
];

describe("bad input: the Status that upstream answers", () => {
  it.each(rows)("%s: upstream's Status", async (_name, method, path, body, headers, code, reason, message) => {
    const answer = await send(method, path, body, headers);
    expect({ code: answer.code, ...answer.status }).toMatchObject({ code, kind: "Status", status: "Failure", reason });
    expect(answer.status.code).toBe(code);
    if (typeof message === "string") expect(answer.status.message).toBe(message);
    else expect(answer.status.message).toMatch(message);
    expect(answer.text).not.toMatch(/\n\s+at |\.ts:\d+/);
  });

  it("paths outside every group: 404 in plain text", async () => {
    for (const path of ["/nothing", "/apis/unknown.example/v1", "/api/v1%2Fservices", "/cluster", "/clusters-all", "//api/v1"]) {
      const answer = await send("GET", path, undefined, {}, "");
      expect({ path, code: answer.code }).toEqual({ path, code: 404 });
    }
  });

  it("encoded slashes: never separate segments", async () => {
    for (const path of [
      `${services}/there%2Fstatus`,
      "/api/v1/namespaces/default%2Fservices",
      "/api/v1/namespaces/default/services%2Fthere",
      "/api/v1/namespaces/%2E%2E/services",
    ]) {
      const answer = await send("GET", path);
      expect({ path, refused: (answer.code >= 400 && answer.code < 500) || answer.text.includes('"items":[]') }).toEqual({
        path,
        refused: true,
      });
    }
  });

  it("malformed percent-encoding: 4xx", async () => {
    const answer = await send("GET", `${services}/%zz`);
    expect(answer.code).toBeGreaterThanOrEqual(400);
    expect(answer.code).toBeLessThan(500);
  });

  it("values of a megabyte, wherever they stand: come back cut, in less than 64 KiB", async () => {
    const long = "A".repeat(1_000_000);
    const inTarget = "A".repeat(8_000);
    const answers = [
      await send("POST", services, service(long)),
      await send("POST", services, service("x", { labels: { [long]: long }, finalizers: [long], ownerReferences: [{ name: long }] })),
      await send("POST", services, JSON.stringify({ kind: long, apiVersion: long })),
      await send("POST", `${services}?fieldValidation=Strict`, JSON.stringify({ [long]: 1, spec: { [long]: 1 } })),
      await send("PATCH", `${services}/there`, JSON.stringify({ kind: long }), { "Content-Type": "application/merge-patch+json" }),
      await send("GET", `${services}/${inTarget}`),
      await send("GET", `${services}?labelSelector=${inTarget},,&fieldSelector=${inTarget}`),
      await send("GET", `${services}?fieldSelector=${inTarget}%3D1`),
      await send("DELETE", `/apis/${inTarget}/v1/${inTarget}`),
    ];
    for (const { code, text } of answers) {
      expect(code).toBeGreaterThanOrEqual(400);
      expect(code).toBeLessThan(500);
      expect(text.length).toBeLessThan(65_536);
      expect(text).not.toMatch(/A{513}/);
    }
  });

  it("a Pod of 100,000 containers: 413 before it is validated", async () => {
    const containers = Array.from({ length: 100_000 }, () => ({}));
    const { code, status } = await send("POST", "/api/v1/namespaces/default/pods", JSON.stringify({ spec: { containers } }));
    expect([code, status.message]).toEqual([413, "Request entity too large: limit is 1572864"]);
  });

  it("a body over 3 MiB: 413", async () => {
    const answer = await send("POST", services, service("big", { annotations: { a: "x".repeat(3 * 1024 * 1024) } }));
    expect({ code: answer.code, reason: answer.status.reason }).toEqual({ code: 413, reason: "RequestEntityTooLarge" });
    expect(answer.status.message).toBe("Request entity too large: limit is 3145728");
  });

  it("an object that grows over 1.5 MiB, by create and by patch: 413, and the object stays as it was", async () => {
    const lease = (name: string, size: number) => JSON.stringify({ metadata: { name }, spec: { holderIdentity: "x".repeat(size) } });
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    const created = await send("POST", leases, lease("too-big", 1_700_000));
    expect({ code: created.code, reason: created.status.reason }).toEqual({ code: 413, reason: "RequestEntityTooLarge" });
    expect((await send("POST", leases, lease("grows", 1_000_000))).code).toBe(201);
    const patch = JSON.stringify({
      metadata: { annotations: { a: "y".repeat(200_000) } },
      spec: { holderIdentity: "x".repeat(1_600_000) },
    });
    const patched = await send("PATCH", `${leases}/grows`, patch, { "Content-Type": "application/merge-patch+json" });
    expect({ code: patched.code, reason: patched.status.reason }).toEqual({ code: 413, reason: "RequestEntityTooLarge" });
    const kept = await send("GET", `${leases}/grows`);
    expect(kept.code).toBe(200);
    expect(kept.text.length).toBeLessThan(1_100_000);
  });

  it("annotations over 256 KiB: 422, as upstream", async () => {
    const answer = await send("POST", services, service("annotated", { annotations: { a: "x".repeat(300_000) } }));
    expect(answer.code).toBe(422);
    expect(answer.status.message).toContain("metadata.annotations: Too long: may not be more than 262144 bytes");
  });

  it("a thousand Services without a name: no address stays taken", async () => {
    const before = (await observe(cluster.url)).ipAddresses.length;
    const answers = await Promise.all(
      Array.from({ length: 1000 }, () => send("POST", services, '{"metadata":{},"spec":{"ports":[{"port":80}]}}')),
    );
    expect(new Set(answers.map((answer) => answer.code))).toEqual(new Set([422]));
    expect((await observe(cluster.url)).ipAddresses).toHaveLength(before);
  });
});
