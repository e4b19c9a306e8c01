/** Services of type LoadBalancer and their addresses of pools: what each write makes of them, and what is left where an object dies at any await. */
import { describe, expect, it } from "vitest";
import type { PoolAddress } from "../../../../src/api/registry/ipam/ipam";
import type { PoolFacts } from "../../../../src/api/rpc/pool-book";
import type { PoolRow } from "../../../../src/pools/pool-book";
import { WaitingServices } from "../../../../src/pools/load-balancers/waiting-services";
import { BalancerWorld } from "../../../support/pools/balancer-world";
import { DELETE, WRITE } from "../../../support/worlds/store-world";

const LONG = 200_000;
const IPAM = { group: "ipam.cluster.x-k8s.io", version: "v1beta2" };

const toClusterIP = <T extends { spec?: object | undefined }>(service: T): T => {
  const { loadBalancerClass: _, ...spec } = { loadBalancerClass: "", ...service.spec };
  return { ...service, spec: { ...spec, type: "ClusterIP" } };
};
const toBalancer = <T extends { spec?: object | undefined }>(service: T): T => ({
  ...service,
  spec: { ...service.spec, type: "LoadBalancer", loadBalancerClass: "servicenet.dev/pool" },
});

/** Two addresses and three Services; one goes, one changes its type and comes back, then all go. */
async function life(dieAt: number): Promise<BalancerWorld> {
  const world = new BalancerWorld();
  world.dieAt = dieAt;
  world.pool("p", ["10.0.0.1-10.0.0.2"]);
  for (const name of ["a", "b", "c"]) await world.create(name);
  await world.pass(LONG);
  await world.maintain();
  await world.pass(LONG);
  expect(world.problems, `first, death ${dieAt}`).toEqual([]);
  expect(world.shown, `first, death ${dieAt}`).toEqual([expect.stringContaining("a 10.0.0."), expect.stringContaining("b 10.0.0.")]);
  const second = world.shown[1];
  await world.remove("a");
  await world.pass(LONG);
  await world.maintain();
  expect([world.problems, world.shown.length, world.shown[0]], `freed, death ${dieAt}`).toEqual([[], 2, second]);
  await world.update("b", toClusterIP);
  await world.pass(LONG);
  await world.update("b", toBalancer);
  await world.pass(LONG);
  await world.maintain();
  expect([world.problems, world.shown.length], `back, death ${dieAt}`).toEqual([[], 2]);
  for (const name of ["b", "c"]) await world.remove(name);
  await world.pass(LONG);
  await world.maintain();
  await world.pass(LONG);
  expect([world.shown, world.rows, [...world.held], [...world.waiting]], `empty, death ${dieAt}`).toEqual([[], [], [], []]);
  return world;
}

describe("a life of Services", () => {
  it("without a death: one call for each address that is taken, or given back; one for whoever waits; one that compares the rows", async () => {
    const { calls, events } = await life(0);
    const waits = ["take", "rows", "take"];
    expect(calls).toEqual(["take", "take", ...waits, "release", "take", "release", "take", "release", "release"]);
    expect(events).toEqual([
      'c AllocationFailed: Failed to allocate IP for "ns/c": no available IPs',
      'c IPAllocated: Assigned IP ["10.0.0.1"]',
      'a ClearAssignment: IP ["10.0.0.1"] was given back, and goes to "ns/c", which waited for one',
    ]);
  });

  it("with a death at any await: no address twice, none lost", async () => {
    const { points } = await life(0);
    expect(points).toBeGreaterThan(10);
    for (let dieAt = 1; dieAt <= points; dieAt++) expect((await life(dieAt)).deaths, `death ${dieAt}`).toBe(1);
  });
});

const DUAL = {
  ipFamilies: ["IPv4", "IPv6"],
  ipFamilyPolicy: "PreferDualStack",
  clusterIP: "10.96.0.1",
  clusterIPs: ["10.96.0.1", "fd01::1"],
};

describe("two families", () => {
  it("preferred: the Service has what there is, and gets the other one when a pool has it", async () => {
    const world = new BalancerWorld();
    world.pool("four", ["10.0.0.1"]);
    await world.create("a", DUAL);
    expect([world.shown, world.events]).toEqual([["a 10.0.0.1"], []]);
    world.pool("six", ["fd00::1-fd00::9"]);
    await world.own.roomInPools([]);
    await world.pass(LONG);
    expect(world.shown).toEqual(["a 10.0.0.1 fd00::1"]);
  });

  it("required: both, or none; one that is dropped goes back", async () => {
    const world = new BalancerWorld();
    world.pool("four", ["10.0.0.1"]);
    await world.create("a", { ...DUAL, ipFamilyPolicy: "RequireDualStack" });
    expect([world.shown, world.rows, world.events]).toEqual([
      [],
      [],
      ['a AllocationFailed: Failed to allocate IP for "ns/a": no available IPs'],
    ]);
    world.pool("six", ["fd00::1"]);
    await world.maintain();
    expect([world.shown, world.problems]).toEqual([["a 10.0.0.1 fd00::1"], []]);
    const single = { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack", clusterIPs: ["10.96.0.1"] };
    expect(await world.update("a", (service) => ({ ...service, spec: { ...service.spec, ...single } }))).toMatchObject({ ok: true });
    expect([world.shown, world.rows]).toEqual([["a 10.0.0.1"], ["a 10.0.0.1"]]);
  });
});

describe("who waits", () => {
  it("longest is served first, whoever comes later; a change that is no wish asks nobody", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    for (const name of ["a", "b", "c"]) await world.create(name);
    const { calls } = world;
    calls.length = 0;
    await world.update("b", (service) => ({ ...service, metadata: { ...service.metadata, annotations: { note: "x" } } }));
    expect(calls).toEqual([]);
    // Room that nobody has told of yet.
    world.pool("p", ["10.0.0.1-10.0.0.2"]);
    await world.create("d");
    expect(world.shown).toEqual(["a 10.0.0.1"]);
    await world.remove("a");
    await world.pass(LONG);
    expect(world.shown).toEqual(["b 10.0.0.1", "c 10.0.0.2"]);
  });

  it("while an address is given back: is not forgotten", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a");
    await Promise.all([world.create("b"), world.remove("a")]);
    await world.pass(LONG);
    expect([world.shown, world.problems]).toEqual([["b 10.0.0.1"], []]);
  });

  it("and is deleted, or changes its type: waits no more", async () => {
    const world = new BalancerWorld();
    for (const name of ["a", "b"]) await world.create(name);
    await world.remove("a");
    await world.update("b", toClusterIP);
    expect([...world.waiting]).toEqual([]);
  });

  it("for a pool that looks at labels: they are read when the book asks for them", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"], { priority: 0, namespaceSelectors: ["team=a"], isChosen: true });
    await world.create("a");
    expect([world.shown, world.calls]).toEqual([[], ["take", "take"]]);
    world.labels.set("ns", { team: "a" });
    await world.maintain();
    expect(world.shown).toEqual(["a 10.0.0.1"]);
  });

  it("in great number: an address that is given back costs one lot of them", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    for (let i = 0; i < 100; i++) await world.create(`s${String(i).padStart(3, "0")}`);
    world.calls.length = 0;
    await world.remove("s000");
    await world.pass(LONG);
    expect([world.shown, world.calls]).toEqual([["s001 10.0.0.1"], ["release", "take"]]);
  });
});

describe("more Services wait than one pass asks for", () => {
  it("those in front can get nothing: the ones behind are served all the same, by the next pass, and then nobody is asked for", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"], { priority: 0, namespaces: ["other"], isChosen: true });
    await world.create("holds", {}, { namespace: "other" });
    for (let i = 0; i < 1_100; i++) world.waiting.set(`ns/s${i}`, { uid: `u${i}`, since: i, pools: [], asked: [] });
    const spec = { type: "LoadBalancer", loadBalancerClass: "servicenet.dev/pool", ports: [{ port: 80 }] };
    for (const [key, { uid }] of world.waiting) {
      const name = key.slice(3);
      const data = JSON.stringify({ metadata: { namespace: "ns", name, uid }, spec: { ...spec, ipFamilies: ["IPv4"] } });
      world.services.storage.objectPut({ key, uid, revision: 1, data });
    }
    world.restartServices();
    await world.create("last", {}, { namespace: "other" });
    expect(world.shown).toEqual(["holds 10.0.0.1"]);
    world.pool("p", ["10.0.0.1-10.0.0.2"], { priority: 0, namespaces: ["other"], isChosen: true });
    await world.own.roomInPools([]);
    await world.pass(LONG);
    expect(world.shown).toEqual(["holds 10.0.0.1", "last 10.0.0.2"]);
    const { length } = world.calls;
    await world.pass(LONG);
    expect(world.calls).toHaveLength(length);
  });
});

describe("the class that is served by default", () => {
  const none = { loadBalancerClass: undefined } as unknown as object;

  it("Services without a class: are served, none is written, and what they have stays when they are served no more", async () => {
    const world = new BalancerWorld();
    world.isDefault = true;
    world.restartServices();
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    await world.create("a", none);
    expect([world.shown, world.service("a")?.spec?.loadBalancerClass]).toEqual([["a 10.0.0.1"], undefined]);
    world.isDefault = false;
    world.restartServices();
    await world.create("b", none);
    await world.update("a", (service) => ({ ...service, metadata: { ...service.metadata, labels: { x: "y" } } }));
    expect(world.shown).toEqual(["a 10.0.0.1"]);
  });

  it("those that were there before: keep the address of another controller where the pool has it free", async () => {
    const world = new BalancerWorld();
    await world.create("plain", none);
    await world.create("shows", none);
    const ingress = [{ ip: "10.0.0.1" }];
    await world.update("shows", (service) => ({ ...service, status: { loadBalancer: { ingress } } }), "status");
    world.isDefault = true;
    world.restartServices();
    await world.expectPools();
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    await world.own.roomInPools([]);
    await world.pass(LONG);
    expect([world.shown, world.problems]).toEqual([["plain 10.0.0.2", "shows 10.0.0.1"], []]);
  });
});

describe("an address that a Service shows before any pool has it", () => {
  it("is kept for it until the pool gives: nobody else gets it, in whatever order they are served", async () => {
    const world = new BalancerWorld();
    world.isDefault = true;
    world.restartServices();
    await world.create("shows");
    await world.update("shows", (service) => ({ ...service, status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } } }), "status");
    await world.expectPools();
    await world.pass(LONG);
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    await world.create("asks", { loadBalancerIP: "10.0.0.1" });
    await world.create("any");
    expect(world.shown).toEqual(["any 10.0.0.2", "shows 10.0.0.1"]);
    await world.maintain();
    expect(world.shown).toEqual(["any 10.0.0.2", "shows 10.0.0.1"]);
    expect(world.rows).toEqual(["any 10.0.0.2", "shows 10.0.0.1"]);
  });
});

describe("an address that a Service shows, and that somebody else has when a pool comes", () => {
  it("leaves the status when the Service gets another one, and an Event tells so", async () => {
    const world = new BalancerWorld();
    world.isDefault = true;
    world.restartServices();
    await world.create("shows");
    const ingress = [{ ip: "10.0.0.1" }, { ip: "192.0.2.1" }];
    await world.update("shows", (service) => ({ ...service, status: { loadBalancer: { ingress } } }), "status");
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    await world.claimed("10.0.0.1", "p");
    await world.maintain();
    expect(world.shown).toEqual(["shows 10.0.0.2 192.0.2.1"]);
    expect(world.events).toContain(
      'shows LoadBalancerFailed: IP ["10.0.0.1"] is not held for the Service any more: a pool has it for others',
    );
  });
});

describe("calls that come to nothing", () => {
  it.each(["before", "after"] as const)(
    "a take whose answer is lost, %s its effect: the Service waits, and nothing leaks",
    async (when) => {
      const world = new BalancerWorld();
      world.pool("p", ["10.0.0.1"]);
      world.fault = ({ does }, at) => (does === "take" && at === when ? new Error("lost") : undefined);
      expect((await world.create("a")).ok).toBe(true);
      expect(world.shown).toEqual([]);
      world.fault = () => undefined;
      await world.pass(LONG);
      expect([world.shown, world.problems]).toEqual([["a 10.0.0.1"], []]);
    },
  );

  it("a write that is refused behind its take: what it took goes back at once", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("x", { type: "ClusterIP", loadBalancerClass: undefined } as unknown as object);
    world.fault = ({ does }, when) => {
      if (does === "take" && when === "before")
        void world.services.store.write({ verb: "delete", key: { namespace: "ns", name: "x" }, options: DELETE });
      return undefined;
    };
    const updated = await world.update("x", toBalancer);
    expect(updated.ok).toBe(false);
    await world.pass(1_000);
    expect([world.calls, world.rows]).toEqual([["take", "release"], []]);
  });

  it("a release whose answer is lost: is made again, and frees nobody else's", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a");
    world.fault = ({ does }, at) => (does === "release" && at === "after" ? new Error("lost") : undefined);
    await world.update("a", toClusterIP);
    world.fault = () => undefined;
    await world.create("b");
    expect(world.shown).toEqual(["b 10.0.0.1"]);
    await world.pass(LONG);
    expect([world.shown, world.problems]).toEqual([["b 10.0.0.1"], []]);
  });

  it("a take of an earlier life that comes late: takes nothing", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a");
    world.restartServices();
    await world.pass(LONG);
    const late = { service: { namespace: "ns", name: "b", uid: "u" }, wanted: [{ row: "ns/b-1", family: "IPv4" as const }], all: false };
    expect(await world.ask({ does: "take", session: 1, requests: [late] })).toEqual({ kind: "outdated", session: 2 });
  });
});

describe("a store or a book that came back from before", () => {
  it("a store whose number of lives is an old one: goes on behind the newest", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.2"]);
    for (let life = 0; life < 3; life++) {
      world.restartServices();
      await world.maintain();
    }
    await world.create("a");
    world.numbers.set("session", 1);
    world.restartServices();
    await world.create("b");
    expect([world.shown, world.problems]).toEqual([["a 10.0.0.1", "b 10.0.0.2"], []]);
  });

  it("rows are taken again; an address that is somebody else's now is lost, and its Service is told", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    for (const name of ["a", "b"]) await world.create(name);
    for (const row of world.rowKeys) world.addresses.storage.objectDelete(row);
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    await world.claimed("10.0.0.1", "p");
    world.restartServices();
    await world.pass(LONG);
    expect([world.shown, world.rows]).toEqual([
      ["a 10.0.0.3", "b 10.0.0.2"],
      ["- 10.0.0.1", "a 10.0.0.3", "b 10.0.0.2"],
    ]);
    expect(world.events).toEqual([
      'a LoadBalancerFailed: IP ["10.0.0.1"] is not held for the Service any more: "10.0.0.1" is already in use',
      'a IPAllocated: Assigned IP ["10.0.0.3"]',
    ]);
  });
});

const objectOfClient = ({ metadata, spec }: PoolAddress, address: string) => ({
  metadata: { namespace: metadata?.namespace, name: metadata?.name },
  spec: { ...spec, claimRef: { name: metadata?.name }, address },
});

describe("an object that has the name of a row that was lost", () => {
  it.each(["10.0.0.1", "10.0.0.7"])("of a client, with %s: is no row, so the Service gets another address", async (address) => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    await world.create("a");
    const [row = ""] = world.rowKeys;
    const stored = JSON.parse(world.addresses.storage.objectGet(row)?.data ?? "") as PoolAddress;
    world.addresses.storage.objectDelete(row);
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    const made = await world.addresses.create(objectOfClient(stored, address), { group: "ipam.cluster.x-k8s.io", version: "v1beta2" });
    expect(made).toMatchObject({ ok: true });
    world.restartServices();
    await world.pass(LONG);
    const other = address === "10.0.0.1" ? "10.0.0.2" : "10.0.0.1";
    expect([world.shown, world.rows]).toEqual([[`a ${other}`], [`- ${address}`, `a ${other}`].toSorted()]);
  });

  it("of the Service, with another address: is given back", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.9"]);
    await world.create("a");
    const [row = ""] = world.rowKeys;
    const stored = world.addresses.storage.objectGet(row);
    if (stored) world.addresses.storage.objectPut({ ...stored, data: stored.data.replace('"10.0.0.1"', '"10.0.0.7"') });
    world.restartServices();
    await world.pass(LONG);
    expect([world.shown.length, world.problems]).toEqual([1, []]);
  });
});

const annotated = (annotations: Record<string, string>) => ({ annotations });
const note =
  (annotations: Record<string, string>) =>
  <T extends { metadata?: object | undefined }>(service: T): T => ({ ...service, metadata: { ...service.metadata, annotations } });

describe("an address of a pool in the status, from somebody else", () => {
  it.each([false, true])("is refused; as a trial: %s", async (dryRun) => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a", { loadBalancerClass: "example.com/other" });
    const object = JSON.stringify({ ...world.service("a"), status: { loadBalancer: { ingress: [{ ip: "10.0.0.1" }] } } });
    const key = { namespace: "ns", name: "a" };
    const options = { ...WRITE, dryRun, group: "", version: "v1" };
    const write = world.services.store.write({ verb: "update", key, subresource: "status", object, options });
    expect(await world.scheduler.run(write)).toMatchObject({ ok: false, status: { code: 422 } });
    expect(world.calls).toEqual(["cover"]);
  });
});

describe("an address that is asked for", () => {
  it("free: is given, also from a pool on request; not given by any pool: the Service waits", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.9"], { priority: 0, onRequest: true });
    await world.create("a", { loadBalancerIP: "10.0.0.5" });
    await world.create("b", { loadBalancerIP: "10.0.1.5" });
    await world.create("c");
    expect([world.shown, world.events]).toEqual([
      ["a 10.0.0.5"],
      [
        'b AllocationFailed: Failed to allocate IP for "ns/b": ["10.0.1.5"] is not allowed in config',
        'c AllocationFailed: Failed to allocate IP for "ns/c": no available IPs',
      ],
    ]);
  });

  it("held by another: the Service gets it as soon as it is free, and no younger one before", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.2"]);
    await world.create("a");
    await world.create("b", { loadBalancerIP: "10.0.0.1" });
    await world.create("c");
    await world.create("d");
    expect(world.events[0]).toBe('b AllocationFailed: Failed to allocate IP for "ns/b": "10.0.0.1" is already in use');
    await world.remove("a");
    await world.create("e");
    await world.pass(LONG);
    expect([world.shown, world.problems]).toEqual([["b 10.0.0.1", "c 10.0.0.2"], []]);
    await world.remove("c");
    await world.pass(LONG);
    expect(world.shown).toEqual(["b 10.0.0.1", "d 10.0.0.2"]);
  });

  it("that the Service may never get: is kept from nobody", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.2"], { priority: 0, namespaces: ["other"], isChosen: true });
    await world.create("greedy", { loadBalancerIP: "10.0.0.1" });
    await world.create("a", {}, { namespace: "other" });
    expect(world.shown).toEqual(["a 10.0.0.1"]);
    await world.create("b", { loadBalancerIP: "10.0.0.2" }, { namespace: "other" });
    expect(world.shown).toEqual(["a 10.0.0.1", "b 10.0.0.2"]);
  });

  it("by Services of one namespace: so many are kept for them, and as many again for those of others", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.250"]);
    for (let i = 1; i <= 120; i++) await world.create(`has${i}`, { loadBalancerIP: `10.0.0.${i}` });
    for (let i = 1; i <= 60; i++) await world.create(`wants${i}`, { loadBalancerIP: `10.0.0.${i}` });
    for (let i = 61; i <= 120; i++) await world.create(`wants${i}`, { loadBalancerIP: `10.0.0.${i}` }, { namespace: "other" });
    const asked = new WaitingServices({ waiting: () => world.waiting, saveWaiting: () => undefined }).before("ns/none")?.asked;
    const upTo = (from: number) => Array.from({ length: 50 }, (_, i) => `10.0.0.${from + i}`);
    const ofPool = asked?.["GlobalInClusterIPPool//p"] ?? [];
    expect([ofPool.slice(0, 50), ofPool.slice(50)]).toEqual([upTo(1), upTo(61)]);
  });

  it("by a young Service, while older ones wait for any: is left to them", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    for (const name of ["a", "b"]) await world.create(name);
    world.pool("p", ["10.0.0.1-10.0.0.2"]);
    await world.create("c", { loadBalancerIP: "10.0.0.2" });
    expect(world.shown).toEqual(["a 10.0.0.1"]);
    await world.maintain();
    expect(world.shown).toEqual(["a 10.0.0.1", "b 10.0.0.2"]);
  });

  it("asked for later: the Service keeps what it has until it is free", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    for (const name of ["a", "b"]) await world.create(name);
    await world.update("b", note({ "metallb.io/loadBalancerIPs": "10.0.0.1" }));
    expect([world.shown, world.problems]).toEqual([["a 10.0.0.1", "b 10.0.0.2"], []]);
    await world.remove("a");
    await world.pass(LONG);
    expect([world.shown, world.problems]).toEqual([["b 10.0.0.1"], []]);
    await world.update("b", note({ "lbipam.cilium.io/ips": "10.0.0.3" }));
    expect([world.shown, world.problems]).toEqual([["b 10.0.0.3"], []]);
  });

  it("that cannot be read: nothing changes, and one Event says why", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    await world.create("a");
    await world.update("a", note({ "metallb.io/loadBalancerIPs": "x" }));
    await world.update("a", note({ "metallb.io/loadBalancerIPs": "x", more: "y" }));
    await world.create("b", {}, annotated({ "metallb.io/loadBalancerIPs": "x" }));
    await world.pass(LONG);
    const why = 'LoadBalancerFailed: invalid requested loadbalancer IPs: invalid IP "x"';
    expect([world.shown, [...world.waiting], world.events]).toEqual([["a 10.0.0.1"], [], [`a ${why}`, `b ${why}`]]);
  });
});

describe("Services that share an address", () => {
  const KEY = annotated({ "metallb.io/allow-shared-ip": "k" });
  const ports = (port: number) => ({ ports: [{ port }] });

  it("get one that others with the key have, with other ports, also when they do not ask for it; else their own", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    await world.create("plain");
    await world.create("a", ports(80), KEY);
    await world.create("b", ports(443), KEY);
    await world.create("c", ports(80), KEY);
    expect(world.shown).toEqual(["a 10.0.0.2", "b 10.0.0.2", "c 10.0.0.3", "plain 10.0.0.1"]);
    expect(world.rows).toHaveLength(4);
  });

  it("an address is free when the last one has left it", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a", ports(80), KEY);
    await world.create("b", { ...ports(443), loadBalancerIP: "10.0.0.1" }, KEY);
    await world.create("waits");
    for (const name of ["a", "b"]) {
      expect(world.shown).toContain("b 10.0.0.1");
      await world.remove(name);
      await world.pass(LONG);
    }
    expect([world.shown, world.rows]).toEqual([["waits 10.0.0.1"], ["waits 10.0.0.1"]]);
  });

  it("a change that breaks the rules costs the changed Service its address; one that does not keeps it", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.2"]);
    await world.create("a", ports(80), KEY);
    await world.create("b", ports(443), KEY);
    await world.update("b", (service) => ({ ...service, spec: { ...service.spec, ...ports(8443) } }));
    expect(world.shown).toEqual(["a 10.0.0.1", "b 10.0.0.1"]);
    await world.update("b", (service) => ({ ...service, spec: { ...service.spec, ...ports(80) } }));
    expect(world.shown).toEqual(["a 10.0.0.1", "b 10.0.0.2"]);
    await world.update("b", note({}));
    expect([world.shown, world.rows]).toEqual([
      ["a 10.0.0.1", "b 10.0.0.2"],
      ["a 10.0.0.1", "b 10.0.0.2"],
    ]);
    await world.update("a", note({}));
    expect(world.rows).toEqual(["a 10.0.0.1", "b 10.0.0.2"]);
  });

  it("256 at one address: each that comes is compared with all of them, so the next one gets another", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    for (let i = 1; i <= 257; i++) await world.create(`s${i}`, ports(i), KEY);
    const at = (address: string) => world.shown.filter((text) => text.endsWith(` ${address}`)).length;
    expect([at("10.0.0.1"), world.shown.includes("s257 10.0.0.2")]).toEqual([256, true]);
    await world.remove("s1");
    await world.create("t", ports(1), KEY);
    expect([at("10.0.0.1"), world.shown.includes("t 10.0.0.1"), world.problems.filter((text) => !text.endsWith("twice"))]).toEqual([
      256,
      true,
      [],
    ]);
  });

  it("a change that breaks the rules, and asks for what cannot be read: costs the Service its address all the same", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1-10.0.0.2"]);
    await world.create("a", ports(443), KEY);
    await world.create("b", ports(80), KEY);
    const bogus = note({ ...KEY.annotations, "metallb.io/loadBalancerIPs": "bogus" });
    await world.update("b", bogus);
    expect(world.shown).toEqual(["a 10.0.0.1", "b 10.0.0.1"]);
    await world.update("b", (service) => bogus({ ...service, spec: { ...service.spec, ...ports(443) } }));
    expect([world.shown, world.rows]).toEqual([["a 10.0.0.1"], ["a 10.0.0.1"]]);
    await world.update("b", note(KEY.annotations));
    expect([world.shown, world.problems]).toEqual([["a 10.0.0.1", "b 10.0.0.2"], []]);
  });

  it("one that may share waits for what others with the key have", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a", ports(80), KEY);
    await world.create("b", ports(80), KEY);
    expect(world.shown).toEqual(["a 10.0.0.1"]);
    await world.update("a", (service) => ({ ...service, spec: { ...service.spec, ...ports(81) } }));
    await world.maintain();
    expect(world.shown).toEqual(["a 10.0.0.1", "b 10.0.0.1"]);
  });
});

describe("a restore", () => {
  it("Services come before pools: each takes the address that it shows, also where an older one waits for any", async () => {
    const world = new BalancerWorld();
    for (const name of ["older", "a", "b"]) await world.create(name);
    for (const [name, ip] of [
      ["a", "10.0.0.1"],
      ["b", "10.0.0.2"],
    ] as const)
      await world.update(name, (service) => ({ ...service, status: { loadBalancer: { ingress: [{ ip }] } } }), "status");
    await world.expectPools();
    world.pool("p", ["10.0.0.1-10.0.0.3"]);
    await world.own.roomInPools([]);
    await world.pass(LONG);
    expect([world.shown, world.problems]).toEqual([["a 10.0.0.1", "b 10.0.0.2", "older 10.0.0.3"], []]);
  });
});

describe("the row of a Service, in the hands of a client", () => {
  it("keeps its finalizer and its Service; deleted, it stays until the Service goes", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    await world.create("a");
    const [row = ""] = world.rowKeys;
    const name = row.slice("ns/".length);
    const stored = world.addresses.stored<PoolAddress>(name);
    const { finalizers: _, annotations: __, labels: ___, ...metadata } = stored?.metadata ?? {};
    const changed = await world.addresses.update({ ...stored, metadata } as PoolAddress, IPAM);
    expect(changed.ok).toBe(true);
    await world.addresses.delete(name);
    expect(world.addresses.stored<PoolAddress>(name)?.metadata).toMatchObject({
      finalizers: stored?.metadata?.finalizers,
      annotations: stored?.metadata?.annotations,
      labels: stored?.metadata?.labels,
      deletionTimestamp: expect.any(String) as string,
    });
    await world.create("b");
    expect(world.shown).toEqual(["a 10.0.0.1"]);
    await world.remove("a");
    await world.pass(LONG);
    expect([world.shown, world.rows]).toEqual([["b 10.0.0.1"], ["b 10.0.0.1"]]);
  });

  it("no client makes one", async () => {
    const world = new BalancerWorld();
    world.pool("p", ["10.0.0.1"]);
    const made = await world.claimed("10.0.0.1", "p", { claimRef: { name: "other" } });
    expect([made.ok, made.ok ? "" : made.status.message]).toEqual([
      false,
      expect.stringContaining("an IPAddress has the name of the claim that it is for"),
    ]);
  });
});

describe("a pool that is written just now", () => {
  const facts = (from: number, to: number, serves: boolean): PoolFacts => ({
    family: "IPv4",
    intervals: [[String(10 * 2 ** 24 + from), String(10 * 2 ** 24 + to)]],
    natDomain: "",
    keepsOutside: false,
    ...(serves && { loadBalancer: { priority: 0 } }),
  });
  it.each<[string, PoolRow, string[]]>([
    ["is made", { facts: facts(1, 9, true), before: null, token: "t" }, []],
    ["begins to serve", { facts: facts(1, 9, true), before: facts(1, 9, false), token: "t" }, []],
    ["ends to serve", { facts: facts(1, 9, false), before: facts(1, 9, true), token: "t" }, []],
    [
      "moves on: gives what it gives before and behind",
      { facts: facts(5, 9, true), before: facts(1, 6, true), token: "t" },
      ["a 10.0.0.5"],
    ],
    ["is being deleted", { facts: facts(1, 9, true), closed: true }, []],
  ])("%s", async (_, row, shown) => {
    const world = new BalancerWorld();
    world.row("GlobalInClusterIPPool//p", row);
    await world.create("a");
    expect(world.shown).toEqual(shown);
  });
});
