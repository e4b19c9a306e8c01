import { describe, expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { forbidden, serviceUnavailable } from "../../../../src/api/meta/status";
import { endpointSlicesDefinition } from "../../../../src/api/registry/endpoint-slices/definition";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { EndpointWorld, type WorldOptions } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4, type PodOptions } from "../../../support/worlds/slice-world";

const CREATE = "endpointslices create";
const UPDATE = "endpointslices update";

/** Service s with Pods p0, p1, … on node n1, synced; the writes so far are taken. */
async function cluster(count = 2, options: WorldOptions = {}): Promise<EndpointWorld> {
  const world = new EndpointWorld(options);
  await world.putNode(aNode("n1", "z1"));
  for (let i = 0; i < count; i++) await world.putPod(pod(i));
  await world.putService(aService());
  await world.settle();
  world.takeWrites();
  return world;
}

function pod(i: number, options: PodOptions = {}) {
  return aPod({ name: `p${i}`, ips: [ipv4(256 + i)], readyAt: "2026-01-01T00:00:00Z", ...options });
}

const lengths = (world: EndpointWorld): number[] => world.slices.map((slice) => endpointsOf(slice).length).sort((a, b) => b - a);

const only = (world: EndpointWorld): EndpointSlice => {
  const [slice] = world.slices;
  if (!slice || world.slices.length !== 1) throw new Error(`${world.slices.length} slices`);
  return slice;
};

describe("first sync", () => {
  it("Pods, then their Service: full slices, creates alone", async () => {
    const world = new EndpointWorld({ max: 10 });
    await world.putNode(aNode("n1", "z1"));
    for (let i = 0; i < 25; i++) await world.putPod(pod(i));
    await world.putService(aService());
    await world.settle();
    expect(world.takeWrites()).toEqual([CREATE, CREATE, CREATE]);
    expect(lengths(world)).toEqual([10, 10, 5]);
    expect(world.slices[0]?.metadata).toMatchObject({
      namespace: "ns",
      labels: { "kubernetes.io/service-name": "s", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" },
    });
    expect(endpointsOf(world.slices[0] ?? only(world))[0]).toMatchObject({ nodeName: "n1", zone: "z1", conditions: { ready: true } });
  });

  it("a cluster that is there already, in several pages: every Service gets its slices", async () => {
    const world = new EndpointWorld();
    world.sleep();
    await world.putNode(aNode("n1"));
    for (let i = 0; i < 8; i++) {
      await world.putService(aService({ selector: { app: `a${i}` }, clusterIP: `10.96.0.${i + 1}` }, { name: `s${i}` }));
      await world.putPod(pod(i, { labels: { app: `a${i}` } }));
    }
    world.wake();
    await world.settle();
    expect(world.slices.map(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"]).sort()).toEqual(
      Array.from({ length: 8 }, (_, i) => `s${i}`),
    );
    expect(lengths(world)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it("a Service without Pods: one empty slice", async () => {
    const world = await cluster(0);
    expect(endpointsOf(only(world))).toEqual([]);
  });

  it.each([
    ["without selector", aService({ selector: {} })],
    ["ExternalName", aService({ type: "ExternalName", externalName: "a.example", clusterIP: undefined, ipFamilies: undefined })],
  ])("a Service %s: no slices", async (_, service) => {
    const world = new EndpointWorld();
    await world.putService(service);
    await world.settle();
    expect(world.slices).toEqual([]);
  });
});

describe("a change", () => {
  it.each<[string, (world: EndpointWorld) => Promise<void>, string[], string[]]>([
    ["a Pod turns unready", (world) => world.putPod(pod(0, { ready: false })), [UPDATE], [ipv4(256), ipv4(257)]],
    ["a Pod comes", (world) => world.putPod(pod(2)), [UPDATE], [ipv4(256), ipv4(257), ipv4(258)]],
    ["a Pod goes", (world) => world.delete("pods", "p0"), [UPDATE], [ipv4(257)]],
    ["a Pod loses the label", (world) => world.putPod(pod(0, { labels: {} })), [UPDATE], [ipv4(257)]],
    ["the target port changes", (world) => world.patch("services", "s", port(9090)), [UPDATE], [ipv4(256), ipv4(257)]],
    ["the Node changes its zone", (world) => world.putNode(aNode("n1", "z2")), [UPDATE], [ipv4(256), ipv4(257)]],
    ["the Node goes", (world) => world.delete("nodes", "n1"), [UPDATE], []],
    ["a Pod's annotation", (world) => world.patch("pods", "p0", { metadata: { annotations: { a: "b" } } }), [], [ipv4(256), ipv4(257)]],
    ["the Service's annotation", (world) => world.patch("services", "s", annotated), [], [ipv4(256), ipv4(257)]],
    ["the selector goes", (world) => world.patch("services", "s", { spec: { selector: null } }), [], [ipv4(256), ipv4(257)]],
    ["another Service goes", (world) => world.delete("services", "x"), [], [ipv4(256), ipv4(257)]],
  ])("%s: the writes and addresses of the row", async (_, change, writes, addresses) => {
    const world = await cluster();
    await world.putService(aService({ selector: { app: "x" } }, { name: "x" }));
    await world.settle();
    await world.delete("endpointslices", world.slices.find(({ metadata }) => metadata?.name?.startsWith("x-"))?.metadata?.name ?? "");
    await world.settle();
    world.takeWrites();
    const others = world.slices.filter(({ metadata }) => metadata?.name?.startsWith("x-")).length;
    expect(others).toBe(1);
    await change(world);
    await world.settle();
    expect(world.takeWrites()).toEqual(writes);
    expect(world.addresses).toEqual(addresses);
  });

  it("a Pod and its Node that come between the reads of two feeds: no Node is missed", async () => {
    const world = await cluster(30, { historyEntries: 5 });
    world.sleep();
    for (let i = 0; i < 8; i++) await world.patch("pods", "p1", { metadata: { annotations: { turn: String(i) } } });
    let pages = 0;
    world.fault = (call) => {
      if (call === "pods objectsAfter" && ++pages === 2)
        void world.putNode(aNode("n2")).then(() => world.putPod(pod(99, { nodeName: "n2" })));
      return undefined;
    };
    world.wake();
    await world.settle();
    expect(pages).toBeGreaterThan(2);
    expect(world.addresses).toHaveLength(31);
    expect(world.events).toEqual([]);
  });

  it("a Pod whose Node is not there, and Nodes cannot be read: told when they can", async () => {
    const world = await cluster(1);
    world.fault = (call) => (call.startsWith("nodes") ? "down" : undefined);
    await world.putPod(pod(0, { ready: false }));
    await world.putPod(pod(1, { nodeName: "n2" }));
    await world.settle();
    expect(world.takeWrites()).toEqual([UPDATE]);
    expect(world.events).toEqual([]);
    world.fault = () => undefined;
    await world.settle(60_000);
    expect(world.events.map(({ note }) => note)).toEqual([expect.stringContaining("Node n2 Not Found")]);
  });

  it("two family members and one selector: a Service with both families has slices of both", async () => {
    const world = new EndpointWorld();
    await world.putNode(aNode("n1"));
    await world.putPod(pod(0, { ips: ["10.1.0.1", "fd00::1"] }));
    await world.putService(aService({ ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" }));
    await world.settle();
    expect(world.addresses).toEqual(["10.1.0.1", "fd00::1"]);
  });

  it("a Pod turns ready: the slice tells when", async () => {
    const world = await cluster();
    await world.putPod(pod(0, { ready: false, readyAt: "2026-01-01T00:00:07Z" }));
    await world.settle();
    expect(only(world).metadata?.annotations).toEqual({ "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:07Z" });
  });

  it("a change without a time: the time of the last one goes, and no empty annotations stay", async () => {
    const world = await cluster();
    await world.delete("pods", "p0");
    await world.settle();
    expect(only(world).metadata).not.toHaveProperty("annotations");
  });

  it("the managers of a slice: the controller alone, by its own name", async () => {
    const world = await cluster();
    await world.putPod(pod(2));
    await world.settle();
    expect(new Set(only(world).metadata?.managedFields?.map(({ manager }) => manager))).toEqual(new Set(["endpointslice-controller"]));
  });

  it("nothing changes: a pass reads its feeds and nothing else", async () => {
    const world = await cluster();
    world.poke();
    await world.settle();
    expect(world.calls.sort()).toEqual(["endpointslices objectsSince", "nodes objectsSince", "pods objectsSince", "services objectsSince"]);
  });
});

describe("after sleep", () => {
  it("kept rows: nothing is listed, nothing is written", async () => {
    const world = await cluster(5);
    world.wake();
    await world.settle();
    expect(world.calls.filter((call) => !call.endsWith("objectsSince"))).toEqual([]);
  });

  it("one change of many Pods: one write, and neither Pods nor slices are read anew", async () => {
    const world = await cluster(30, { max: 5 });
    world.sleep();
    await world.putPod(pod(7, { ready: false }));
    world.wake();
    await world.settle();
    expect(world.calls.filter((call) => !call.endsWith("objectsSince"))).toEqual([UPDATE]);
    expect(world.slices.flatMap(endpointsOf).filter(({ conditions }) => conditions?.ready === false)).toHaveLength(1);
  });

  it("wiped rows over an unchanged cluster: nothing is written", async () => {
    const world = await cluster(30, { max: 7 });
    world.rows.slices.clear();
    world.wake();
    await world.settle();
    expect(world.calls).toContain("pods objectsAfter");
    expect(world.takeWrites()).toEqual([]);
  });

  it("rows of another form: they are dropped, and nothing is written", async () => {
    const world = await cluster(5);
    world.rows.slices.rowPut("format", "", "0");
    world.rows.slices.rowPut(
      "pods",
      "ns/ghost",
      JSON.stringify({ namespace: "ns", name: "ghost", labels: { app: "a" }, ips: ["10.9.9.9"] }),
    );
    world.wake();
    await world.settle();
    expect(world.takeWrites()).toEqual([]);
    expect(world.addresses).toHaveLength(5);
  });

  it.each(["pods", "services", "nodes", "endpointslices"] as const)(
    "the cursor of %s is too old: what is gone is dropped, and slices are right",
    async (kind) => {
      const world = await cluster(6, { historyEntries: 5, max: 4 });
      await world.putService(aService({ selector: { app: "b" } }, { name: "gone" }));
      await world.settle();
      world.sleep();
      await world.delete("services", "gone");
      await world.delete("pods", "p0");
      await world.putPod(pod(6));
      await world.putNode(aNode("n2"));
      await world.putPod(pod(7, { nodeName: "n2" }));
      for (let i = 0; i < 8; i++) {
        const name = kind === "services" ? "s" : kind === "pods" ? "p1" : kind === "nodes" ? "n1" : (world.slices[0]?.metadata?.name ?? "");
        await world.patch(kind, name, { metadata: { annotations: { turn: String(i) } } });
      }
      world.wake();
      await world.settle();
      const want = [1, 2, 3, 4, 5, 6, 7].map((i) => ipv4(256 + i));
      const own = world.slices.filter(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"] === "s");
      expect(own.flatMap((slice) => endpointsOf(slice).flatMap(({ addresses }) => addresses)).sort()).toEqual(want);
      expect(world.rows.slices.facts("services").map(([key]) => key)).toEqual(["ns/s"]);
    },
  );
});

it("the store of events hangs: changes of endpoints are written all the same", async () => {
  const world = await cluster(1);
  world.eventsWritten = new Promise(() => undefined);
  for (const i of [1, 2, 3]) {
    await world.putPod(pod(i));
    await world.settle(2_000);
    expect(world.addresses).toHaveLength(i + 1);
  }
});

it("a written slice goes before the history tells of it, and the history is lost: made again", async () => {
  const world = await cluster(3, { historyEntries: 3, max: 2 });
  const before = new Set(world.slices.map(({ metadata }) => metadata?.name));
  let isMade = false;
  world.fault = (call) => {
    isMade ||= call === "endpointslices create";
    return isMade && call.startsWith("endpointslices objects") ? "down" : undefined;
  };
  await world.putPod(pod(3));
  await world.putPod(pod(4));
  await world.settle();
  const made = world.slices.map(({ metadata }) => metadata?.name ?? "").filter((name) => !before.has(name));
  expect(made).toHaveLength(1);
  await world.delete("endpointslices", made[0] ?? "");
  for (let i = 0; i < 8; i++) await world.patch("endpointslices", [...before][0] ?? "", { metadata: { annotations: { turn: String(i) } } });
  world.fault = () => undefined;
  await world.settle(120_000);
  const want = [0, 1, 2, 3, 4].map((i) => ipv4(256 + i));
  expect(world.slices.flatMap((slice) => endpointsOf(slice).flatMap(({ addresses }) => addresses)).sort()).toEqual(want);
});

it("an own write between two pages of a list, and then no history can be read: it is not made again", async () => {
  const world = await cluster(6, { max: 1, historyEntries: 5 });
  const first = (i: number) => world.putPod(pod(i, { labels: { app: "b" } }));
  await world.putService(aService({ selector: { app: "b" } }, { name: "a" }));
  await first(10);
  await world.settle();
  const slice = world.slices.at(-1)?.metadata?.name ?? "";
  const unread = new Set(["endpointslices objectsSince"]);
  world.fault = (call) => (unread.has(call) ? "down" : undefined);
  for (let i = 0; i < 8; i++) await world.patch("endpointslices", slice, { metadata: { annotations: { turn: String(i) } } });
  let pages = 0;
  world.fault = (call) => (call === "endpointslices objectsAfter" && ++pages > 1 ? "down" : undefined);
  await world.settle(30_000);
  world.takeWrites();
  await first(11);
  await world.settle(30_000);
  expect(world.takeWrites(), "behind the first page, which has the slices of Service a").toEqual([CREATE]);
  world.fault = (call) => (unread.has(call) ? "down" : undefined);
  await world.settle(30_000);
  await first(12);
  await world.settle(30_000);
  world.fault = () => undefined;
  await world.settle(60_000);
  expect(world.takeWrites()).toEqual([CREATE]);
  expect(world.addresses).toHaveLength(9);
});

it("a write whose answer is lost, and then the slices cannot be read: none is made twice", async () => {
  const world = new EndpointWorld({ max: 1 });
  await world.putNode(aNode("n1"));
  for (let i = 0; i < 3; i++) await world.putPod(pod(i));
  await world.settle();
  let isWritten = false;
  let unread = 0;
  let most = 0;
  world.fault = (call) => {
    most = Math.max(most, world.slices.length);
    if (call === CREATE && unread === 0) {
      isWritten = true;
      return "lost";
    }
    if (!isWritten || call !== "endpointslices objectsSince" || unread === 2) return undefined;
    unread++;
    return "down";
  };
  await world.putService(aService());
  await world.settle(120_000);
  expect(unread).toBe(2);
  expect(most).toBe(3);
  expect(world.addresses).toEqual([0, 1, 2].map((i) => ipv4(256 + i)));
  expect(world.slices).toHaveLength(3);
});

describe("a crash", () => {
  it.each(["before the write", "after the write", "before the rows are saved"])("%s: the change is written once", async (when) => {
    const world = await cluster(3);
    let isBefore = true;
    world.rows.slices.journal.gate.beforeCommit = () => {
      if (when !== "before the rows are saved" || !isBefore) return;
      isBefore = false;
      throw new Error("a crash");
    };
    world.fault = (call) => {
      if (call !== UPDATE || !isBefore || when === "before the rows are saved") return undefined;
      isBefore = false;
      world.wake();
      return when === "before the write" ? "silent" : "lost";
    };
    await world.putPod(pod(3));
    await world.settle(30_000);
    if (when === "before the rows are saved") world.wake();
    await world.settle();
    expect(isBefore).toBe(false);
    expect(world.addresses).toEqual([0, 1, 2, 3].map((i) => ipv4(256 + i)));
    expect(world.slices).toHaveLength(1);
  });

  it("between the creates of a new Service: no endpoint stands in two slices", async () => {
    const world = new EndpointWorld({ max: 4 });
    await world.putNode(aNode("n1"));
    for (let i = 0; i < 20; i++) await world.putPod(pod(i));
    let creates = 0;
    world.fault = (call) => {
      if (call === CREATE && ++creates === 3) world.wake();
      return undefined;
    };
    await world.putService(aService());
    await world.settle(30_000);
    expect(world.addresses).toEqual(Array.from({ length: 20 }, (_, i) => ipv4(256 + i)).sort());
    expect(lengths(world)).toEqual([4, 4, 4, 4, 4]);
  });
});

describe("slices that somebody else touches", () => {
  it.each<[string, (world: EndpointWorld, name: string) => Promise<void>]>([
    ["endpoints are edited", (world, name) => world.patch("endpointslices", name, { endpoints: [] })],
    ["ports are edited", (world, name) => world.patch("endpointslices", name, { ports: [{ name: "x", port: 1 }] })],
    ["it is deleted", (world, name) => world.delete("endpointslices", name)],
    [
      "it is given to another Service",
      (world, name) => world.patch("endpointslices", name, labelled("kubernetes.io/service-name", "other")),
    ],
    ["it is given to another controller", (world, name) => world.patch("endpointslices", name, labelled(MANAGED_BY, "me"))],
    ["it loses its labels", (world, name) => world.patch("endpointslices", name, { metadata: { labels: null } })],
  ])("%s: the Service has its endpoints again", async (_, change) => {
    const world = await cluster(3);
    const own = (): EndpointSlice[] =>
      world.slices.filter(
        ({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"] === "s" && metadata.labels[MANAGED_BY] !== "me",
      );
    await change(world, only(world).metadata?.name ?? "");
    await world.settle();
    expect(own().flatMap((slice) => endpointsOf(slice).flatMap(({ addresses }) => addresses))).toHaveLength(3);
    expect(own()).toHaveLength(1);
    world.takeWrites();
    world.poke();
    await world.settle();
    expect(world.takeWrites()).toEqual([]);
  });

  it("somebody writes against the controller again and again: at most one write in a second", async () => {
    const world = await cluster(3);
    const name = only(world).metadata?.name ?? "";
    for (let i = 0; i < 20; i++) {
      await world.patch("endpointslices", name, { endpoints: [] });
      await world.settle(200);
    }
    expect(world.takeWrites().length).toBeLessThanOrEqual(5);
  });

  it("a slice of another controller: nobody touches it", async () => {
    const world = await cluster(1);
    const labels = { "kubernetes.io/service-name": "s", [MANAGED_BY]: "me" };
    await world.put("endpointslices", {
      metadata: { namespace: "ns", name: "mine", labels },
      addressType: "IPv4",
      endpoints: [],
    } as EndpointSlice);
    await world.delete("endpointslices", "mine");
    await world.settle();
    expect(world.takeWrites()).toEqual([]);
  });
});

describe("a refused write", () => {
  const quota = { ok: false as const, status: forbidden(endpointSlicesDefinition, "s-1", "exceeded quota: q"), warnings: [] };

  it("quota: the Service waits longer each time, others go on, and one event tells of it", async () => {
    const world = await cluster(1);
    await world.putService(aService({ selector: { app: "b" } }, { name: "b" }));
    await world.settle();
    world.takeWrites();
    world.fault = (call) => (call === UPDATE ? quota : undefined);
    await world.putPod(pod(1));
    await world.settle(60_000);
    const attempts = world.takeWrites().length;
    expect(attempts).toBeGreaterThan(3);
    expect(attempts).toBeLessThan(9);
    expect(new Set(world.events.map(({ reason }) => reason))).toEqual(new Set(["FailedToUpdateEndpointSlices"]));
    expect(new Set(world.events.map(({ note }) => note)).size).toBe(1);
    world.fault = () => undefined;
    await world.settle(120_000);
    expect(world.addresses).toEqual([ipv4(256), ipv4(257)]);
  });

  it("quota of slices: the refusal of each new name is one event", async () => {
    const world = new EndpointWorld();
    let refused = 0;
    world.fault = (call) => {
      if (call !== CREATE) return undefined;
      const status = forbidden(endpointSlicesDefinition, `s-${String(refused++)}`, "exceeded quota: q, used: 0");
      return { ok: false, status, warnings: [] };
    };
    await world.putService(aService());
    await world.settle(60_000);
    expect(refused).toBeGreaterThan(3);
    expect(refused).toBeLessThan(9);
    const message = 'endpointslices.discovery.k8s.io "s-" is forbidden: exceeded quota: q, used: 0';
    expect([...new Set(world.events.map(({ note }) => note))]).toEqual([
      `Error updating Endpoint Slices for Service ns/s: failed to create EndpointSlice for Service ns/s: ${message}`,
    ]);
  });

  describe("a Service with two families that loses IPv6 and gets another Pod", () => {
    const dual = (i: number) => pod(i, { ips: [ipv4(256 + i), `fd00::${i + 1}`] });
    const types = (world: EndpointWorld): string[] => world.slices.map(({ addressType }) => addressType).sort();

    /** Two slices of each family before the change; `fault` begins with it. */
    async function changed(faultOf: (world: EndpointWorld) => EndpointWorld["fault"]): Promise<EndpointWorld> {
      const world = new EndpointWorld({ max: 1 });
      await world.putNode(aNode("n1"));
      for (const i of [0, 1]) await world.putPod(dual(i));
      await world.putService(aService({ ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" }));
      await world.settle();
      expect(types(world)).toEqual(["IPv4", "IPv4", "IPv6", "IPv6"]);
      world.takeWrites();
      world.fault = faultOf(world);
      world.sleep();
      await world.putPod(dual(2));
      await world.patch("services", "s", { spec: { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" } });
      world.wake();
      return world;
    }

    it("under a quota that its slices fill: IPv6 slices are deleted, and the IPv4 slice is made with the next look", async () => {
      const world = await changed(
        ({ stores }) =>
          (call) =>
            call === CREATE && [...stores.endpointslices.storage.objectScan("", "")].length >= 4 ? quota : undefined,
      );
      await world.settle(60_000);
      expect(types(world)).toEqual(["IPv4", "IPv4", "IPv4"]);
    });

    it("and the store does not answer: no slice is deleted in this round", async () => {
      const world = await changed(() => (call) => (call === CREATE ? "silent" : undefined));
      await world.settle(5_000);
      expect(world.takeWrites()).toEqual([CREATE]);
      world.fault = () => undefined;
      await world.settle(60_000);
      expect(types(world)).toEqual(["IPv4", "IPv4", "IPv4"]);
    });
  });

  it("quota under churn: as many attempts as without changes, one event; made within five minutes after the quota is gone", async () => {
    const world = await cluster(1);
    world.fault = (call) => (call === UPDATE ? quota : undefined);
    for (let i = 0; i < 300; i++) {
      await world.putPod(pod(1, { ready: i % 2 === 0 }));
      await world.settle(200);
      if (i === 150) world.wake();
    }
    expect(world.takeWrites().length).toBeLessThan(9);
    expect(world.events.length).toBeLessThan(9);
    expect(new Set(world.events.map(({ note }) => note)).size).toBe(1);
    await world.settle(3_600_000);
    expect(world.takeWrites().length).toBeGreaterThan(11);
    await world.putPod(pod(2));
    world.fault = () => undefined;
    await world.settle(300_000);
    expect(world.addresses).toEqual([0, 1, 2].map((i) => ipv4(256 + i)));
    await world.putPod(pod(3));
    await world.settle(1_000);
    expect(world.addresses).toHaveLength(4);
  });

  it("the store cannot write for a minute, then a Pod changes: the slice is there at once", async () => {
    const world = new EndpointWorld();
    await world.putNode(aNode("n1"));
    await world.putPod(pod(0));
    const status = serviceUnavailable("the namespaces store did not answer", 1);
    world.fault = (call) => (call === CREATE ? { ok: false, status, warnings: [] } : undefined);
    await world.putService(aService());
    await world.settle(60_000);
    expect(world.takeWrites().length).toBeGreaterThanOrEqual(5);
    world.fault = () => undefined;
    await world.putPod(pod(1));
    await world.settle(1_000);
    expect(world.addresses).toEqual([ipv4(256), ipv4(257)]);
  });

  it("quota, then a Service of the same name and another uid under none: its slice is there at once", async () => {
    const world = new EndpointWorld();
    await world.putNode(aNode("n1"));
    await world.putPod(pod(0));
    world.fault = (call) => (call === CREATE ? quota : undefined);
    await world.putService(aService());
    await world.settle(60_000);
    await world.delete("services", "s");
    world.fault = () => undefined;
    await world.putService(aService());
    await world.settle(1_000);
    expect(world.addresses).toEqual([ipv4(256)]);
  });

  it("a waiting Service, and the object sleeps: it is looked at when its time has come", async () => {
    const world = await cluster(1);
    world.fault = (call) => (call === UPDATE ? quota : undefined);
    await world.putPod(pod(1));
    await world.settle(100);
    world.fault = () => undefined;
    world.wake();
    await world.settle();
    expect(world.addresses).toEqual([ipv4(256), ipv4(257)]);
  });

  it("a terminating namespace: nothing is tried again", async () => {
    const causes = [{ reason: "NamespaceTerminating" }];
    const status = forbidden(endpointSlicesDefinition, "", "unable to create new content in namespace ns", causes);
    const world = new EndpointWorld();
    world.fault = (call) => (call === CREATE ? { ok: false, status, warnings: [] } : undefined);
    await world.putService(aService());
    await world.settle(60_000);
    expect(world.takeWrites()).toEqual([CREATE]);
    for (let i = 0; i < 100; i++) {
      await world.patch("services", "s", { metadata: { labels: { turn: String(i) } } });
      await world.settle(200);
    }
    expect(world.takeWrites().length).toBeLessThan(6);
    expect(world.events).toEqual([]);
    await world.delete("services", "s");
    await world.settle(60_000);
    expect(world.rows.slices.facts("due")).toEqual([]);
  });

  it("somebody was faster: the conflict is looked at again", async () => {
    const world = await cluster(2);
    const name = only(world).metadata?.name ?? "";
    let isFirst = true;
    world.fault = (call) => {
      if (call !== UPDATE || !isFirst) return undefined;
      isFirst = false;
      void world.stores.endpointslices.store.write(patchRequest(name));
      return undefined;
    };
    await world.putPod(pod(2));
    await world.settle();
    expect(isFirst).toBe(false);
    expect(world.addresses).toEqual([ipv4(256), ipv4(257), ipv4(258)]);
  });

  it("a store that does not answer: no more writes to it in this round, and all of them later", async () => {
    const world = new EndpointWorld({ max: 1 });
    await world.putNode(aNode("n1"));
    for (let i = 0; i < 50; i++) await world.putPod(pod(i));
    world.fault = (call) => (call === CREATE ? "silent" : undefined);
    await world.putService(aService());
    await world.settle(10_000);
    expect(world.takeWrites()).toHaveLength(16);
    world.fault = () => undefined;
    await world.settle(120_000);
    expect(world.addresses).toHaveLength(50);
    expect(world.slices).toHaveLength(50);
  });
});

describe("what no slice can have", () => {
  it("an unusable address: one event, however often the Service is looked at, also after sleep", async () => {
    const world = await cluster(1);
    await world.putPod(pod(1, { ips: ["127.0.0.1"] }));
    await world.settle();
    await world.putPod(pod(2));
    await world.settle();
    world.wake();
    await world.putPod(pod(3));
    await world.settle();
    expect(world.events.map(({ note }) => note)).toEqual([
      "Error updating Endpoint Slices for Service ns/s: skipping address 127.0.0.1 of Pod p1: no endpoint can have it",
    ]);
    expect(world.addresses).toEqual([ipv4(256), ipv4(258), ipv4(259)]);
  });

  it("Nodes of 300 Pods that do not exist: 100 events, and none at the next look", async () => {
    const world = new EndpointWorld();
    for (let i = 0; i < 300; i++) await world.putPod(pod(i));
    await world.putService(aService());
    await world.settle();
    expect(world.events).toHaveLength(100);
    await world.patch("services", "s", port(9090));
    await world.settle();
    expect(world.events).toHaveLength(100);
  });

  it("a Node that does not exist: one event, and its Pod comes with the Node", async () => {
    const world = await cluster(1);
    await world.putPod(pod(1, { nodeName: "late" }));
    await world.settle();
    expect(world.addresses).toEqual([ipv4(256)]);
    expect(world.events).toHaveLength(1);
    await world.putNode(aNode("late"));
    await world.settle();
    expect(world.addresses).toEqual([ipv4(256), ipv4(257)]);
  });
});

const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const annotated = { metadata: { annotations: { a: "b" } } };

function port(targetPort: number) {
  return { spec: { ports: [{ name: "http", protocol: "TCP", port: 80, targetPort }] } };
}

function labelled(key: string, value: string) {
  return { metadata: { labels: { [key]: value } } };
}

function patchRequest(name: string) {
  const options = {
    dryRun: false,
    fieldManager: "x",
    fieldValidation: "Ignore",
    force: false,
    group: "discovery.k8s.io",
    version: "v1",
  } as const;
  const patch = JSON.stringify({ metadata: { annotations: { by: "somebody" } } });
  return { verb: "patch", key: { namespace: "ns", name }, subresource: "", patchType: "merge", patch, options } as const;
}
