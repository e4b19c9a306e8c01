/** Ranges that are kept for the Services of some namespaces, on real Durable Objects. */
import { abortAllDurableObjects, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { namespacesStore, repairStub } from "../../../durable-objects/peers/peers";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { ServiceCIDR } from "../../../durable-objects/service-cidr";
import { ServicesStore } from "../../../durable-objects/services-store";
import type { CoreEvent, Service } from "../../../src/api/meta/kubernetes";
import type { WriteResult } from "../../../src/api/rpc/store";
import { parseAddress } from "../../../src/core/net/address";
import { containsAddress, parsePrefix } from "../../../src/core/net/prefix";
import { holdAnswer } from "../../support/objects/held-call";
import { intercept } from "../../support/objects/intercept";
import { addressOf, createRequest, messageOf, ObjectCluster, storedIn } from "../../support/objects/object-cluster";
import { createIn, type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { DELETE, WRITE } from "../../support/worlds/store-world";
import { eventually } from "../../support/objects/object-ranges";

const bindings = env as unknown as Env;
const SELECTOR = "servicenet.dev/namespace-selector";
const WHEN_FULL = "servicenet.dev/when-full";
const NODE_PORTS = "servicenet.dev/node-port-range";
/** 13 addresses and no static band */
const SMALL = "10.98.0.0/28";

class Tenants {
  private constructor(readonly cluster: ObjectCluster) {}

  /** Namespaces a and b with the label tenant of their name, and c without. */
  static async begin(): Promise<Tenants> {
    const tenants = new Tenants(await new ObjectCluster().ready());
    const { stub } = tenants;
    await createIn(stub, { metadata: { name: "a", labels: { tenant: "a" } } });
    await createIn(stub, { metadata: { name: "b", labels: { tenant: "b" } } });
    await createIn(stub, { metadata: { name: "c" } });
    return tenants;
  }

  get stub(): StoreStub {
    return storeStubOf(this.cluster.name, "namespaces");
  }

  async range(name: string, cidr: string, tenant: string, whenFull?: string): Promise<void> {
    const annotations = { [SELECTOR]: `tenant=${tenant}`, ...(whenFull && { [WHEN_FULL]: whenFull }) };
    expect(await this.write(name, [cidr], annotations)).toMatchObject({ ok: true });
    await this.cluster.ranges.ready(name);
  }

  write(name: string, cidrs: string[], annotations: Record<string, string>): Promise<WriteResult> {
    const object = JSON.stringify({ metadata: { name, annotations }, spec: { cidrs } });
    const options = { ...WRITE, fieldValidation: "Strict", group: "networking.k8s.io" } as const;
    return this.cluster.ranges.coordinator.write({ verb: "create", namespace: "", object, options });
  }

  /** Makes a NodePort of a new Service, or of one that is there. Answers the port, or what went wrong. */
  async nodePort(namespace: string, name: string, nodePort?: number): Promise<number | string> {
    const spec = { type: "NodePort", ports: [{ port: 80, protocol: "TCP", ...(nodePort !== undefined && { nodePort }) }] };
    const made = await this.cluster.create(name, spec, namespace);
    const exists = !made.ok && made.status.code === 409;
    const result = exists ? await this.cluster.patch(name, { spec }, namespace) : made;
    return result.ok ? ((JSON.parse(result.object) as Service).spec?.ports?.[0]?.nodePort ?? 0) : messageOf(result);
  }

  label(name: string, tenant: string | null): Promise<WriteResult> {
    const patch = JSON.stringify({ metadata: { labels: { tenant } } });
    const key = { namespace: "", name };
    const options = { ...WRITE, group: "" };
    return namespacesStore(bindings, this.cluster.name).write({ verb: "patch", key, subresource: "", patchType: "merge", patch, options });
  }

  async create(namespace: string, name: string, clusterIP = ""): Promise<WriteResult> {
    return this.cluster.create(name, clusterIP ? { clusterIP } : {}, namespace);
  }

  async address(namespace: string, name: string): Promise<string> {
    return addressOf(await this.create(namespace, name));
  }
}

function isIn(cidr: string, address: string): boolean {
  const [prefix, parsed] = [parsePrefix(cidr), parseAddress(address)];
  return prefix.ok && parsed.ok && containsAddress(prefix.value, parsed.value.family, parsed.value.value);
}

afterEach(() => {
  vi.restoreAllMocks();
});

it.each([
  ["inside the default range", "10.96.7.0/28"],
  ["beside the default range", SMALL],
])("a range for tenant a, %s: its Services take from it, all others from elsewhere", async (_, cidr) => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", cidr, "a");
  for (let i = 0; i < 3; i++) {
    expect(isIn(cidr, await tenants.address("a", `a${i}`))).toBe(true);
    expect(isIn(cidr, await tenants.address("b", `b${i}`))).toBe(false);
    expect(isIn(cidr, await tenants.address("c", `c${i}`))).toBe(false);
  }
  await tenants.cluster.check();
});

it("named addresses: nobody reaches the range of another tenant, and a tenant no other range", async () => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", "10.96.7.0/24", "a");
  await tenants.range("for-b", "10.96.7.64/26", "b");
  expect(addressOf(await tenants.create("a", "own", "10.96.7.9"))).toBe("10.96.7.9");
  expect(addressOf(await tenants.create("b", "own", "10.96.7.70"))).toBe("10.96.7.70");
  expect(messageOf(await tenants.create("b", "outer", "10.96.7.10"))).toContain(
    'failed to allocate IP 10.96.7.10: ServiceCIDR "for-a" (10.96.7.0/24) is kept for namespaces that match "tenant=a", and namespace "b" does not',
  );
  expect(messageOf(await tenants.create("c", "kept", "10.96.7.10"))).toMatch(/^422 .*is kept for namespaces that match/);
  expect(messageOf(await tenants.create("a", "inner", "10.96.7.71"))).toMatch(/^422 .*"for-b".*"tenant=b"/);
  expect(messageOf(await tenants.create("a", "outside", "10.96.9.9"))).toContain(
    'the Services of namespace "a" take addresses from ServiceCIDR "for-a" (10.96.7.0/24) alone',
  );
  expect(addressOf(await tenants.create("c", "free", "10.96.9.9"))).toBe("10.96.9.9");
  await tenants.cluster.check();
});

it("a dry run: is judged as the create itself", async () => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", SMALL, "a");
  const dryRun = (namespace: string, clusterIP?: string): Promise<WriteResult> =>
    tenants.cluster.services.write(createRequest("dry", clusterIP ? { clusterIP } : {}, { namespace, dryRun: true }));
  expect(isIn(SMALL, addressOf(await dryRun("a")))).toBe(true);
  expect(isIn(SMALL, addressOf(await dryRun("c")))).toBe(false);
  expect(addressOf(await dryRun("a", "10.98.0.3"))).toBe("10.98.0.3");
  expect(messageOf(await dryRun("c", "10.98.0.3"))).toMatch(/^422 .*is kept for namespaces that match "tenant=a"/);
});

it.each([undefined, "Any"])(
  "a full range with when-full %s: no address for more Services than it has unless they may leave it",
  async (whenFull) => {
    const tenants = await Tenants.begin();
    await tenants.range("for-a", SMALL, "a", whenFull);
    for (let i = 0; i < 14; i++) expect(isIn(SMALL, await tenants.address("a", `s${i}`))).toBe(true);
    const more = await tenants.create("a", "more");
    if (whenFull) expect(isIn(SMALL, addressOf(more))).toBe(false);
    else {
      expect(messageOf(more)).toBe(
        '500 Internal error occurred: failed to allocate a serviceIP for Service "more": range is full: ServiceCIDR "for-a" (10.98.0.0/28), ' +
          'from which the Services of namespace "a" take',
      );
    }
    expect(messageOf(await tenants.cluster.services.write({ verb: "delete", key: { namespace: "a", name: "s3" }, options: DELETE }))).toBe(
      "",
    );
    expect(isIn(SMALL, await tenants.address("a", "again"))).toBe(true);
  },
);

it("changed labels: the next create is judged by them, and what is held stays", async () => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", SMALL, "a");
  expect(isIn(SMALL, await tenants.address("a", "first"))).toBe(true);
  expect(isIn(SMALL, await tenants.address("c", "first"))).toBe(false);
  expect(messageOf(await tenants.label("c", "a"))).toBe("");
  expect(messageOf(await tenants.label("a", null))).toBe("");
  expect(isIn(SMALL, await tenants.address("c", "second"))).toBe(true);
  expect(isIn(SMALL, await tenants.address("a", "second"))).toBe(false);
  const { services } = await tenants.cluster.stored();
  const first = services.find(({ metadata }) => metadata?.namespace === "a" && metadata.name === "first");
  expect(isIn(SMALL, first?.spec?.clusterIP ?? "")).toBe(true);
});

it("repair: reports what no longer fits, and moves nothing", async () => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", SMALL, "a");
  const before = await tenants.address("a", "moved-on");
  expect(messageOf(await tenants.label("a", null))).toBe("");
  await repairStub(bindings, tenants.cluster.name).sweep();
  const events = storeStubOf(tenants.cluster.name, "events");
  await eventually(async () => {
    await tenants.cluster.repair();
    const texts = (await storedIn<CoreEvent>(events)).map(({ reason, message }) => `${reason ?? ""} ${message ?? ""}`);
    return texts.some((text) => text.startsWith("ClusterIPNotForNamespace") && text.includes(before));
  });
  const { services } = await tenants.cluster.stored();
  expect(services.find(({ metadata }) => metadata?.name === "moved-on")?.spec?.clusterIP).toBe(before);
});

it("after all objects have died: creates are judged as before", async () => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", SMALL, "a");
  await tenants.address("a", "before");
  await abortAllDurableObjects();
  expect(isIn(SMALL, await tenants.address("a", "after"))).toBe(true);
  expect(messageOf(await tenants.label("c", "a"))).toBe("");
  expect(isIn(SMALL, await tenants.address("c", "after"))).toBe(true);
});

it("labels change while a create has an address already: it is judged once more, and takes another", async () => {
  const tenants = await Tenants.begin();
  await tenants.range("for-a", SMALL, "a");
  await tenants.address("a", "first");
  const held = holdAnswer(ServiceCIDR.prototype, "allocate");
  const creating = tenants.create("a", "late");
  await eventually(() => Promise.resolve(held.isWaiting));
  expect(messageOf(await tenants.label("a", null))).toBe("");
  held.letGo();
  expect(isIn(SMALL, addressOf(await creating))).toBe(false);
  await tenants.cluster.maintain();
  const uid = (await tenants.cluster.ranges.get("for-a"))?.metadata?.uid ?? "";
  await eventually(async () => (await tenants.cluster.ranges.held(uid)).length === 1);
  await tenants.cluster.check();
});

it("labels: asked for once a namespace, and told from then on; no create asks, and where nothing is kept nobody is told", async () => {
  const tenants = await Tenants.begin();
  const calls = { asked: 0, told: 0, read: 0 };
  intercept(ResourceStore.prototype, "tellNamespaceLabels", (call) => (calls.asked++, call()));
  intercept(ResourceStore.prototype, "get", (call) => (calls.read++, call()));
  intercept(ServicesStore.prototype, "takeNamespaceLabels", (call) => (calls.told++, call()));
  await tenants.address("c", "one");
  expect(messageOf(await tenants.label("c", "x"))).toBe("");
  expect(calls).toMatchObject({ asked: 0, told: 0 });
  await tenants.range("for-a", SMALL, "a");
  await tenants.address("c", "two");
  calls.read = 0;
  for (let i = 0; i < 5; i++) await tenants.address("c", `more${i}`);
  expect(calls).toEqual({ asked: 1, told: 0, read: 0 });
  expect(messageOf(await tenants.label("c", "a"))).toBe("");
  expect(isIn(SMALL, await tenants.address("c", "moved"))).toBe(true);
  expect(calls).toEqual({ asked: 1, told: 1, read: 0 });
});

it("bad annotations: 422 with the field", async () => {
  const tenants = await Tenants.begin();
  const refused = async (annotations: Record<string, string>, cidr = SMALL): Promise<string> =>
    messageOf(await tenants.write("bad", [cidr], annotations));
  expect(await refused({ [SELECTOR]: "tenant in (a" })).toMatch(
    /^422 .*metadata.annotations\[servicenet.dev\/namespace-selector\]: Invalid value/,
  );
  expect(await refused({ [SELECTOR]: "" })).toContain("must name at least one label of namespaces");
  expect(await refused({ [SELECTOR]: "tenant=a", [WHEN_FULL]: "Sometimes" })).toMatch(
    /^422 .*metadata.annotations\[servicenet.dev\/when-full\]: Unsupported value: "Sometimes": supported values: "Any", "Fail"/,
  );
  await tenants.range("for-a", SMALL, "a");
  expect(await refused({ [SELECTOR]: "tenant=b" })).toContain(`ServiceCIDR "for-a" has ${SMALL}, too, and a selector of its own`);
  expect(messageOf(await tenants.write("plain", [SMALL], {}))).toBe("");
});

it("node ports for tenant a: its Services take from them, also one whose type changes behind a restart; all others from elsewhere", async () => {
  const tenants = await Tenants.begin();
  const annotations = { [SELECTOR]: "tenant=a", [NODE_PORTS]: "31000-31009" };
  expect(await tenants.write("for-a", [SMALL], annotations)).toMatchObject({ ok: true });
  await tenants.cluster.ranges.ready("for-a");
  const kept = expect.toSatisfy((port: number) => port >= 31_000 && port <= 31_009);
  expect(await tenants.nodePort("a", "one")).toEqual(kept);
  expect(await tenants.nodePort("b", "one")).not.toEqual(kept);
  expect(await tenants.nodePort("b", "named", 31_005)).toContain(
    'ServiceCIDR "for-a" keeps 31000-31009 for namespaces that match "tenant=a"',
  );
  expect(await tenants.nodePort("a", "named", 31_500)).toContain('take node ports from 31000-31009 of ServiceCIDR "for-a" alone');
  await tenants.address("a", "later");
  await tenants.address("b", "later");
  await abortAllDurableObjects();
  // The first words of the store in its new life: a change of type takes no address, and so asks for the ranges by itself.
  expect(await tenants.nodePort("b", "later", 31_006)).toContain('keeps 31000-31009 for namespaces that match "tenant=a"');
  expect(await tenants.nodePort("b", "later")).not.toEqual(kept);
  expect(await tenants.nodePort("a", "later")).toEqual(kept);
  const other = await tenants.write("for-b", ["10.99.0.0/28"], { [SELECTOR]: "tenant=b", [NODE_PORTS]: "31009-31019" });
  expect(messageOf(other)).toContain('ServiceCIDR "for-a" keeps 31000-31009 for other namespaces');
  const same = { [SELECTOR]: "tenant=a", [NODE_PORTS]: "31009-31019" };
  expect(await tenants.write("more-a", ["10.99.0.0/28"], same)).toMatchObject({ ok: true });
});
