/** Names that nobody created make no object, whoever sends them and by whatever route. */
import { env } from "cloudflare:test";
import { expect, it } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { AccessWorld, ADMIN_TOKEN, type AskOptions } from "../../../support/access/access-world";
import { clusterObjects } from "../../../../src/tenancy/cluster-objects";
import { CONTROLLERS } from "../../../../durable-objects/platform/controllers";
import { clusterRecord, recordedObject } from "../../../../durable-objects/peers/peers";
import { everyObject } from "../../../support/objects/every-object";

const bindings = env as unknown as Env;
const SERVICES = "/api/v1/namespaces/default/services";
const SERVICE = { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } };
const REVIEW = { spec: { nonResourceAttributes: { path: "/", verb: "get" } } };

const base64 = (value: object): string => btoa(JSON.stringify(value)).replaceAll("=", "");

/** A token of a service account that says it is of this cluster; nobody signed it. */
function forged(cluster: string): string {
  const iss = `https://kubernetes.default.svc/clusters/${cluster}`;
  return `${base64({ alg: "ES256", kid: "k" })}.${base64({ iss, aud: ["https://kubernetes.default.svc"], sub: "x" })}.AAAA`;
}

/** Of a cluster, in every form in which somebody could ask for it. Writes of an administrator to a collection are meant to make a cluster. */
const ROUTES: [method: string, path: string, body?: object][] = [
  ["GET", SERVICES],
  ["GET", `${SERVICES}?watch=true&timeoutSeconds=1`],
  ["GET", `${SERVICES}/a`],
  ["DELETE", `${SERVICES}/a`],
  ["DELETE", SERVICES],
  ["GET", "/apis/discovery.k8s.io/v1/endpointslices"],
  ["GET", "/nodes/n1/healthz"],
  ["GET", "/nodes/targets"],
  ["POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", REVIEW],
  ["POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: forged("x") } }],
  ["GET", "/healthz"],
  ["GET", "/readyz"],
  ["GET", "/metrics"],
  ["GET", "/ranges"],
  ["GET", "/check"],
  ["GET", "/version"],
  ["GET", "/openapi/v2"],
  ["GET", ""],
  ["DELETE", ""],
];

/** Which objects of clusters of these names there are. Others come beside this test: those of the clusters that it uses begin their work late. */
async function objectsOf(clusters: readonly string[]): Promise<string[]> {
  const all = await everyObject();
  return clusters.flatMap((cluster) => {
    const stubs = [
      clusterRecord(bindings, cluster),
      ...clusterObjects(CONTROLLERS.namesIn(false)).map((object) => recordedObject(bindings, cluster, object)),
    ];
    const ids = new Set(stubs.map((stub) => String((stub as unknown as DurableObjectStub).id)));
    return [...all].filter((object) => ids.has(object.slice(object.indexOf(" ") + 1))).map((object) => `${cluster}: ${object}`);
  });
}

/** Who asks, and with which credential for a cluster of a name. */
async function attackers(world: AccessWorld): Promise<[who: string, credential: (cluster: string) => AskOptions][]> {
  const plain = await world.tokenOf("eve");
  const everywhere = await world.tokenOf("root", { groups: ["system:masters"] });
  const elsewhere = await world.tokenOf("bob", { groups: ["system:masters"], clusters: [world.cluster] });
  return [
    ["nobody", () => ({ token: "" })],
    ["a user without rights, whose token names no clusters", () => ({ token: plain })],
    ["an administrator by such a token", () => ({ token: everywhere })],
    ["the administrator", () => ({ token: ADMIN_TOKEN })],
    ["the administrator as somebody else", () => ({ headers: { "Impersonate-User": "jane" } })],
    ["an administrator of another cluster", () => ({ token: elsewhere })],
    ["who has made up a token of this server", () => ({ token: `sn_${"0".repeat(20)}_${"A".repeat(43)}` })],
    ["who has forged a token of a service account", (cluster) => ({ token: forged(cluster) })],
    ["who has forged one of a later life", (cluster) => ({ token: forged(`${cluster}~2`) })],
  ];
}

it("nine kinds of credentials, twenty requests each, for clusters that nobody created: no object is made", async () => {
  const world = await new AccessWorld().begin();
  const asked: string[] = [];
  for (const [who, credential] of await attackers(world)) {
    for (const [method, path, body] of ROUTES) {
      const cluster = `made-up-${String(asked.length)}`;
      const { code } = await world.ask(method, `/clusters/${cluster}${path}`, { ...credential(cluster), ...(body ? { body } : {}) });
      asked.push(cluster);
      expect([200, 201, 401, 403, 404], `${who}, ${cluster}: ${method} ${path}`).toContain(code);
    }
  }
  expect(await objectsOf(asked)).toEqual([]);
});

it("who may make no cluster writes into one that nobody created: no object is made", async () => {
  const world = await new AccessWorld().begin();
  const makers = ["an administrator by such a token", "the administrator"];
  for (const [who, credential] of (await attackers(world)).filter(([name]) => !makers.includes(name))) {
    const { code } = await world.ask("POST", `/clusters/made-up${SERVICES}`, { ...credential("made-up"), body: SERVICE });
    expect([401, 403, 404], who).toContain(code);
  }
  expect(await objectsOf(["made-up"])).toEqual([]);
});

it("a cluster that an administrator makes: is there at once for everybody", async () => {
  const world = await new AccessWorld().begin();
  const everywhere = await world.tokenOf("root", { groups: ["system:masters"] });
  const made = `${world.cluster}-made`;
  expect((await world.ask("GET", `/clusters/${made}${SERVICES}`)).code).toBe(404);
  expect((await world.ask("POST", `/clusters/${made}${SERVICES}`, { body: SERVICE })).code).toBe(201);
  expect((await world.ask("GET", `/clusters/${made}${SERVICES}`, { token: everywhere })).code).toBe(200);
  expect((await objectsOf([made])).length, "this test finds objects that are there").toBeGreaterThan(3);
});
