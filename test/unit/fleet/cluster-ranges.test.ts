/** Clusters whose range comes out of a pool: the controller of Clusters beside one of pools that serves its claims. */
import { describe, expect, it } from "vitest";
import type { Cluster } from "../../../src/api/registry/clusters/cluster";
import type { AddressClaim, PoolAddress } from "../../../src/api/registry/ipam/ipam";
import { lifeOfRanges, shown } from "../../support/fleet/life-of-ranges";
import { ClustersWorld } from "../../support/fleet/clusters-world";

const FREE = ["10.128.0.0/20", "10.128.16.0/20"];
const POOL = { pool: { name: "fleet", servicePrefixLength: 20 } };
const IPAM = { group: "ipam.cluster.x-k8s.io" };
const SOON = 3_000;
const LONG = 60_000;
/** Deaths at all places: cluster-ranges.further.test.ts. */
const EACH = 25;

function messageOf(world: ClustersWorld, name: string): string | undefined {
  return world.object(name)?.status?.conditions?.find(({ type }) => type === "Ready")?.message;
}

function claimOf(world: ClustersWorld, name: string): AddressClaim | undefined {
  return world.world.objects<AddressClaim>("claims").find(({ metadata }) => metadata?.name === `cluster-${name}`);
}

/** As the garbage collector, or a client. */
async function removeClaim(world: ClustersWorld, name: string): Promise<void> {
  const answer = await world.world.stores.claims.delete(`cluster-${name}`, {}, "kube-system");
  if (!answer.ok) throw new Error(answer.status.message);
}

describe("a cluster with a pool", () => {
  it("wherever its controller dies: it begins with its range alone, no two have one, and each is given back behind the end", async () => {
    const { points } = (await lifeOfRanges()).world;
    expect(points).toBeGreaterThan(60);
    for (let at = 0; at <= points; at += EACH) await lifeOfRanges(at);
  });

  it("calls that come late, when everything is gone: begin nothing", async () => {
    const world = await lifeOfRanges();
    for (const late of world.sent.splice(0)) late();
    await world.served(SOON, FREE);
    expect([shown(world), world.ranges, [...world.made.values()].map(({ phase }) => phase)]).toEqual([
      [],
      [],
      ["absent", "absent", "absent"],
    ]);
  });

  it("the claim: names pool, length and cluster, belongs to the object, and is kept", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.served(SOON, FREE);
    const { metadata, spec } = claimOf(world, "blue") ?? {};
    expect([metadata?.namespace, metadata?.annotations, spec]).toEqual([
      "kube-system",
      { "servicenet.dev/prefix-length": "20" },
      { clusterName: "blue", poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterPrefixPool", name: "fleet" } },
    ]);
    expect(metadata?.ownerReferences).toMatchObject([{ kind: "Cluster", name: "blue", uid: world.object("blue")?.metadata?.uid }]);
    expect(metadata?.finalizers).toEqual(["ipam.cluster.x-k8s.io/ReleaseAddress", "servicenet.dev/cluster-range"]);
    expect([shown(world), world.made.get("blue")?.serviceRanges, world.object("blue")?.status?.serviceCIDRs]).toEqual([
      ["blue Active True"],
      ["10.128.0.0/20"],
      ["10.128.0.0/20"],
    ]);
  });

  it("a pool that is full: the cluster waits and says so, and begins by itself when there is room", async () => {
    const world = new ClustersWorld();
    for (const name of ["a", "b", "c"]) {
      await world.create(name, POOL);
      await world.served(SOON, FREE);
    }
    expect(shown(world)).toEqual(["a Active True", "b Active True", "c Pending WaitingForRange"]);
    expect(messageOf(world, "c")).toBe('IPAddressClaim "kube-system/cluster-c" waits: it has no range yet');
    expect(world.made.has("c")).toBe(false);
    const calls = world.world.takeCalls().length;
    await world.pass(LONG);
    // It looks less and less often.
    expect(world.world.takeCalls().length).toBeLessThan(calls + 40);
    await world.remove("a");
    await world.served(LONG, FREE);
    expect([shown(world), world.made.get("c")?.serviceRanges]).toEqual([["b Active True", "c Active True"], ["10.128.0.0/20"]]);
  });

  it("a claim that somebody deletes: keeps the range while the cluster is there, and goes behind it", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.served(SOON, FREE);
    await removeClaim(world, "blue");
    await world.served(LONG, FREE);
    expect([world.ranges, shown(world)]).toEqual([["10.128.0.0/20"], ["blue Active True"]]);
    world.wipes = false;
    await world.remove("blue");
    await world.served(LONG, FREE);
    expect([world.ranges, world.made.get("blue")?.phase]).toEqual([["10.128.0.0/20"], "deleting"]);
    world.wipes = true;
    await world.served(LONG, FREE);
    expect([world.ranges, shown(world)]).toEqual([[], []]);
  });

  it("a claim that goes before the cluster has begun: another one comes in its place", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.pass(SOON);
    await removeClaim(world, "blue");
    await world.pass(SOON);
    expect(messageOf(world, "blue")).toBe('IPAddressClaim "kube-system/cluster-blue" is being deleted');
    await world.served(LONG, FREE);
    expect(shown(world)).toEqual(["blue Active True"]);
  });

  it("an object that is deleted while it waits: begins nothing, and leaves no claim", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.pass(SOON);
    await world.remove("blue");
    await world.served(LONG, FREE);
    expect([shown(world), world.world.names("claims"), world.ranges, world.made.has("blue")]).toEqual([[], [], [], false]);
  });

  it("an object that somebody took away by force: the next one of the name has its cluster, and gives the range back in the end", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.served(SOON, FREE);
    const { metadata } = world.object("blue") ?? {};
    await world.remove("blue");
    world.wipes = false;
    const going = world.object("blue");
    // Before its controller has seen the deletion.
    world.made.get("blue")!.phase = "active";
    await world.update({ ...going, metadata: { ...going?.metadata, finalizers: [] } } as Cluster);
    await world.create("blue", POOL);
    await world.served(LONG, FREE);
    expect(world.object("blue")?.metadata?.uid).not.toBe(metadata?.uid);
    expect(world.ranges).toEqual(["10.128.0.0/20"]);
    world.wipes = true;
    await world.remove("blue");
    await world.served(LONG, FREE);
    expect([shown(world), world.ranges, world.world.names("claims")]).toEqual([[], [], []]);
  });

  it("a claim of its name that is somebody else's: is left alone, and the object says so", async () => {
    const world = new ClustersWorld();
    const spec = { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterPrefixPool", name: "fleet" } };
    const claim = { metadata: { name: "cluster-blue", namespace: "kube-system" }, spec };
    await world.world.stores.claims.create(claim as AddressClaim, { group: "ipam.cluster.x-k8s.io" });
    await world.create("blue", POOL);
    await world.served(SOON, FREE);
    expect(messageOf(world, "blue")).toBe('IPAddressClaim "kube-system/cluster-blue" is somebody else\'s');
    await world.remove("blue");
    await world.served(LONG, FREE);
    expect([shown(world), world.world.names("claims")]).toEqual([[], ["cluster-blue"]]);
  });

  it("clients who may write claims, and no clusters: the finalizer that keeps a range stays, and also goes on in a deletion", async () => {
    const world = new ClustersWorld();
    const strip = async (): Promise<void> => {
      const claim = claimOf(world, "blue");
      const finalizers = ["ipam.cluster.x-k8s.io/ReleaseAddress"];
      await world.world.stores.claims.update({ ...claim, metadata: { ...claim?.metadata, finalizers } }, IPAM);
    };
    await world.create("blue", POOL);
    await world.served(SOON, FREE);
    await strip();
    expect(claimOf(world, "blue")?.metadata?.finalizers).toContain("servicenet.dev/cluster-range");
    await removeClaim(world, "blue");
    await strip();
    await world.served(LONG, FREE);
    expect([world.ranges, shown(world)]).toEqual([["10.128.0.0/20"], ["blue Active True"]]);
    await world.remove("blue");
    await world.served(LONG, FREE);
    expect([world.ranges, shown(world), world.world.names("claims")]).toEqual([[], [], []]);
  });

  it("a claim with the owner of the object, on another pool: the cluster does not begin with it", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.pass(SOON);
    const own = claimOf(world, "blue");
    await removeClaim(world, "blue");
    await world.serve(FREE);
    const spec = { ...own?.spec, poolRef: { ...own?.spec?.poolRef, kind: "InClusterIPPool" } };
    const { ownerReferences } = own?.metadata ?? {};
    const forged = { metadata: { name: "cluster-blue", namespace: "kube-system", ownerReferences }, spec };
    expect((await world.world.stores.claims.create(forged as AddressClaim, IPAM)).ok).toBe(true);
    await world.serve(["192.168.0.0/20"]);
    await world.served(LONG, FREE);
    expect([shown(world), world.made.get("blue")?.serviceRanges]).toEqual([["blue Active True"], ["10.128.0.0/20"]]);
    expect(claimOf(world, "blue")?.spec).toEqual(own?.spec);
  });

  it("the address of another claim, which clients have named in the status: is not the cluster's", async () => {
    const world = new ClustersWorld();
    await world.create("green", POOL);
    await world.served(SOON, FREE.slice(0, 1));
    await world.create("blue", POOL);
    await world.pass(SOON);
    const claim = claimOf(world, "blue");
    const address = world.world.stores.addresses.stored<PoolAddress>("cluster-green", "kube-system");
    const owner = {
      apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
      kind: "IPAddressClaim",
      name: "cluster-blue",
      uid: claim?.metadata?.uid ?? "",
    };
    const ownerReferences = [...(address?.metadata?.ownerReferences ?? []), owner];
    await world.world.stores.addresses.update({ ...address, metadata: { ...address?.metadata, ownerReferences } }, IPAM);
    await world.world.stores.claims.update({ ...claim, status: { addressRef: { name: "cluster-green" } } } as AddressClaim, IPAM, "status");
    expect(claimOf(world, "blue")?.status?.addressRef?.name).toBe("cluster-green");
    await world.pass(LONG);
    expect([shown(world), world.made.has("blue")]).toEqual([["blue Pending WaitingForRange", "green Active True"], false]);
  });

  it("an object of an earlier cluster that goes while a later one of the name lives: the claim stays", async () => {
    const world = new ClustersWorld();
    await world.create("blue", POOL);
    await world.served(SOON, FREE);
    Object.assign(world.made.get("blue") ?? {}, { id: "later" });
    await world.remove("blue");
    await world.served(LONG, FREE);
    expect([world.object("blue"), world.ranges, claimOf(world, "blue")?.metadata?.deletionTimestamp]).toEqual([
      undefined,
      ["10.128.0.0/20"],
      undefined,
    ]);
  });

  it("a range that is too small for a cluster: begins none", async () => {
    const world = new ClustersWorld();
    await world.create("blue", { pool: { name: "fleet" } });
    await world.served(SOON, ["10.128.0.0/30"]);
    expect(messageOf(world, "blue")).toContain("the pool has given 10.128.0.0/30");
    expect(world.made.has("blue")).toBe(false);
  });
});
