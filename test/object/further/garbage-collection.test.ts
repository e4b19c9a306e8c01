import { abortAllDurableObjects, env, runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import type { Controller } from "../../../durable-objects/controller";
import type { CoreEvent, KubeObject, OwnerReference } from "../../../src/api/meta/kubernetes";
import type { DeleteOptionsRequest } from "../../../src/api/rpc/store";
import { collect, createIn, freshCluster, mergePatch, storedIn, type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { upstreamRow } from "../../conformance/upstream-row";
import { DELETE } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";

const { CONTROLLER, SERVICES_STORE } = env as unknown as {
  CONTROLLER: DurableObjectNamespace<Controller>;
  SERVICES_STORE: DurableObjectNamespace;
};
const API_VERSIONS = { Lease: "coordination.k8s.io/v1", Pod: "v1", Service: "v1", Node: "v1" };
type Kind = keyof typeof API_VERSIONS;

/** A cluster's leases, pods, services and nodes. */
function setting() {
  const cluster = freshCluster();
  const stubs: Record<Kind, () => StoreStub> = {
    Lease: () => storeStubOf(cluster, "leases.coordination.k8s.io"),
    Pod: () => storeStubOf(cluster, "pods"),
    Node: () => storeStubOf(cluster, "nodes"),
    Service: () => SERVICES_STORE.getByName(`${cluster}/services`) as unknown as StoreStub,
  };
  const namespaceOf = (kind: Kind): string => (kind === "Node" ? "" : "default");
  const find = <T extends KubeObject>(kind: Kind, name: string) => storedIn<T>(stubs[kind](), namespaceOf(kind), name);
  const specs: Record<Kind, object> = {
    Lease: { spec: {} },
    Node: {},
    Pod: { spec: { containers: [{ name: "c", image: "i" }] } },
    Service: { spec: { type: "ExternalName", externalName: "example.com" } },
  };
  return {
    controller: () => CONTROLLER.getByName(`${cluster}/controllers/garbage-collection`),
    find,
    /** those of the garbage collector: the controllers of Nodes and Pods tell of theirs, too */
    async events(): Promise<CoreEvent[]> {
      const { items } = await (await collect(storeStubOf(cluster, "events"), "", "events")).json<{ items: CoreEvent[] }>();
      return items.filter(({ reportingComponent }) => reportingComponent === "garbage-collector-controller");
    },
    /** creates an object that `owners` own, and answers how it is referred to by its dependents */
    async make(kind: Kind, name: string, owners: OwnerReference[] = [], metadata: KubeObject["metadata"] = {}): Promise<OwnerReference> {
      const namespace = namespaceOf(kind);
      const object = { ...specs[kind], metadata: { name, ...(namespace ? { namespace } : {}), ownerReferences: owners, ...metadata } };
      expect(await createIn(stubs[kind](), object)).toMatchObject({ ok: true });
      const uid = (await storedIn(stubs[kind](), object.metadata.namespace ?? "", name))?.metadata?.uid ?? "";
      return { apiVersion: API_VERSIONS[kind], kind, name, uid, blockOwnerDeletion: true };
    },
    remove(kind: Kind, name: string, options: Partial<DeleteOptionsRequest> = {}) {
      return stubs[kind]().write({
        verb: "delete",
        key: { namespace: namespaceOf(kind), name },
        options: { ...DELETE, ...options },
      });
    },
    async patch(kind: Kind, name: string, metadata: unknown) {
      const request = mergePatch(namespaceOf(kind), name, { metadata });
      const group = kind === "Lease" ? "coordination.k8s.io" : "";
      if (request.verb === "patch") request.options.group = group;
      expect(await stubs[kind]().write(request)).toMatchObject({ ok: true });
    },
    async gone(...objects: [Kind, string][]) {
      for (const [kind, name] of objects) await vi.waitFor(async () => expect(await find(kind, name)).toBeUndefined(), PATIENCE);
    },
  };
}

describe("a deletion in the background", () => {
  it("dependents of every kind and their dependents: deleted; one with another live owner: stays without the reference", async () => {
    const { make, remove, gone, find } = setting();
    const owner = await make("Lease", "owner");
    const other = await make("Lease", "other");
    const pod = await make("Pod", "pod", [owner]);
    await make("Service", "service", [pod]);
    await make("Pod", "shared", [owner, other]);
    expect(await remove("Lease", "owner", { propagationPolicy: "Background" })).toMatchObject({ ok: true, gone: true });
    await gone(["Pod", "pod"], ["Service", "service"]);
    await vi.waitFor(async () => expect((await find("Pod", "shared"))?.metadata?.ownerReferences).toEqual([other]), PATIENCE);
  });

  it("a dependent of a deleted owner, created later: deleted; one whose owner's kind is not served: stays", async () => {
    const { make, remove, gone, find } = setting();
    const owner = await make("Node", "owner");
    await remove("Node", "owner");
    await make("Lease", "unknown", [{ apiVersion: "apps/v1", kind: "Deployment", name: "d", uid: "d" }]);
    await make("Lease", "late", [owner]);
    await gone(["Lease", "late"]);
    expect(await find("Lease", "unknown")).toBeDefined();
  });
});

describe("an owner in another namespace", () => {
  it("its dependent goes with an Event OwnerRefInvalidNamespace, a cluster-scoped one stays with one", async () => {
    const { make, gone, find, events } = setting();
    const elsewhere = await make("Service", "owner", [], { namespace: "kube-system" });
    const dependent = await make("Lease", "dependent", [elsewhere]);
    const node = await make("Node", "node", [elsewhere]);
    await gone(["Lease", "dependent"]);
    await vi.waitFor(async () => expect(await events()).toHaveLength(2), PATIENCE);
    const told = (await events()).map(({ involvedObject, message, metadata, reason, type }) => {
      expect([metadata.namespace, type]).toEqual(["default", "Warning"]);
      return `${involvedObject.kind ?? ""} ${involvedObject.uid ?? ""} ${reason ?? ""}: ${message ?? ""}`;
    });
    const note = (namespace: string): string =>
      `OwnerRefInvalidNamespace: ownerRef [v1/Service, namespace: ${namespace}, name: owner, uid: ${elsewhere.uid}] ` +
      `does not exist in namespace "${namespace}"`;
    expect(told.sort()).toEqual([`Lease ${dependent.uid} ${note("default")}`, `Node ${node.uid} ${note("")}`]);
    expect(await find("Node", "node")).toBeDefined();
  });
});

describe("a deletion with Orphan", () => {
  it("dependents: stay without the reference", async () => {
    const { make, remove, gone, find } = setting();
    const owner = await make("Service", "owner");
    await make("Pod", "a", [owner]);
    await make("Lease", "b", [owner]);
    expect(await remove("Service", "owner", { propagationPolicy: "Orphan" })).toMatchObject({ ok: true, gone: false });
    await gone(["Service", "owner"]);
    for (const [kind, name] of [
      ["Pod", "a"],
      ["Lease", "b"],
    ] as const) {
      const object = await find(kind, name);
      expect(object?.metadata?.deletionTimestamp).toBeUndefined();
      expect(object?.metadata?.ownerReferences).toBeUndefined();
    }
  });
});

describe("a deletion in the foreground", () => {
  it("the owner: waits for its dependents, also through a restart of all objects", async () => {
    const { make, remove, gone, find, patch, controller } = setting();
    const owner = await make("Pod", "owner");
    const middle = await make("Service", "middle", [owner]);
    await make("Lease", "held", [middle], { finalizers: ["example.com/x"] });
    expect(await remove("Pod", "owner", { propagationPolicy: "Foreground" })).toMatchObject({ ok: true, gone: false });
    await vi.waitFor(async () => expect((await find("Lease", "held"))?.metadata?.deletionTimestamp).toBeDefined(), PATIENCE);
    await abortAllDurableObjects();
    await controller().poke();
    await patch("Pod", "owner", { labels: { seen: "yes" } });
    expect((await find("Service", "middle"))?.metadata?.finalizers).toEqual(["foregroundDeletion"]);
    await patch("Lease", "held", { finalizers: null });
    await gone(["Lease", "held"], ["Service", "middle"], ["Pod", "owner"]);
  });

  upstreamRow("garbage_collector", () => {
    it("three Pods in a circle of owners, one deleted in the foreground with a uid precondition: all go", async () => {
      const { make, remove, gone, patch } = setting();
      const a = await make("Pod", "a");
      const b = await make("Pod", "b", [a]);
      const c = await make("Pod", "c", [b]);
      await patch("Pod", "a", { ownerReferences: [{ ...c, controller: true }] });
      expect(await remove("Pod", "a", { propagationPolicy: "Foreground", preconditions: { uid: a.uid } })).toMatchObject({ ok: true });
      await gone(["Pod", "a"], ["Pod", "b"], ["Pod", "c"]);
    });
  });

  it("a lost poke: the next one makes up for it, and a finished pass leaves no alarm", async () => {
    const { make, remove, gone, controller } = setting();
    const owner = await make("Lease", "owner");
    await make("Lease", "dependent", [owner]);
    await remove("Lease", "owner", { propagationPolicy: "Foreground" });
    await abortAllDurableObjects();
    await controller().poke();
    await gone(["Lease", "owner"], ["Lease", "dependent"]);
    await vi.waitFor(async () => expect(await runDurableObjectAlarm(controller())).toBe(false), PATIENCE);
  });
});
