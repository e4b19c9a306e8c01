/** With all crons off: the poke of a deletion by hand restores the object, and released addresses are usable at once. */
import { describe, expect, it } from "vitest";
import { upstreamRow } from "../../conformance/upstream-row";
import { Api, type Body } from "../../support/clients/api";
import { configWithoutCrons } from "../../support/server/own-config";
import { damageData } from "../../support/server/damage";
import { serverForTests } from "../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const ADDRESSES = "/apis/networking.k8s.io/v1/ipaddresses";
const RANGES = "/apis/networking.k8s.io/v1/servicecidrs";
const EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events";
/** In seconds. Upstream waits 10; here repair rests nine times as long as it works, and a busy machine makes its work long. */
const REPAIRED_S = 30;
/** upstream's own wait, in seconds */
const DEFAULT_SERVICE_S = 15;

const args = ["--config", configWithoutCrons()];
const server = serverForTests(args);
const api = new Api(() => server.url);

async function create(name: string, spec: object = {}): Promise<string> {
  const { spec: stored } = await api.must("POST", SERVICES, { body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } } });
  return String(stored?.["clusterIP"]);
}

async function parentOf(address: string): Promise<string | undefined> {
  const { code, body } = await api.get(`${ADDRESSES}/${address}`);
  const { namespace, name } = (body.spec?.["parentRef"] ?? {}) as Record<string, string>;
  return code === 200 ? `${String(namespace)}/${String(name)}` : undefined;
}

/** Whether the ServiceCIDR of this name is Ready, and another one than before. */
async function isAnew({ metadata }: Body, of: Api = api): Promise<boolean> {
  const { code, body } = await of.get(`${RANGES}/${String(metadata?.name)}`);
  return code === 200 && body.metadata?.uid !== metadata?.uid && JSON.stringify(body.status ?? {}).includes('"status":"True"');
}

/** `reason note` of the events about a Service. */
async function told(service: string): Promise<string[]> {
  const { items = [] } = await api.must("GET", EVENTS, { query: { fieldSelector: `regarding.name=${service}` } });
  return items.map(({ reason, note }: Body) => `${String(reason)} ${String(note)}`).sort();
}

describe("without any cron", () => {
  it("a force-deleted IPAddress of a live Service: restored", async () => {
    const address = await create("web");
    const { metadata } = await api.must("GET", `${ADDRESSES}/${address}`);
    await api.must("DELETE", `${ADDRESSES}/${address}`, { query: { gracePeriodSeconds: "0" } });
    await api.until(async () => (await parentOf(address)) === "default/web", "the IPAddress of web", REPAIRED_S);
    expect((await api.must("GET", `${ADDRESSES}/${address}`)).metadata?.uid).not.toBe(metadata?.uid);
    const note = `ClusterIPNotAllocated Cluster IP [IPv4]: ${address} is not allocated; repairing`;
    await api.until(async () => (await told("web")).includes(note), "the event", REPAIRED_S);
  });

  it("all IPAddresses, deleted as a collection: restored", async () => {
    const addresses = await Promise.all(Array.from({ length: 40 }, (_, i) => create(`many-${String(i)}`)));
    await api.must("DELETE", ADDRESSES);
    await api.until(
      async () => (await Promise.all(addresses.map(parentOf))).every((parent, i) => parent === `default/many-${String(i)}`),
      "the IPAddresses of 40 Services",
      REPAIRED_S,
    );
  });

  it("a client's IPAddress at a Service's address: replaced by the Service's", async () => {
    const address = await create("wrong");
    await api.must("DELETE", `${ADDRESSES}/${address}`);
    const spec = { parentRef: { resource: "services", namespace: "default", name: "nobody" } };
    // In any order: the Service has the row of the address, so the client's request is refused.
    const { code } = await api.send("POST", ADDRESSES, { body: { metadata: { name: address }, spec } });
    expect(code).toBe(409);
    await api.until(async () => (await parentOf(address)) === "default/wrong", "the Service's IPAddress", REPAIRED_S);
  });

  it("default/kubernetes and its IPAddress: restored at the same address", async () => {
    const { spec } = await api.must("GET", `${SERVICES}/kubernetes`);
    const address = String(spec?.["clusterIP"]);
    await api.must("DELETE", `${ADDRESSES}/${address}`);
    await api.until(async () => (await parentOf(address)) === "default/kubernetes", "the IPAddress of kubernetes", REPAIRED_S);
    await api.must("DELETE", `${SERVICES}/kubernetes`);
    await api.until(async () => (await api.get(`${SERVICES}/kubernetes`)).code === 200, "default/kubernetes", DEFAULT_SERVICE_S);
    await api.until(async () => (await parentOf(address)) === "default/kubernetes", "its IPAddress", REPAIRED_S);
  });

  it("the ServiceCIDR kubernetes, removed by force: restored, and gives out addresses", async () => {
    const before = await api.must("GET", `${RANGES}/kubernetes`);
    const address = await create("through");
    await api.must("DELETE", `${RANGES}/kubernetes`);
    await api.patch(`${RANGES}/kubernetes`, "application/merge-patch+json", { metadata: { finalizers: [] } });
    await api.until(async () => await isAnew(before), "the ServiceCIDR kubernetes", DEFAULT_SERVICE_S);
    expect(await create("after-force")).toMatch(/^10\.96\./);
    expect(await parentOf(address)).toBe("default/through");
    expect((await api.must("GET", `${SERVICES}/kubernetes`)).spec?.["clusterIP"]).toBe("10.96.0.1");
  });

  it("the ServiceCIDR kubernetes and default/kubernetes: restored together, even after a long wait of the first", async () => {
    await api.must("PUT", "/clusters/both");
    const cluster = new Api(() => `${server?.url ?? ""}/clusters/both`);
    const before = await cluster.must("GET", `${RANGES}/kubernetes`);
    await cluster.must("DELETE", `${RANGES}/kubernetes`);
    const state = async (): Promise<string> => JSON.stringify((await cluster.must("GET", `${RANGES}/kubernetes`)).status);
    await cluster.until(async () => (await state()).includes('"Terminating"'), "the condition", DEFAULT_SERVICE_S);
    const { metadata } = await cluster.must("GET", `${SERVICES}/kubernetes`);
    await cluster.must("DELETE", `${SERVICES}/kubernetes`);
    await cluster.until(async () => await isAnew(before, cluster), "the ServiceCIDR kubernetes", DEFAULT_SERVICE_S);
    await cluster.until(
      async () => {
        const { code, body } = await cluster.get(`${SERVICES}/kubernetes`);
        return code === 200 && body.metadata?.uid !== metadata?.uid;
      },
      "default/kubernetes",
      DEFAULT_SERVICE_S,
    );
  });

  it("a released address: usable at once", async () => {
    const clusterIP = await create("before", { clusterIP: "10.96.0.77" });
    await api.must("DELETE", `${SERVICES}/before`);
    expect(await create("after", { clusterIP })).toBe(clusterIP);
    expect(await parentOf(clusterIP)).toBe("default/after");
  });

  it("a full /28: a released address goes to the next dynamic request at once", async () => {
    await api.must("PUT", "/clusters/full");
    const full = new Api(() => `${server.url}/clusters/full`);
    await full.must("POST", RANGES, { body: { metadata: { name: "small" }, spec: { cidrs: ["10.97.0.0/28"] } } });
    const conditions = async (name: string): Promise<string> => JSON.stringify((await full.must("GET", `${RANGES}/${name}`)).status ?? {});
    await full.until(async () => (await conditions("small")).includes('"status":"True"'), "small is Ready");
    // Being deleted, it gives out no address any more, and default/kubernetes keeps it.
    await full.must("DELETE", `${RANGES}/kubernetes`);
    await full.until(async () => (await conditions("kubernetes")).includes('"Terminating"'), "kubernetes is Terminating");
    const send = (name: string) => full.send("POST", SERVICES, { body: { metadata: { name }, spec: { ports: [{ port: 80 }] } } });
    const holders = new Map<string, string>();
    for (let i = 0; i < 14; i++) {
      const { body } = await send(`web-${String(i)}`);
      holders.set(String(body.spec?.["clusterIP"]), `web-${String(i)}`);
    }
    expect([...holders.keys()].sort()).toEqual(Array.from({ length: 14 }, (_, i) => `10.97.0.${String(i + 1)}`).sort());
    for (const [round, [address, name]] of [...holders].slice(0, 6).entries()) {
      const { code, body } = await send("refused");
      expect([code, body.message]).toEqual([500, expect.stringContaining("range is full")]);
      if (round % 2 === 0) await full.must("DELETE", `${SERVICES}/${name}`);
      else {
        const spec = { type: "ExternalName", externalName: "a.example.com", clusterIP: null, clusterIPs: null };
        expect((await full.patch(`${SERVICES}/${name}`, "application/merge-patch+json", { spec })).code).toBe(200);
      }
      const next = await send(`next-${String(round)}`);
      expect([next.code, next.body.spec?.["clusterIP"]]).toEqual([201, address]);
    }
  });
});

upstreamRow("TestMigrateService, TestEnableDisableServiceCIDR", () => {
  it("a Service without row and IPAddress: has both after a start under other variables, which an event reports", async () => {
    await server?.stop();
    const address = "10.96.3.4";
    const stored = {
      metadata: {
        namespace: "default",
        name: "stored",
        uid: "uid-of-stored",
        creationTimestamp: "2026-01-01T00:00:00Z",
        resourceVersion: "1",
      },
      spec: {
        type: "ClusterIP",
        clusterIP: address,
        clusterIPs: [address],
        ipFamilies: ["IPv4"],
        ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      },
    };
    const sql = "INSERT INTO objects (key, uid, revision, data) VALUES (?, ?, ?, ?)";
    const values = ["default/stored", stored.metadata.uid, 1, JSON.stringify(stored)];
    await damageData(server.folder, [{ class: "ServicesStore", name: "default/services", sql, values }]);
    await server.start([...args, "--var", "FEATURE_GATES=ServiceIPStaticSubrange=false"]);
    await api.until(async () => (await parentOf(address)) === "default/stored", "the IPAddress of a stored Service", REPAIRED_S);
    const { code, body } = await api.send("POST", SERVICES, {
      body: { metadata: { name: "second" }, spec: { clusterIP: address, ports: [{ port: 80 }] } },
    });
    expect([code, body.message]).toEqual([422, expect.stringContaining("provided IP is already allocated")]);
    const note = "ConfigurationChanged ServiceIPStaticSubrange was true and is false; all Services are looked at";
    await api.until(async () => (await told("kubernetes")).includes(note), "the event about the configuration", REPAIRED_S);
  });
});
