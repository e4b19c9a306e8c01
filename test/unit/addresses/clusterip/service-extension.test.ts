/** The services store with its extension, as the real parts work together; faults are put between them by hand. */
import { describe, expect, it, vi } from "vitest";
import { Pairing } from "../../../../src/addresses/clusterip/pairing";
import type { Service } from "../../../../src/api/meta/kubernetes";
import type { PatchType, WriteRequest } from "../../../../src/api/rpc/store";
import { objectOf, SimApi, statusOf } from "../../../support/sim/api";
import { checkQuiet } from "../../../support/sim/watches/checks";
import { NO_FAULTS } from "../../../support/sim/platform/network";

async function isQuiet(api: SimApi): Promise<void> {
  api.cluster.network.faults = NO_FAULTS;
  await api.cluster.quiesce();
  expect(await checkQuiet(api.cluster)).toEqual([]);
}

describe("create", () => {
  it("dynamic: one address of the range, its IPAddress, its row", async () => {
    const api = await new SimApi().ready();
    const spec = objectOf(await api.create("web")).spec;
    const address = spec?.clusterIP ?? "";
    expect(spec).toMatchObject({ clusterIPs: [address], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
    expect(address).toMatch(/^10\.0\.0\.([1-9]|1[0-4])$/);
    expect(api.parents).toEqual({ [address]: "default/web" });
    expect(await api.rows()).toEqual({ [address]: "service web" });
    await isQuiet(api);
  });

  it("static: the named address; the second create: already allocated, nothing stored", async () => {
    const api = await new SimApi().ready();
    expect(objectOf(await api.create("web", { clusterIP: "10.0.0.5" })).spec?.clusterIPs).toEqual(["10.0.0.5"]);
    expect(statusOf(await api.create("other", { clusterIP: "10.0.0.5" }))).toMatchObject({
      code: 422,
      message:
        'Service "other" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.5"]: failed to allocate IP 10.0.0.5: provided IP is already allocated',
    });
    expect(statusOf(await api.create("far", { clusterIP: "10.7.0.5" })).message).toMatch(
      /10\.7\.0\.5: the provided network does not match the current range$/,
    );
    expect([api.addressesOf("other"), api.addressesOf("far")]).toEqual([undefined, undefined]);
    await isQuiet(api);
  });

  it.each([
    ["headless", { clusterIP: "None" }, ["None"]],
    ["ExternalName", { type: "ExternalName", externalName: "a.example.com" }, []],
  ])("%s: no address", async (_, spec, addresses) => {
    const api = await new SimApi().ready();
    objectOf(await api.create("web", spec));
    expect(api.addressesOf("web")).toEqual(addresses);
    expect([api.parents, await api.rows()]).toEqual([{}, {}]);
  });

  it("too many unwritten IPAddress objects: 429 with Retry-After; a headless Service: created", async () => {
    const api = await new SimApi().ready();
    const hasRoom = vi.spyOn(Pairing.prototype, "hasRoom").mockReturnValue(false);
    expect(statusOf(await api.create("web"))).toMatchObject({ code: 429, details: { retryAfterSeconds: 5 } });
    objectOf(await api.create("headless", { clusterIP: "None" }));
    hasRoom.mockRestore();
    objectOf(await api.create("web"));
    await isQuiet(api);
  });

  it("dual stack: one of each family", async () => {
    const api = await SimApi.dualStack().ready();
    const spec = objectOf(await api.create("web", { ipFamilyPolicy: "RequireDualStack" })).spec;
    expect(spec?.ipFamilies).toEqual(["IPv4", "IPv6"]);
    expect(spec?.clusterIPs).toHaveLength(2);
    expect(Object.keys(api.parents).sort()).toEqual([...(spec?.clusterIPs ?? [])].sort());
    await isQuiet(api);
  });

  it("dual stack whose second family is refused: the first goes back at once", async () => {
    const api = await SimApi.dualStack().ready();
    const dual = (...clusterIPs: string[]): object => ({ clusterIP: clusterIPs[0], clusterIPs, ipFamilyPolicy: "RequireDualStack" });
    objectOf(await api.create("holder", dual("10.0.0.2", "fd00::5")));
    expect(statusOf(await api.create("web", dual("10.0.0.3", "fd00::5"))).message).toMatch(/fd00::5: provided IP is already allocated/);
    expect(await api.rows()).toEqual({ "10.0.0.2": "service holder", "fd00::5": "service holder" });
    expect(api.cluster.tables.services.ledger.releases.size).toBe(0);
    await isQuiet(api);
  });

  it("a full range: upstream's answer, and the address of a deleted Service is free at once", async () => {
    const api = await new SimApi({ ranges: ["10.0.0.0/29"] }).ready();
    for (let i = 0; i < 6; i++) objectOf(await api.create(`web-${i}`));
    expect(statusOf(await api.create("more"))).toMatchObject({
      code: 500,
      message: 'Internal error occurred: failed to allocate a serviceIP for Service "more": range is full',
    });
    const [address] = api.addressesOf("web-3") ?? [];
    await api.remove("web-3");
    expect(objectOf(await api.create("more")).spec?.clusterIP).toBe(address);
    await isQuiet(api);
  });

  it("without a name: refused, and nobody is asked for an address", async () => {
    const api = await new SimApi().ready();
    const asked: unknown[] = [];
    api.cluster.network.fate = (step) => void asked.push(step);
    expect(statusOf(await api.create("")).code).toBe(422);
    expect(asked).not.toContain("allocate");
    expect(await api.rows()).toEqual({});
    objectOf(await api.create("named"));
    expect(asked).toContain("allocate");
  });

  it("a Service that an old version stored without clusterIPs: labels, status and a deletion that finalizers hold up are written", async () => {
    const api = await new SimApi().ready();
    objectOf(await api.create("web", { clusterIP: "10.0.0.5" }));
    const { store } = api.cluster.tables.services;
    const key = "default/web";
    const write = async (request: WriteRequest): Promise<void> => {
      const stored = store.objectGet(key);
      if (!stored) throw new Error("the Service is gone");
      const { spec: { clusterIPs, ipFamilies, ipFamilyPolicy, ...spec } = {}, ...rest } = JSON.parse(stored.data) as Service;
      expect([clusterIPs, ipFamilies, ipFamilyPolicy]).toEqual([["10.0.0.5"], ["IPv4"], "SingleStack"]);
      store.objectPut({ ...stored, data: JSON.stringify({ ...rest, spec }) });
      objectOf(await api.write(request));
    };
    await write(api.change("web", { metadata: { labels: { a: "b" }, finalizers: ["example.com/wait"] } }));
    const condition = { type: "Seen", status: "True", reason: "Test", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
    await write({ ...api.change("web", { status: { conditions: [condition] } }), subresource: "status" } as WriteRequest);
    await write(api.removal("web"));
    await write(api.change("web", { metadata: { finalizers: null } }));
    expect(api.addressesOf("web")).toBeUndefined();
    expect(await api.rows()).toEqual({});
    await isQuiet(api);
  });

  it("two of one name at once: one is created, the other waits for its outcome and takes nothing (hazard 15)", async () => {
    const api = await new SimApi().ready();
    const results = await api.run(Promise.all([api.start(api.creation("web")), api.start(api.creation("web"))]));
    expect(results.map((result) => (result.ok ? "created" : result.status.reason)).sort()).toEqual(["AlreadyExists", "created"]);
    expect(Object.keys(await api.rows())).toHaveLength(1);
    await isQuiet(api);
  });

  it("many at once: one call to the owner, one commit", async () => {
    const api = await new SimApi({ ranges: ["10.0.0.0/24"] }).ready();
    objectOf(await api.create("first"));
    const { calls } = api.cluster.network;
    const { commits } = api.cluster.tables.services.journal;
    const results = await api.run(Promise.all(Array.from({ length: 100 }, (_, i) => api.start(api.creation(`web-${i}`)))));
    expect(new Set(results.map((result) => objectOf(result).spec?.clusterIP)).size).toBe(100);
    expect(api.cluster.network.calls - calls).toBe(2);
    expect(api.cluster.tables.services.journal.commits - commits).toBe(1);
    await isQuiet(api);
  });

  it("past the deadline: refused, and an address that comes too late is released (hazard 2)", async () => {
    const api = await new SimApi().ready();
    await api.create("first");
    api.cluster.network.faults = { ...NO_FAULTS, lost: 1 };
    const result = api.start(api.creation("web"));
    await api.cluster.scheduler.pass(30_000);
    expect(statusOf(await api.run(result))).toMatchObject({ code: 503 });
    expect(api.addressesOf("web")).toBeUndefined();
    await isQuiet(api);
  });
});

describe("update", () => {
  const EXTERNAL = { spec: { type: "ExternalName", externalName: "a.example.com" } };
  const BACK = { spec: { type: "ClusterIP", externalName: null } };

  it("to ExternalName: the address is released; back to ClusterIP: a new address", async () => {
    const api = await new SimApi().ready();
    await api.create("web");
    objectOf(await api.patch("web", EXTERNAL));
    expect([api.addressesOf("web"), api.parents, await api.rows()]).toEqual([[], {}, {}]);
    objectOf(await api.patch("web", BACK));
    expect(Object.keys(await api.rows())).toEqual(api.addressesOf("web"));
    await isQuiet(api);
  });

  it("to ExternalName and back to the same address, late releases: the Service keeps the row (hazard 1)", async () => {
    const api = await new SimApi().ready();
    await api.create("web", { clusterIP: "10.0.0.5" });
    api.cluster.network.faults = { ...NO_FAULTS, repeated: 1, slowMaxMs: 40_000 };
    objectOf(await api.patch("web", EXTERNAL));
    objectOf(await api.patch("web", { spec: { ...BACK.spec, clusterIP: "10.0.0.5" } }));
    await isQuiet(api);
    expect(await api.rows()).toEqual({ "10.0.0.5": "service web" });
    expect(api.parents).toEqual({ "10.0.0.5": "default/web" });
  });

  it("to two families and back to one: the second address is taken and released", async () => {
    const api = await SimApi.dualStack().ready();
    await api.create("web");
    const [first] = api.addressesOf("web") ?? [];
    objectOf(await api.patch("web", { spec: { ipFamilyPolicy: "RequireDualStack" } }));
    expect(api.addressesOf("web")?.[0]).toBe(first);
    expect(Object.keys(api.parents)).toHaveLength(2);
    objectOf(await api.patch("web", { spec: { ipFamilyPolicy: "SingleStack" } }));
    expect([api.addressesOf("web"), Object.keys(await api.rows())]).toEqual([[first], [first]]);
    await isQuiet(api);
  });

  it("concurrent patches of one Service: each is planned anew on the result of the other (hazard 15)", async () => {
    const api = await SimApi.dualStack().ready();
    await api.create("web", EXTERNAL.spec);
    const patches = [BACK, { metadata: { labels: { a: "b" } } }, { spec: { ...BACK.spec, ipFamilyPolicy: "RequireDualStack" } }];
    const results = await api.run(Promise.all(patches.map((patch) => api.start(api.change("web", patch)))));
    for (const result of results) objectOf(result);
    expect(api.addressesOf("web")).toHaveLength(2);
    await isQuiet(api);
    expect(Object.keys(await api.rows())).toHaveLength(2);
  });

  it("Service deleted meanwhile: 404, and the address is released (hazard 15)", async () => {
    const api = await new SimApi().ready();
    await api.create("web", EXTERNAL.spec);
    const patched = api.start(api.change("web", BACK));
    await api.cluster.scheduler.pass(0);
    await api.remove("web");
    expect(statusOf(await api.run(patched)).code).toBe(404);
    expect([await api.rows(), api.parents]).toEqual([{}, {}]);
    await isQuiet(api);
  });
});

describe("delete", () => {
  it("the answer: comes after address and IPAddress are free", async () => {
    const api = await SimApi.dualStack().ready();
    await api.create("web", { ipFamilyPolicy: "RequireDualStack" });
    objectOf(await api.remove("web"));
    expect([api.parents, await api.rows(), api.cluster.tables.services.ledger.releases.size]).toEqual([{}, {}, 0]);
  });

  it("a Service with finalizers: keeps its address until they are gone", async () => {
    const api = await new SimApi().ready();
    await api.create("web", { clusterIP: "10.0.0.5" });
    await api.patch("web", { metadata: { finalizers: ["example.com/held"] } });
    await api.remove("web");
    expect(await api.rows()).toEqual({ "10.0.0.5": "service web" });
    await api.patch("web", { metadata: { finalizers: null } });
    expect([await api.rows(), api.parents]).toEqual([{}, {}]);
  });

  it("an update that drops the last finalizer and retypes at once: frees the stored address", async () => {
    const api = await new SimApi().ready();
    await api.create("web", { clusterIP: "10.0.0.5" });
    await api.patch("web", { metadata: { finalizers: ["example.com/held"] } });
    await api.remove("web");
    await api.patch("web", { metadata: { finalizers: null }, spec: { type: "ExternalName", externalName: "a.example.com" } });
    expect([await api.rows(), api.parents]).toEqual([{}, {}]);
    await isQuiet(api);
  });

  it("a silent owner: the DELETE is answered within two seconds, and the address is freed later", async () => {
    const api = await new SimApi().ready();
    await api.create("web");
    api.cluster.network.faults = { ...NO_FAULTS, lost: 1 };
    const start = api.cluster.scheduler.now;
    objectOf(await api.remove("web"));
    expect(api.cluster.scheduler.now - start).toBeLessThanOrEqual(2_000);
    expect(api.cluster.tables.services.ledger.releases.size).toBe(1);
    await isQuiet(api);
    expect(await api.rows()).toEqual({});
  });
});

describe("node ports", () => {
  const NODE_PORT = { type: "NodePort" };
  const LOCAL = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
  const named = (nodePort: number, protocol = "TCP"): object => ({ type: "NodePort", ports: [{ port: 53, protocol, nodePort }] });
  const rows = (api: SimApi): string[] => {
    const all = api.cluster.tables.services.nodePorts.rows.values();
    return all.map(({ protocol, port, key }) => `${protocol}/${port} ${key}`).sort();
  };
  const isChosen = (port: number | undefined): boolean => port !== undefined && port >= 30_086 && port <= 32_767;

  it("a NodePort: gets a number of the dynamic band, in the very commit of its address", async () => {
    const api = await new SimApi().ready();
    const { ports, clusterIP } = objectOf(await api.create("web", NODE_PORT)).spec ?? {};
    expect([isChosen(ports?.[0]?.nodePort), clusterIP]).toEqual([true, api.addressesOf("web")?.[0]]);
    expect(rows(api)).toEqual([`TCP/${ports?.[0]?.nodePort} default/web`]);
    await isQuiet(api);
  });

  it("one that is taken: upstream's answer, at the port, and no address is taken for it", async () => {
    const api = await new SimApi().ready();
    objectOf(await api.create("web", named(30_053)));
    const calls = api.cluster.network.calls;
    expect(statusOf(await api.create("other", named(30_053)))).toMatchObject({
      code: 422,
      message: 'Service "other" is invalid: spec.ports[0].nodePort: Invalid value: 30053: provided port is already allocated',
      details: { causes: [{ reason: "FieldValueInvalid", field: "spec.ports[0].nodePort" }] },
    });
    expect(api.cluster.network.calls).toBe(calls);
    objectOf(await api.create("udp", named(30_053, "UDP")));
    expect(rows(api)).toEqual(["TCP/30053 default/web", "UDP/30053 default/udp"]);
    await isQuiet(api);
  });

  it("two that ask for one at once: one gets it, the other gives its address back", async () => {
    const api = await new SimApi().ready();
    await api.create("first");
    const results = await api.run(Promise.all(["a", "b"].map((name) => api.start(api.creation(name, named(30_053))))));
    expect(results.map((result) => (result.ok ? result.code : result.status.code)).sort()).toEqual([201, 422]);
    expect(rows(api)).toHaveLength(1);
    expect(Object.keys(await api.rows())).toHaveLength(2);
    await isQuiet(api);
  });

  it("a full range: upstream's answer, and a freed one is given out at once", async () => {
    const api = await new SimApi({ ranges: ["10.0.0.0/24"] }).ready();
    await api.create("last", named(32_767));
    for (let port = 30_000; port < 32_767; port++)
      api.cluster.tables.services.nodePorts.nodePortAdd({ protocol: "TCP", port }, "default/x");
    expect(statusOf(await api.create("web", NODE_PORT))).toMatchObject({
      code: 500,
      message: "Internal error occurred: failed to allocate a nodePort: range is full",
    });
    await api.remove("last");
    expect(objectOf(await api.create("web", NODE_PORT)).spec?.ports?.[0]?.nodePort).toBe(32_767);
  });

  it("through every type and back: the number stays while it is needed and is free at once after", async () => {
    const api = await new SimApi().ready();
    await api.create("web", named(30_053));
    const port = (): string[] => rows(api);
    objectOf(await api.patch("web", { spec: LOCAL }));
    const spec = objectOf(await api.patch("web", { metadata: { labels: { a: "b" } } })).spec;
    expect([spec?.ports?.[0]?.nodePort, isChosen(spec?.healthCheckNodePort)]).toEqual([30_053, true]);
    expect(port()).toHaveLength(2);
    expect(objectOf(await api.patch("web", { spec: { externalTrafficPolicy: "Cluster" } })).spec?.healthCheckNodePort).toBeUndefined();
    expect(port()).toEqual(["TCP/30053 default/web"]);
    expect(objectOf(await api.patch("web", { spec: { type: "ClusterIP" } })).spec?.ports?.[0]?.nodePort).toBeUndefined();
    expect(port()).toEqual([]);
    objectOf(await api.create("other", named(30_053)));
    expect(isChosen(objectOf(await api.patch("web", { spec: NODE_PORT })).spec?.ports?.[0]?.nodePort)).toBe(true);
    objectOf(await api.patch("web", { spec: { type: "ExternalName", externalName: "a.example.com" } }));
    expect(port()).toEqual(["TCP/30053 default/other"]);
    await isQuiet(api);
  });

  it("a LoadBalancer that wants no node port: gets none until it wants one, and keeps that", async () => {
    const api = await new SimApi().ready();
    const { ports } = objectOf(await api.create("web", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false })).spec ?? {};
    expect([ports?.[0]?.nodePort, rows(api)]).toEqual([undefined, []]);
    const allocating = { spec: { allocateLoadBalancerNodePorts: true } };
    expect(isChosen(objectOf(await api.patch("web", allocating)).spec?.ports?.[0]?.nodePort)).toBe(true);
    const off = { spec: { allocateLoadBalancerNodePorts: false } };
    expect(isChosen(objectOf(await api.patch("web", off)).spec?.ports?.[0]?.nodePort), "what it has, it keeps").toBe(true);
    await isQuiet(api);
  });

  describe("allocateLoadBalancerNodePorts from true to false", () => {
    const balancer = (allocate: boolean, ...numbers: (number | undefined)[]) => ({
      type: "LoadBalancer",
      allocateLoadBalancerNodePorts: allocate,
      ports: numbers.map((nodePort, i) => ({
        name: `p${i}`,
        port: 80 + i,
        protocol: "TCP",
        ...(nodePort === undefined ? {} : { nodePort }),
      })),
    });
    const patch = (api: SimApi, patchType: PatchType, body: object): WriteRequest => {
      const request = api.change("web", body);
      return request.verb === "patch"
        ? { ...request, patchType, options: { ...request.options, fieldManager: "me", force: true } }
        : request;
    };
    const update = (api: SimApi, spec: object): WriteRequest => {
      const { options } = api.creation("web");
      const key = { namespace: "default", name: "web" };
      return { verb: "update", key, subresource: "", object: JSON.stringify({ metadata: key, spec }), options } as WriteRequest;
    };
    const zero = { ports: [{ port: 81, protocol: "TCP", name: "p1", nodePort: 0 }], allocateLoadBalancerNodePorts: false };
    const form = { apiVersion: "v1", kind: "Service", metadata: { namespace: "default", name: "web" } };

    it.each<[string, (api: SimApi) => WriteRequest]>([
      ["a PUT", (api) => update(api, balancer(false, 30_080, 0))],
      ["a PUT that leaves the number out", (api) => update(api, balancer(false, 30_080, undefined))],
      ["a merge patch", (api) => patch(api, "merge", { spec: balancer(false, 30_080, 0) })],
      ["a strategic merge patch", (api) => patch(api, "strategic", { spec: zero })],
      ["an apply", (api) => patch(api, "apply", { ...form, spec: { type: "LoadBalancer", ...zero } })],
    ])("%s with one of two numbers 0: just that port is freed", async (_, request) => {
      const api = await new SimApi().ready();
      objectOf(await api.create("web", balancer(true, 30_080, 30_081)));
      const { ports } = objectOf(await api.write(request(api))).spec ?? {};
      expect(ports?.map(({ nodePort }) => nodePort ?? 0)).toEqual([30_080, 0]);
      expect(rows(api)).toEqual(["TCP/30080 default/web"]);
      objectOf(await api.create("other", named(30_081)));
      await isQuiet(api);
    });

    it("numbers left as they are: kept; a number named later: taken", async () => {
      const api = await new SimApi().ready();
      objectOf(await api.create("web", balancer(true, 30_080)));
      objectOf(await api.patch("web", { spec: { allocateLoadBalancerNodePorts: false } }));
      expect(rows(api)).toEqual(["TCP/30080 default/web"]);
      objectOf(await api.write(update(api, balancer(false, 30_080, 30_081))));
      expect(rows(api)).toEqual(["TCP/30080 default/web", "TCP/30081 default/web"]);
      await isQuiet(api);
    });

    it("back to true: a port without a number gets one", async () => {
      const api = await new SimApi().ready();
      objectOf(await api.create("web", balancer(false, 30_080, undefined)));
      const { ports } = objectOf(await api.patch("web", { spec: { allocateLoadBalancerNodePorts: true } })).spec ?? {};
      expect([ports?.[0]?.nodePort, isChosen(ports?.[1]?.nodePort)]).toEqual([30_080, true]);
      await isQuiet(api);
    });
  });

  it("one port of two protocols: both get the same number", async () => {
    const api = await new SimApi().ready();
    const ports = ["UDP", "TCP"].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
    const numbers = objectOf(await api.create("dns", { type: "NodePort", ports })).spec?.ports?.map(({ nodePort }) => nodePort);
    expect([new Set(numbers).size, rows(api)]).toEqual([1, [`TCP/${numbers?.[0]} default/dns`, `UDP/${numbers?.[0]} default/dns`]]);
    await isQuiet(api);
  });

  it("a health check's port that is taken or outside the range: upstream's answers", async () => {
    const api = await new SimApi().ready();
    await api.create("web", named(30_053));
    expect(statusOf(await api.create("lb", { ...LOCAL, healthCheckNodePort: 30_053 })).message).toBe(
      "Internal error occurred: failed to allocate requested HealthCheck NodePort 30053: provided port is already allocated",
    );
    expect(statusOf(await api.create("lb", { ...LOCAL, healthCheckNodePort: 80 })).message).toMatch(
      /requested HealthCheck NodePort 80: provided port is not in the valid range\. The range of valid ports is 30000-32767$/,
    );
    expect(objectOf(await api.create("lb", { ...LOCAL, healthCheckNodePort: 30_054 })).spec?.healthCheckNodePort).toBe(30_054);
    expect(statusOf(await api.patch("lb", { spec: { healthCheckNodePort: 30_055 } }))).toMatchObject({ code: 422 });
    await api.remove("lb");
    expect(rows(api)).toEqual(["TCP/30053 default/web"]);
    await isQuiet(api);
  });

  it("numbers outside the range: 422 at the first of them, as upstream", async () => {
    const api = await new SimApi().ready();
    const ports = [80, 32_768].map((nodePort, i) => ({ name: `p${i}`, port: 80 + i, nodePort }));
    expect(statusOf(await api.create("web", { type: "NodePort", ports }))).toMatchObject({
      code: 422,
      message:
        'Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    });
    await isQuiet(api);
  });

  it("counters: each number committed and each refusal, by scope; nothing of a dry run", async () => {
    const api = await new SimApi().ready();
    const reading = () => api.run(api.cluster.services.brain.nodePortAllocations());
    const none = { dynamic: 0, static: 0 };
    expect(await reading()).toEqual({ allocated: 0, available: 2_768, total: none, errors: none });
    objectOf(await api.create("web", named(30_053)));
    objectOf(await api.create("lb", LOCAL));
    expect(await reading()).toEqual({ allocated: 3, available: 2_765, total: { dynamic: 2, static: 1 }, errors: none });
    for (const dryRun of [true, false]) {
      statusOf(await api.create("taken", named(30_053), { dryRun }));
      statusOf(await api.create("outside", named(80), { dryRun }));
      statusOf(await api.create("health", { ...LOCAL, healthCheckNodePort: 30_053 }, { dryRun }));
    }
    objectOf(await api.create("dry", NODE_PORT, { dryRun: true }));
    for (let port = 30_000; port <= 32_767; port++) {
      const rowsOfPorts = api.cluster.tables.services.nodePorts;
      if (rowsOfPorts.nodePortHolder({ protocol: "TCP", port }) === undefined)
        rowsOfPorts.nodePortAdd({ protocol: "TCP", port }, "default/x");
    }
    statusOf(await api.create("full", NODE_PORT));
    await api.remove("web");
    expect(await reading()).toEqual({
      allocated: 2_767,
      available: 1,
      total: { dynamic: 2, static: 1 },
      errors: { dynamic: 1, static: 3 },
    });
  });

  it("a deleted Service behind finalizers: keeps its node port until it is gone", async () => {
    const api = await new SimApi().ready();
    await api.create("web", named(30_053));
    await api.patch("web", { metadata: { finalizers: ["example.com/held"] } });
    await api.remove("web");
    expect(rows(api)).toEqual(["TCP/30053 default/web"]);
    await api.patch("web", { metadata: { finalizers: null } });
    expect(rows(api)).toEqual([]);
  });

  it("dry run: shows a number that nobody can get, takes none, and refuses one that is taken", async () => {
    const api = await new SimApi().ready();
    const shown = objectOf(await api.create("lb", LOCAL, { dryRun: true })).spec;
    expect([shown?.ports?.[0]?.nodePort, shown?.healthCheckNodePort]).toEqual([32_769, 32_770]);
    expect(rows(api)).toEqual([]);
    await api.create("web", named(30_053));
    expect(statusOf(await api.create("other", named(30_053), { dryRun: true }))).toMatchObject({ code: 422 });
  });

  it("of a write that is too large in the end: none is taken", async () => {
    const api = await new SimApi().ready();
    await api.create("web");
    const labels = (prefix: string): object =>
      Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`${prefix}-${i}-${"x".repeat(40)}`, "y".repeat(63)]));
    objectOf(await api.patch("web", { metadata: { labels: labels("a") } }));
    expect(statusOf(await api.patch("web", { metadata: { labels: labels("b") }, spec: NODE_PORT })).code).toBe(413);
    expect(rows(api)).toEqual([]);
    await isQuiet(api);
  });
});

describe("after a crash", () => {
  it("a committed create whose IPAddress was not written: is there, and its IPAddress is written", async () => {
    const api = await new SimApi().ready();
    await api.create("first");
    const { services } = api.cluster.tables;
    const created = api.start(api.creation("web"));
    // The owner answers, the commit is done, the IPAddress write is on its way when both stores die.
    while (!services.store.objectGet("default/web")) await api.cluster.scheduler.pass(1);
    api.cluster.ipAddresses.crash();
    api.cluster.services.crash();
    void created;
    await isQuiet(api);
    const [address = ""] = api.addressesOf("web") ?? [];
    expect(api.parents[address]).toBe("default/web");
  });

  it("an address taken for a create that never committed: is free again", async () => {
    let lost = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const api = await new SimApi({ seed }).ready();
      await api.create("first");
      void api.start(api.creation("web"));
      while (Object.keys(await api.rows()).length < 2) await api.cluster.scheduler.pass(1);
      // Where the answer took no time the Service is committed by now: another matter.
      if (api.addressesOf("web")) continue;
      api.cluster.services.crash();
      await isQuiet(api);
      expect(Object.keys(await api.rows())).toEqual(api.addressesOf("first"));
      expect(api.addressesOf("web")).toBeUndefined();
      lost++;
    }
    expect(lost).toBeGreaterThan(0);
  });
});
