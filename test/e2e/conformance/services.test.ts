/** Upstream's assertions about Services on a dual-stack cluster, on the real server. */
import { expect, it } from "vitest";
import { upstreamRow } from "../../conformance/upstream-row";
import { clusterForTests, DUAL_STACK } from "../../support/server/cluster-for-tests";
import { Api, APPLY_PATCH, MERGE_PATCH, STRATEGIC_PATCH, brief } from "../../support/clients/api";
import type { Answer, Body } from "../../support/clients/api";

const cluster = clusterForTests({ args: DUAL_STACK });
const api = new Api(() => cluster.url);
const SERVICES = "/api/v1/namespaces/default/services";

interface Spec {
  type?: string;
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: string[];
  ipFamilyPolicy?: string;
  ports?: { name?: string; port?: number; nodePort?: number }[];
  healthCheckNodePort?: number;
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  [member: string]: unknown;
}

const ports = [{ port: 80 }];
const specOf = ({ spec }: Body) => (spec ?? {}) as Spec;
const post = (name: string, spec: Spec, query: Record<string, string> = {}, metadata: object = {}) =>
  api.send("POST", SERVICES, { body: { metadata: { name, ...metadata }, spec: { ports, ...spec } }, query });
const create = async (name: string, spec: Spec = {}, metadata: object = {}) => ok(await post(name, spec, {}, metadata));
const read = (name: string) => api.must("GET", `${SERVICES}/${name}`);
const remove = (name: string) => api.must("DELETE", `${SERVICES}/${name}`);
const merge = (name: string, spec: object, query: Record<string, string> = {}) =>
  api.patch(`${SERVICES}/${name}`, MERGE_PATCH, { spec }, query);

function ok({ code, body, text }: Answer): Body {
  if (code >= 300) throw new Error(`${String(code)} ${text}`);
  return body;
}

async function isHeld(address: string): Promise<boolean> {
  return (await api.get(`/apis/networking.k8s.io/v1/ipaddresses/${encodeURIComponent(address)}`)).code === 200;
}

upstreamRow("TestCreateInvalidClusterIPInputs", () => {
  it.each<[string, Spec, string]>([
    ["an unknown policy", { ipFamilyPolicy: "Other" }, "Unsupported value"],
    ["an unknown family", { ipFamilies: ["IPv5"] }, "Unsupported value"],
    [
      "two families of a single-stack Service",
      { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4", "IPv6"] },
      "when multiple IP families are specified",
    ],
    ["one family twice", { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4", "IPv4"] }, "Duplicate value"],
    ["no address", { clusterIP: "not-an-ip", clusterIPs: ["not-an-ip"] }, "must be a valid IP"],
    [
      "an address of the other family",
      { clusterIP: "fd00:96::5", clusterIPs: ["fd00:96::5"], ipFamilies: ["IPv4"] },
      "expected an IPv4 value as indicated",
    ],
    [
      "two addresses of one family",
      { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "10.96.0.6"] },
      "no more than one IP for each IP family",
    ],
    [
      "three addresses",
      { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "fd00:96::5", "10.96.0.6"] },
      "only hold up to 2 values",
    ],
    ["a list without its first", { clusterIPs: ["10.96.0.5"] }, "must be empty when"],
  ])("%s: 422 in upstream's words", async (_name, spec, text) => {
    const { code, body } = await post("invalid", spec);
    expect([code, body.message]).toEqual([422, expect.stringContaining(text)]);
  });

  it("refused Services: nothing stored, no address taken", async () => {
    expect([(await api.get(`${SERVICES}/invalid`)).code, await isHeld("10.96.0.5"), await isHeld("fd00:96::5")]).toEqual([
      404,
      false,
      false,
    ]);
  });
});

upstreamRow("TestCreateDeleteReuse, TestDeleteWithFinalizer, TestCreate/Update/DeleteDryRun", () => {
  const nodePort = { type: "NodePort", clusterIP: "10.96.0.20", ports: [{ port: 80, nodePort: 30080 }] };

  it("a deletion: frees address and port at once", async () => {
    await create("reuse-1", nodePort);
    expect((await post("reuse-2", nodePort)).code).toBe(422);
    await remove("reuse-1");
    await create("reuse-2", nodePort);
    await remove("reuse-2");
  });

  it("finalizers: keep both until the Service is gone", async () => {
    await create("held", nodePort, { finalizers: ["example.com/hold"] });
    await remove("held");
    expect(((await post("early", nodePort)).body.message ?? "").match(/provided (IP|port) is already allocated/)?.length).toBe(2);
    ok(await api.patch(`${SERVICES}/held`, MERGE_PATCH, { metadata: { finalizers: null } }));
    await create("early", nodePort);
    await remove("early");
  });

  it("a dry-run create: shows values, takes none", async () => {
    const spec = { ...nodePort, type: "LoadBalancer", externalTrafficPolicy: "Local" };
    const shown = specOf(ok(await post("dry", spec, { dryRun: "All" })));
    expect(shown).toMatchObject({ clusterIP: "10.96.0.20", clusterIPs: ["10.96.0.20"], ports: [{ nodePort: 30080 }] });
    expect(shown.healthCheckNodePort).toBeGreaterThan(0);
    await create("dry", nodePort);
    await remove("dry");
  });

  it("a dry-run update: takes and frees nothing", async () => {
    await create("dry-update", nodePort);
    ok(await merge("dry-update", { type: "ExternalName", externalName: "example.com", clusterIP: null }, { dryRun: "All" }));
    expect((await post("other", nodePort)).code).toBe(422);
    ok(await merge("dry-update", { ports: [{ port: 80, nodePort: 30081 }] }, { dryRun: "All" }));
    await create("other", { type: "NodePort", ports: [{ port: 80, nodePort: 30081 }] });
    await remove("other");
  });

  it("a dry-run delete: frees nothing", async () => {
    await api.must("DELETE", `${SERVICES}/dry-update`, { query: { dryRun: "All" } });
    expect((await post("other", nodePort)).code).toBe(422);
    await remove("dry-update");
  });
});

upstreamRow("TestUpdatePatchAllocatedValues, TestNormalizeClusterIPs, TestServiceDefaultOnRead", () => {
  it("an update without the allocated values: keeps them, ports by their names", async () => {
    const made = await create("kept", {
      type: "NodePort",
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    });
    const [a, b] = specOf(made).ports ?? [];
    const { resourceVersion: _version, ...metadata } = made.metadata ?? {};
    const swapped = {
      type: "NodePort",
      ports: [
        { name: "b", port: 81 },
        { name: "a", port: 80 },
      ],
    };
    const put = await api.must("PUT", `${SERVICES}/kept`, { body: { metadata, spec: swapped } });
    expect(specOf(put)).toMatchObject({ clusterIP: specOf(made).clusterIP, clusterIPs: specOf(made).clusterIPs });
    expect(specOf(put).ports?.map(({ nodePort }) => nodePort)).toEqual([b?.nodePort, a?.nodePort]);
    await remove("kept");
  });

  it("one of two addresses of a dual-stack Service: refused", async () => {
    const { clusterIP } = specOf(await create("partial", { ipFamilyPolicy: "RequireDualStack" }));
    const refused = await merge("partial", { clusterIPs: [clusterIP] });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringContaining("must be 'SingleStack' to release the secondary cluster IP"),
    ]);
    await remove("partial");
  });
});

upstreamRow("TestFeatureType (18), FeatureClusterIPs, FeatureExternalTrafficPolicy, FeatureInternalTrafficPolicy", () => {
  const external = { type: "ExternalName", externalName: "example.com" };
  /** what a type has: address, node port */
  const has: Record<string, [boolean, boolean]> = {
    ExternalName: [false, false],
    Headless: [false, false],
    ClusterIP: [true, false],
    NodePort: [true, true],
    LoadBalancer: [true, true],
  };
  const start = (type: string): Spec =>
    type === "ExternalName" ? external : type === "Headless" ? { type: "ClusterIP", clusterIP: "None" } : { type };
  const shape = (spec: Spec): [boolean, boolean] => [
    Boolean(spec.clusterIP) && spec.clusterIP !== "None",
    (spec.ports ?? []).some(({ nodePort }) => Boolean(nodePort)),
  ];

  it.each<[string, string, object]>([
    ["ExternalName", "ClusterIP", { type: "ClusterIP" }],
    ["ExternalName", "NodePort", { type: "NodePort" }],
    ["ExternalName", "LoadBalancer", { type: "LoadBalancer" }],
    ["ExternalName", "Headless", { type: "ClusterIP", clusterIP: "None" }],
    ["ClusterIP", "ExternalName", { ...external, clusterIP: null, clusterIPs: null }],
    ["ClusterIP", "NodePort", { type: "NodePort" }],
    ["ClusterIP", "LoadBalancer", { type: "LoadBalancer" }],
    ["NodePort", "ExternalName", { ...external, clusterIP: null, clusterIPs: null }],
    ["NodePort", "ClusterIP", { type: "ClusterIP" }],
    ["NodePort", "LoadBalancer", { type: "LoadBalancer" }],
    ["LoadBalancer", "ExternalName", { ...external, clusterIP: null, clusterIPs: null }],
    ["LoadBalancer", "ClusterIP", { type: "ClusterIP" }],
    ["LoadBalancer", "NodePort", { type: "NodePort" }],
    ["Headless", "ExternalName", { ...external, clusterIP: null, clusterIPs: null }],
  ])("%s to %s: address and port are taken, kept or freed", async (from, to, change) => {
    const name = `type-${from}-${to}`.toLowerCase();
    const before = specOf(await create(name, start(from)));
    expect(shape(before)).toEqual(has[from]);
    const after = specOf(ok(await merge(name, change)));
    expect(shape(after)).toEqual(has[to]);
    const bothHave = has[from]?.[0] && has[to]?.[0];
    if (bothHave) expect(after.clusterIP).toBe(before.clusterIP);
    else if (has[from]?.[0]) expect(await isHeld(before.clusterIP ?? "")).toBe(false);
    const [port] = before.ports ?? [];
    if (has[from]?.[1] && has[to]?.[1]) expect(after.ports?.[0]?.nodePort).toBe(port?.nodePort);
    await remove(name);
    if (after.clusterIP && after.clusterIP !== "None") expect(await isHeld(after.clusterIP)).toBe(false);
  });

  it.each<[string, object, string]>([
    ["ClusterIP", { clusterIP: "10.96.0.200" }, "may not change once set"],
    ["ClusterIP", { clusterIP: "None" }, "may not change once set"],
    ["Headless", { clusterIP: "10.96.0.200" }, "may not change once set"],
    ["Headless", { type: "NodePort" }, "may not be set to 'None' for NodePort services"],
    ["Headless", { type: "LoadBalancer" }, "may not be set to 'None' for LoadBalancer services"],
  ])("%s to %j: refused", async (from, change, text) => {
    await create("fixed", start(from));
    const { code, body } = await merge("fixed", change);
    expect([code, body.message]).toEqual([422, expect.stringContaining(text)]);
    await remove("fixed");
  });

  it("healthCheckNodePort: only for LoadBalancer with Local", async () => {
    const made = specOf(await create("health", { type: "LoadBalancer", externalTrafficPolicy: "Local" }));
    expect(made.healthCheckNodePort).toBeGreaterThanOrEqual(30_000);
    const cluster = specOf(ok(await merge("health", { externalTrafficPolicy: "Cluster" })));
    expect(cluster.healthCheckNodePort ?? 0).toBe(0);
    await create("health-2", { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: made.healthCheckNodePort });
    const nodePort = specOf(ok(await merge("health-2", { type: "NodePort" })));
    expect([nodePort.healthCheckNodePort ?? 0, nodePort.externalTrafficPolicy]).toEqual([0, "Local"]);
    ok(await merge("health", { externalTrafficPolicy: "Local", healthCheckNodePort: made.healthCheckNodePort }));
    for (const name of ["health", "health-2"]) await remove(name);
  });

  it("internalTrafficPolicy: Cluster unless it is named, and it may change", async () => {
    expect(specOf(await create("internal", {})).internalTrafficPolicy).toBe("Cluster");
    expect(specOf(ok(await merge("internal", { internalTrafficPolicy: "Local" }))).internalTrafficPolicy).toBe("Local");
    await remove("internal");
  });
});

upstreamRow("dualstack_test.go", () => {
  it("TestUpgradeDowngrade: to two families and back, the first address stays, the second is freed", async () => {
    const single = specOf(await create("dual"));
    expect([single.ipFamilies, single.ipFamilyPolicy]).toEqual([["IPv4"], "SingleStack"]);
    const dual = specOf(ok(await merge("dual", { ipFamilyPolicy: "RequireDualStack" })));
    expect([dual.ipFamilies, dual.clusterIPs?.length, dual.clusterIPs?.[0]]).toEqual([["IPv4", "IPv6"], 2, single.clusterIP]);
    const [, second = ""] = dual.clusterIPs ?? [];
    expect(await isHeld(second)).toBe(true);
    const down = specOf(ok(await merge("dual", { ipFamilyPolicy: "SingleStack" })));
    expect([down.clusterIPs, down.ipFamilies, await isHeld(second)]).toEqual([[single.clusterIP], ["IPv4"], false]);
    const named = specOf(ok(await merge("dual", { ipFamilyPolicy: "PreferDualStack", clusterIPs: [single.clusterIP, second] })));
    expect(named.clusterIPs).toEqual([single.clusterIP, second]);
    const trimmed = { ipFamilyPolicy: "SingleStack", clusterIPs: [single.clusterIP], ipFamilies: ["IPv4"] };
    expect(specOf(ok(await merge("dual", trimmed))).clusterIPs).toEqual([single.clusterIP]);
    await remove("dual");
  });

  it("TestConvertToFromExternalName: both addresses go and new ones come", async () => {
    const dual = specOf(await create("convert", { ipFamilyPolicy: "PreferDualStack" }));
    const change = { type: "ExternalName", externalName: "example.com", clusterIP: "" };
    const named = specOf(ok(await merge("convert", change)));
    expect([named.clusterIP, named.clusterIPs, named.ipFamilies, named.ipFamilyPolicy]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    for (const address of dual.clusterIPs ?? []) expect(await isHeld(address)).toBe(false);
    const back = specOf(ok(await merge("convert", { type: "ClusterIP", externalName: null })));
    expect([back.clusterIPs?.length, back.ipFamilyPolicy]).toEqual([1, "SingleStack"]);
    await remove("convert");
  });

  it("headless to ExternalName by patch: accepted", async () => {
    await create("headless", { clusterIP: "None", selector: { a: "b" } });
    const named = specOf(ok(await merge("headless", { type: "ExternalName", externalName: "example.com", clusterIP: null })));
    expect([named.type, named.clusterIP]).toEqual(["ExternalName", undefined]);
    await remove("headless");
  });
});

upstreamRow("test/integration/service/loadbalancer_test.go: allocateLoadBalancerNodePorts (7)", () => {
  const balancer = (allocate: boolean, first: number, second: number): Spec => ({
    type: "LoadBalancer",
    allocateLoadBalancerNodePorts: allocate,
    ports: [
      { name: "a", port: 80, nodePort: first },
      { name: "b", port: 81, nodePort: second },
    ],
  });
  const numbers = (body: Body) => specOf(body).ports?.map(({ nodePort }) => nodePort);
  const off = { allocateLoadBalancerNodePorts: false, ports: [{ port: 81, nodePort: 0 }] };
  const applied = { apiVersion: "v1", kind: "Service", metadata: { name: "lb" }, spec: balancer(false, 30_180, 0) };

  it.each<[string, () => Promise<Answer>]>([
    ["PUT", async () => api.send("PUT", `${SERVICES}/lb`, { body: { ...(await read("lb")), spec: balancer(false, 30_180, 0) } })],
    ["merge patch", () => merge("lb", balancer(false, 30_180, 0))],
    ["strategic merge patch", () => api.patch(`${SERVICES}/lb`, STRATEGIC_PATCH, { spec: off })],
    ["apply", () => api.patch(`${SERVICES}/lb`, APPLY_PATCH, applied, { fieldManager: "me", force: "true" })],
  ])("true to false by %s, one nodePort 0: that port is freed, the other stays", async (_name, write) => {
    await create("lb", balancer(true, 30_180, 30_181));
    expect(numbers(ok(await write()))).toEqual([30_180, undefined]);
    await create("successor", { type: "NodePort", ports: [{ port: 80, nodePort: 30_181 }] });
    const on = numbers(ok(await merge("lb", { allocateLoadBalancerNodePorts: true }))) ?? [];
    expect([on[0], Number(on[1]) >= 30_086]).toEqual([30_180, true]);
    for (const name of ["lb", "successor"]) await remove(name);
  });

  it("false from the beginning: named numbers alone, and they are kept", async () => {
    expect(numbers(await create("lb", balancer(false, 0, 30_181)))).toEqual([undefined, 30_181]);
    expect(numbers(ok(await merge("lb", { selector: { a: "b" } })))).toEqual([undefined, 30_181]);
    await remove("lb");
  });
});

upstreamRow("test/integration/network: FinalizersRepairLoop, FinalizersPatchStatus, ServiceCIDR28bits", () => {
  const spec = { type: "NodePort", clusterIP: "10.96.0.40", ports: [{ port: 80, nodePort: 30140 }] };

  it.each(["", "/status"])("the last finalizer, removed through the service%s: address and port are free", async (subresource) => {
    await create("finalized", spec, { finalizers: ["example.com/foo.bar"] });
    await remove("finalized");
    expect((await read("finalized")).metadata?.deletionTimestamp).toBeDefined();
    expect(await isHeld("10.96.0.40")).toBe(true);
    ok(await api.patch(`${SERVICES}/finalized${subresource}`, MERGE_PATCH, { metadata: { finalizers: null } }));
    expect((await api.get(`${SERVICES}/finalized`)).code).toBe(404);
    await create("successor", spec);
    await remove("successor");
  });

  it("metadata in a write of /status: stored beside the status; a host name that is none refuses both", async () => {
    await create("annotated", { type: "LoadBalancer", ports: [{ port: 80 }] });
    const status = (host: string) => ({ loadBalancer: { ingress: [{ hostname: host }] } });
    const metadata = { labels: { seen: "yes" }, annotations: { "example.com/note": "a" } };
    const refused = await api.patch(`${SERVICES}/annotated/status`, MERGE_PATCH, { metadata, status: status("Not_A_Name") });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringMatching(/^Service "annotated" is invalid: status\.loadBalancer\.ingress\[0\]\.hostname: Invalid value: "Not_A_Name": /),
    ]);
    expect((await read("annotated")).metadata?.labels).toBeUndefined();
    ok(await api.patch(`${SERVICES}/annotated/status`, MERGE_PATCH, { metadata, status: status("lb.example.com") }));
    expect(await read("annotated")).toMatchObject({ metadata, status: status("lb.example.com") });
    await remove("annotated");
  });
});

upstreamRow("test/integration/service: ExternalName internalTrafficPolicy (3), externalIPs drop, ClusterIPSelector", () => {
  it("an ExternalName, made, read or converted: without internalTrafficPolicy", async () => {
    const made = await create("external", { type: "ExternalName", externalName: "example.com", internalTrafficPolicy: "Cluster" });
    expect(specOf(made)).not.toHaveProperty("internalTrafficPolicy");
    expect(specOf(await read("external"))).not.toHaveProperty("internalTrafficPolicy");
    await create("converted");
    const changed = ok(await merge("converted", { type: "ExternalName", externalName: "example.com", clusterIP: null, clusterIPs: null }));
    expect(specOf(changed)).not.toHaveProperty("internalTrafficPolicy");
    for (const name of ["external", "converted"]) await remove(name);
  });

  it("externalTrafficPolicy: goes and returns with externalIPs", async () => {
    expect(specOf(await create("outside", { externalIPs: ["203.0.113.1"] })).externalTrafficPolicy).toBe("Cluster");
    expect(specOf(ok(await merge("outside", { externalIPs: null })))).not.toHaveProperty("externalTrafficPolicy");
    expect(specOf(ok(await merge("outside", { externalIPs: ["203.0.113.1"] }))).externalTrafficPolicy).toBe("Cluster");
    await remove("outside");
  });

  it("spec.clusterIP!=None: selects in lists and watches", async () => {
    const before = (await api.must("GET", SERVICES)).metadata?.resourceVersion ?? "";
    const watch = await api.watch(SERVICES, { fieldSelector: "spec.clusterIP!=None", resourceVersion: before });
    await create("select-none", { clusterIP: "None" });
    const { clusterIP = "" } = specOf(await create("select-ip"));
    const list = async (fieldSelector: string) =>
      ((await api.must("GET", SERVICES, { query: { fieldSelector } })).items ?? []).map(({ metadata }) => metadata?.name);
    expect(await list("spec.clusterIP!=None")).toEqual(["kubernetes", "select-ip"]);
    expect(await list("spec.clusterIP=None")).toEqual(["select-none"]);
    expect(await list(`spec.clusterIP=${clusterIP}`)).toEqual(["select-ip"]);
    expect(brief(await watch.take(1))).toEqual(["ADDED select-ip"]);
    watch.close();
    for (const name of ["select-none", "select-ip"]) await remove(name);
  });
});

upstreamRow("TestInvalidService", () => {
  it("a Service without a name: Invalid at once", async () => {
    const { code, body } = await api.send("POST", SERVICES, { body: { metadata: {}, spec: { ports } } });
    expect([code, body.reason]).toEqual([422, "Invalid"]);
  });
});
