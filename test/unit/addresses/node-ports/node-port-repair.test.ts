/** What the services store does about node ports that repair proposes: it looks again in the turn that acts. */
import { describe, expect, it } from "vitest";
import type { ServicesStore } from "../../../../src/addresses/clusterip/services-store";
import type { LeakedNodePort } from "../../../../src/addresses/rpc/repaired-node-ports";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { ALWAYS } from "../../../support/sim/platform/network";
import { RepairWorld } from "../../../support/worlds/repair-world";
import { DELETE, WRITE } from "../../../support/worlds/store-world";

const TCP = { protocol: "TCP", port: 30_080 };

async function made(): Promise<RepairWorld> {
  return RepairWorld.of(["10.0.0.0/24"]);
}

function rowsOf(world: RepairWorld) {
  return world.cluster.tables.services.nodePorts;
}

function inServices<T>(world: RepairWorld, work: (store: ServicesStore) => Promise<T>): Promise<T> {
  return world.run(world.cluster.network.call(ALWAYS, world.cluster.services, work));
}

function named(...nodePorts: number[]): Service["spec"] {
  return { type: "NodePort", ports: nodePorts.map((nodePort, i) => ({ name: `p${i}`, port: 80 + i, nodePort })) };
}

function uidOf(world: RepairWorld, name: string): string {
  return world.services().find(({ metadata }) => metadata?.name === name)?.metadata?.uid ?? "";
}

/** What is found about the Services of these names. */
async function foundIn(world: RepairWorld, ...names: string[]): Promise<string[]> {
  const seen = names.map((name) => ({ namespace: "default", name, uid: uidOf(world, name) }));
  const found = await inServices(world, (store) => store.makeNodePortsWhole(seen));
  return found.flatMap((findings, i) => findings.map(({ port, kind }) => `${names[i] ?? ""}: ${port} ${kind}`));
}

function leak(key: string, isLastSight: boolean, nodePort = TCP): LeakedNodePort {
  return { ...nodePort, key, isLastSight };
}

/** The text of a stored Service is damaged. */
function damage(world: RepairWorld, name: string, text: string): void {
  const { store } = world.cluster.tables.services;
  const stored = store.objectGet(`default/${name}`);
  if (!stored) throw new Error(`${name} is not stored`);
  store.objectPut({ ...stored, data: text });
}

describe("makeNodePortsWhole", () => {
  it("Service with its rows: nothing found, nothing written", async () => {
    const world = await made();
    await world.createService("web", named(30_080, 30_081));
    const { journal } = world.cluster.tables.services;
    const commits = journal.commits;
    expect([await foundIn(world, "web"), journal.commits]).toEqual([[], commits]);
  });

  it("row that is missing: written for the Service, which keeps the port", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/web");
    expect(await foundIn(world, "web")).toEqual(["web: 30080 repair"]);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
    expect(await foundIn(world, "web")).toEqual([]);
  });

  it("rows of a load balancer, the health check's too: written again", async () => {
    const world = await made();
    const spec: Service["spec"] = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80, nodePort: 30_080 }] };
    await world.createService("web", { ...spec, healthCheckNodePort: 30_100 });
    const before = [...rowsOf(world).rows.values()];
    for (const row of before) rowsOf(world).nodePortDelete(row, row.key);
    expect(await foundIn(world, "web")).toEqual(["web: 30080 repair", "web: 30100 repair"]);
    expect(rowsOf(world).rows.values()).toEqual(before);
  });

  it("two Services with one port and no row: the first gets it, the second is a duplicate", async () => {
    const world = await made();
    await world.createService("a", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/a");
    await world.createService("b", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/b");
    expect(await foundIn(world, "a", "b")).toEqual(["a: 30080 repair", "b: 30080 duplicate"]);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/a");
    await world.remove("services", "a");
    expect(await foundIn(world, "b")).toEqual(["b: 30080 repair"]);
  });

  it("row of a Service that is gone, or holds another port: is the holder's from now on", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    await world.createService("other", named(30_081));
    for (const key of ["default/gone", "default/other"]) {
      rowsOf(world).rows.set("TCP/30080", { ...TCP, key });
      expect(await foundIn(world, "web")).toEqual(["web: 30080 repair"]);
      expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
    }
  });

  it.each(["{", "null", '{"metadata":{},"spec":{"ports":{}}}', '{"metadata":{},"spec":{"ports":[{"nodePort":"30080"}]}}'])(
    "row of a Service that reads %s: stays, and is reported as unknown",
    async (text) => {
      const world = await made();
      await world.createService("broken", named(30_080));
      rowsOf(world).nodePortDelete(TCP, "default/broken");
      await world.createService("web", named(30_080));
      rowsOf(world).rows.set("TCP/30080", { ...TCP, key: "default/broken" });
      damage(world, "broken", text);
      const seen = [{ namespace: "default", name: "web", uid: world.cluster.tables.services.store.objectGet("default/web")?.uid ?? "" }];
      expect(await inServices(world, (store) => store.makeNodePortsWhole(seen))).toEqual([[{ port: 30_080, kind: "unknown" }]]);
      expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/broken");
    },
  );

  it("Service of before, of the same name: nothing is concluded", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/web");
    const seen = [{ namespace: "default", name: "web", uid: "of the one before" }];
    expect(await inServices(world, (store) => store.makeNodePortsWhole(seen))).toEqual([[]]);
    expect(rowsOf(world).nodePortHolder(TCP)).toBeUndefined();
  });

  it("Service that drops the port in the turn before: no row is written", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/web");
    const seen = [{ namespace: "default", name: "web", uid: uidOf(world, "web") }];
    // Both join the same turn, the deletion first.
    const { brain } = world.cluster.services;
    const removed = brain.store.write({ verb: "delete", key: { namespace: "default", name: "web" }, options: DELETE });
    const found = brain.makeNodePortsWhole(seen);
    expect((await world.run(removed)).ok).toBe(true);
    expect([await world.run(found), rowsOf(world).nodePortHolder(TCP)]).toEqual([[[]], undefined]);
  });
});

describe("makeServicesWhole", () => {
  const answered = async (world: RepairWorld) => {
    const seen = [{ namespace: "default", name: "web", uid: uidOf(world, "web") }];
    const [address = ""] = world.services().find(({ metadata }) => metadata?.name === "web")?.spec?.clusterIPs ?? [];
    const items = seen.map((service) => ({ ...service, address, object: "", isRight: true }));
    return inServices(world, (store) => store.makeServicesWhole(items, seen));
  };

  it("row of a node port that is missing: written beside the look at addresses", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    rowsOf(world).nodePortDelete(TCP, "default/web");
    expect(await answered(world)).toEqual({ addresses: ["whole"], nodePorts: [[{ port: 30_080, kind: "repair" }]] });
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
  });

  it("rows of node ports that cannot be read: the answer about addresses is there all the same", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    world.cluster.services.brain.makeNodePortsWhole = () => Promise.reject(new Error("the disk is broken"));
    expect(await answered(world)).toEqual({ addresses: ["whole"], nodePorts: null });
  });
});

describe("leakedNodePorts", () => {
  it("rows of Services that are gone or hold another port: found page by page; those of unreadable ones are not", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    await world.createService("broken", named(30_081));
    damage(world, "broken", "{");
    const rows = rowsOf(world);
    for (const port of [30_000, 30_500, 31_000]) rows.nodePortAdd({ protocol: "TCP", port }, "default/gone");
    rows.nodePortAdd({ protocol: "SCTP", port: 30_080 }, "default/web");
    const leaked: string[] = [];
    let pages = 0;
    for (let after: { protocol: string; port: number } | undefined = { protocol: "", port: 0 }; after; pages++) {
      const from: { protocol: string; port: number } = after;
      const page = await inServices(world, (store) => store.leakedNodePorts(from, 2));
      leaked.push(...page.leaked.map(({ protocol, port, key }) => `${protocol}/${port} ${key}`));
      after = page.next;
    }
    expect([leaked, pages]).toEqual([
      ["SCTP/30080 default/web", "TCP/30000 default/gone", "TCP/30500 default/gone", "TCP/31000 default/gone"],
      4,
    ]);
  });
});

describe("settleNodePorts", () => {
  it("row that leaked: kept until its last sight, then freed and given out again", async () => {
    const world = await made();
    rowsOf(world).nodePortAdd(TCP, "default/gone");
    expect(await inServices(world, (store) => store.settleNodePorts([leak("default/gone", false)]))).toEqual(["leaked"]);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/gone");
    expect(await inServices(world, (store) => store.settleNodePorts([leak("default/gone", true)]))).toEqual(["freed"]);
    expect(rowsOf(world).nodePortHolder(TCP)).toBeUndefined();
    expect(await inServices(world, (store) => store.settleNodePorts([leak("default/gone", true)]))).toEqual(["fine"]);
    await world.createService("web", named(30_080));
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
  });

  it("port that a Service has just got: never freed, whatever was proposed", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    for (const key of ["default/web", "default/gone"]) {
      expect(await inServices(world, (store) => store.settleNodePorts([leak(key, true)]))).toEqual(["fine"]);
    }
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
  });

  it("port that a Service gets in the turn of a repeated proposal: stays the Service's", async () => {
    const world = await made();
    await world.createService("web", named(30_081));
    rowsOf(world).nodePortAdd(TCP, "default/web");
    const patch = JSON.stringify({ spec: { ports: [{ name: "p0", port: 80, nodePort: 30_080 }] } });
    const key = { namespace: "default", name: "web" };
    const { brain } = world.cluster.services;
    // All see the leak, and all join one turn: it is freed, taken, and proposed once more.
    const freed = brain.settleNodePorts([leak("default/web", true)]);
    const options = { ...WRITE, group: "" };
    const updated = brain.store.write({ verb: "patch", patchType: "merge", key, subresource: "", patch, options });
    const repeated = brain.settleNodePorts([leak("default/web", true)]);
    expect(await world.run(Promise.all([freed, updated, repeated]))).toMatchObject([["freed"], { ok: true }, ["fine"]]);
    expect(rowsOf(world).rows.values()).toEqual([{ ...TCP, key: "default/web" }]);
  });

  it("row of a Service that cannot be read: nothing follows from it", async () => {
    const world = await made();
    await world.createService("web", named(30_080));
    damage(world, "web", "{");
    expect(await inServices(world, (store) => store.settleNodePorts([leak("default/web", true)]))).toEqual(["fine"]);
    expect(rowsOf(world).nodePortHolder(TCP)).toBe("default/web");
  });
});
