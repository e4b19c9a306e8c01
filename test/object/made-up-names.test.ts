/** Names that nobody created make no object, whoever sends them and by whatever route. */
import { beforeEach, expect, it } from "vitest";
import { AccessWorld, ADMIN_TOKEN, type AskOptions } from "../support/access/access-world";
import { everyObject } from "../support/objects/every-object";

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

let world: AccessWorld;
let plain: string;
let everywhere: string;
let elsewhere: string;
beforeEach(async () => {
  world = await new AccessWorld().begin();
  plain = await world.tokenOf("eve");
  everywhere = await world.tokenOf("root", { groups: ["system:masters"] });
  elsewhere = await world.tokenOf("bob", { groups: ["system:masters"], clusters: [world.cluster] });
  // What a first request of anybody makes is there: the object of the tokens, and the list of clusters.
  for (const token of ["", plain, everywhere]) await world.ask("GET", "/clusters/nobody-made-this/version", { token });
});

it.each<[who: string, credential: (cluster: string) => AskOptions]>([
  ["nobody", () => ({ token: "" })],
  ["a user without rights, whose token names no clusters", () => ({ token: plain })],
  ["an administrator by such a token", () => ({ token: everywhere })],
  ["the administrator", () => ({ token: ADMIN_TOKEN })],
  ["the administrator as somebody else", () => ({ headers: { "Impersonate-User": "jane" } })],
  ["an administrator of another cluster", () => ({ token: elsewhere })],
  ["who has made up a token of this server", () => ({ token: `sn_${"0".repeat(20)}_${"A".repeat(43)}` })],
  ["who has forged a token of a service account", (cluster) => ({ token: forged(cluster) })],
  ["who has forged one of a later life", (cluster) => ({ token: forged(`${cluster}~2`) })],
])("%s asks for clusters that nobody created: no object is made", async (_who, credential) => {
  const before = await everyObject();
  const answers: string[] = [];
  for (const [i, [method, path, body]] of ROUTES.entries()) {
    const cluster = `made-up-${String(i)}`;
    const { code } = await world.ask(method, `/clusters/${cluster}${path}`, { ...credential(cluster), ...(body ? { body } : {}) });
    answers.push(`${method} ${path} ${String(code)}`);
  }
  expect(await everyObject(), answers.join(", ")).toEqual(before);
  const unreadable = answers.filter((answer) => !/ (?:200|201|401|403|404)$/.test(answer));
  expect(unreadable).toEqual([]);
});

it("who may make no cluster writes into one that nobody created: no object is made", async () => {
  const before = await everyObject();
  for (const token of ["", plain, elsewhere, forged("made-up")])
    expect((await world.ask("POST", `/clusters/made-up${SERVICES}`, { token, body: SERVICE })).code).toBeGreaterThanOrEqual(401);
  expect(await everyObject()).toEqual(before);
});

it("a cluster that an administrator makes: is there at once for everybody", async () => {
  const made = `${world.cluster}-made`;
  expect((await world.ask("GET", `/clusters/${made}${SERVICES}`)).code).toBe(404);
  expect((await world.ask("POST", `/clusters/${made}${SERVICES}`, { body: SERVICE })).code).toBe(201);
  expect((await world.ask("GET", `/clusters/${made}${SERVICES}`, { token: everywhere })).code).toBe(200);
});
