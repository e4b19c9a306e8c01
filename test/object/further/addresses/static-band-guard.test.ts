/** STATIC_BAND_GUARD as clients meet it: who may ask for an address that is kept for those who name one. */
import { describe, expect, it } from "vitest";
import { AccessWorld, type Answer } from "../../../support/access/access-world";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const SERVICES = "/api/v1/namespaces/default/services";
const DNS = "10.96.0.10";
const PORTS = [{ port: 80, protocol: "TCP" }];
const MERGE = { "Content-Type": "application/merge-patch+json" };
const STRATEGIC = { "Content-Type": "application/strategic-merge-patch+json" };
const JSON_PATCH = { "Content-Type": "application/json-patch+json" };
const APPLY = { "Content-Type": "application/apply-patch+yaml" };

/** A user bob who may write Services; with `use`, also name addresses of static bands. */
async function worldOf(vars: Record<string, string>, isTrusted = false): Promise<{ world: AccessWorld; token: string }> {
  const world = await new AccessWorld({ SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/16", ...vars }).begin();
  const use = { apiGroups: ["networking.k8s.io"], resources: ["servicecidrs"], resourceNames: ["static"], verbs: ["use"] };
  await world.make(`${RBAC}/clusterroles`, {
    metadata: { name: "writer" },
    rules: [{ apiGroups: [""], resources: ["services", "services/status"], verbs: ["*"] }, ...(isTrusted ? [use] : [])],
  });
  await world.make(`${RBAC}/clusterrolebindings`, {
    metadata: { name: "writer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }],
  });
  return { world, token: await world.tokenOf("bob") };
}

const service = (name: string, spec: object) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: { ports: PORTS, ...spec },
});
const EXTERNAL = { type: "ExternalName", externalName: "example.com" };
const CLUSTER_IP = { type: "ClusterIP", externalName: null };
const BAND = { clusterIP: DNS, clusterIPs: [DNS] };
/** JSON with an escape in the member names that the guard looks for, and in the address. */
const escaped = (value: unknown) => JSON.stringify(value).replaceAll("clusterIP", "\\u0063lusterIP").replaceAll("10.96", "10\\u002e96");

interface Try {
  method: string;
  path: string;
  body: unknown;
  headers?: Record<string, string>;
}

/** Each makes the Service `taken`, or gives the ExternalName `ext` an address: 10.96.0.10. */
const TRIES: [title: string, asked: Try][] = [
  ["POST", { method: "POST", path: SERVICES, body: service("taken", { clusterIP: DNS }) }],
  ["POST of both members", { method: "POST", path: SERVICES, body: service("taken", BAND) }],
  ["POST with escapes", { method: "POST", path: SERVICES, body: escaped(service("taken", { clusterIP: DNS })) }],
  ["POST of a LoadBalancer", { method: "POST", path: SERVICES, body: service("taken", { type: "LoadBalancer", clusterIP: DNS }) }],
  [
    "POST as YAML",
    {
      method: "POST",
      path: SERVICES,
      body: `{"apiVersion": "v1", kind: Service, metadata: {name: taken}, spec: {ports: [{port: 80}], "\\x63lusterIP": ${DNS}}}`,
      headers: { "Content-Type": "application/yaml" },
    },
  ],
  ["PUT of an ExternalName", { method: "PUT", path: `${SERVICES}/ext`, body: service("ext", { type: "ClusterIP", ...BAND }) }],
  ["merge patch", { method: "PATCH", path: `${SERVICES}/ext`, body: { spec: { ...CLUSTER_IP, ...BAND } }, headers: MERGE }],
  [
    "merge patch with escapes",
    { method: "PATCH", path: `${SERVICES}/ext`, body: escaped({ spec: { ...CLUSTER_IP, ...BAND } }), headers: MERGE },
  ],
  ["strategic patch", { method: "PATCH", path: `${SERVICES}/ext`, body: { spec: { ...CLUSTER_IP, ...BAND } }, headers: STRATEGIC }],
  [
    "json patch",
    {
      method: "PATCH",
      path: `${SERVICES}/ext`,
      body: [
        { op: "replace", path: "/spec/type", value: "ClusterIP" },
        { op: "remove", path: "/spec/externalName" },
        { op: "add", path: "/spec/clusterIP", value: DNS },
        { op: "add", path: "/spec/clusterIPs", value: [DNS] },
      ],
      headers: JSON_PATCH,
    },
  ],
  [
    "json patch with escapes",
    {
      method: "PATCH",
      path: `${SERVICES}/ext`,
      body: escaped([{ op: "replace", path: "/spec", value: { ports: PORTS, type: "ClusterIP", ...BAND } }]),
      headers: JSON_PATCH,
    },
  ],
  [
    "apply that creates",
    { method: "PATCH", path: `${SERVICES}/taken?fieldManager=x`, body: service("taken", { clusterIP: DNS }), headers: APPLY },
  ],
  [
    "apply with escapes",
    { method: "PATCH", path: `${SERVICES}/taken?fieldManager=x`, body: escaped(service("taken", { clusterIP: DNS })), headers: APPLY },
  ],
  [
    "apply in YAML with escapes",
    {
      method: "PATCH",
      path: `${SERVICES}/taken?fieldManager=x`,
      body: `apiVersion: v1\nkind: Service\nmetadata: {name: taken}\nspec: {ports: [{port: 80}], "\\x63lusterIP": ${DNS}}\n`,
      headers: APPLY,
    },
  ],
];

async function tried(world: AccessWorld, token: string, { method, path, body, headers = {} }: Try): Promise<Answer> {
  await world.ask("POST", SERVICES, { body: service("ext", EXTERNAL) });
  return world.ask(method, path, { token, body, headers });
}

async function addresses(world: AccessWorld): Promise<unknown[]> {
  const list = await world.ask("GET", SERVICES);
  return (list.body["items"] as { spec: { clusterIP?: string } }[]).map(({ spec }) => spec.clusterIP).filter((address) => address === DNS);
}

describe("the guard of static bands", () => {
  it("an address that the server chooses, or of the upper band: needs no right", async () => {
    const { world, token } = await worldOf({ STATIC_BAND_GUARD: "true" });
    expect((await world.ask("POST", SERVICES, { token, body: service("a", {}) })).code).toBe(201);
    expect((await world.ask("POST", SERVICES, { token, body: service("b", { clusterIP: "10.96.200.1" }) })).code).toBe(201);
    expect((await world.ask("POST", SERVICES, { token, body: service("c", { clusterIP: "None" }) })).code).toBe(201);
  });

  it("who may not use static addresses: refused by every verb, and the address stays free", async () => {
    const { world, token } = await worldOf({ STATIC_BAND_GUARD: "true" });
    const answers: unknown[] = [];
    for (const [title, asked] of TRIES) {
      const { code, body } = await tried(world, token, asked);
      answers.push([title, code, body.message]);
    }
    const refused = expect.stringContaining(
      `is forbidden: User "bob" may not ask for ${DNS}: it is in a static band, which needs the right to use the servicecidr "static"`,
    ) as unknown;
    expect(answers).toEqual(TRIES.map(([title]) => [title, 403, refused]));
    expect(await addresses(world)).toEqual([]);
  });

  it.each([
    ["who may use static addresses", { STATIC_BAND_GUARD: "true" }, true],
    ["without the guard everybody who writes Services", {}, false],
  ])("%s: every verb", async (_title, vars, isTrusted) => {
    const { world, token } = await worldOf(vars, isTrusted);
    for (const [title, asked] of TRIES) {
      const answer = await tried(world, token, asked);
      expect([title, answer.code, answer.body.message]).toEqual([title, expect.toBeOneOf([200, 201]), undefined]);
      expect(await addresses(world), title).toEqual([DNS]);
      for (const name of ["taken", "ext"]) await world.ask("DELETE", `${SERVICES}/${name}`);
    }
  });

  it("a Service that has such an address: is changed without the right, and keeps it", async () => {
    const { world, token } = await worldOf({ STATIC_BAND_GUARD: "true" });
    await world.make(SERVICES, service("kept", { clusterIP: DNS }));
    const found = await world.ask("GET", `${SERVICES}/kept`, { token });
    const labelled = { ...found.body, metadata: { ...(found.body["metadata"] as object), labels: { a: "b" } } };
    expect((await world.ask("PUT", `${SERVICES}/kept`, { token, body: labelled })).code).toBe(200);
    const patched = await world.ask("PATCH", `${SERVICES}/kept`, { token, body: { spec: BAND }, headers: MERGE });
    expect(patched.code).toBe(200);
  });

  it("an administrator: any address", async () => {
    const { world } = await worldOf({ STATIC_BAND_GUARD: "true" });
    expect((await world.ask("POST", SERVICES, { body: service("a", { clusterIP: DNS }) })).code).toBe(201);
  });
});
