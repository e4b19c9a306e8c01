import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ResourceStore } from "../../../durable-objects/resource-store";
import { CLOSE_WAIT_MS } from "../../../src/controllers/namespaces/namespace-closing";
import type { Namespace } from "../../../src/api/meta/kubernetes";
import {
  createIn,
  deleteFrom,
  freshCluster,
  mergePatch,
  namespaceController,
  storedIn,
  type StoreStub,
  storeStubOf,
} from "../../support/objects/store-stubs";
import { neverTimeOut } from "../../support/objects/quick-timers";
import { aLease } from "../../support/worlds/store-world";
import { PATIENCE } from "../../support/objects/patience";

const LEASES = "leases.coordination.k8s.io";

// The answer to a deletion comes when every store has closed the namespace.
beforeEach(() => neverTimeOut(CLOSE_WAIT_MS));
afterEach(() => {
  vi.restoreAllMocks();
});

/** A cluster with the namespace `ns`. */
async function setting(namespace: Namespace = {}) {
  const cluster = freshCluster();
  const namespaces = (): StoreStub => storeStubOf(cluster, "namespaces");
  const leases = (): StoreStub => storeStubOf(cluster, LEASES);
  await createIn(namespaces(), { ...namespace, metadata: { name: "ns", ...namespace.metadata } });
  const find = () => storedIn<Namespace>(namespaces(), "", "ns");
  const uid = (await find())?.metadata?.uid ?? "";
  return { cluster, namespaces, leases, find, uid };
}

describe("deletion of a namespace", () => {
  it("a deleted namespace: is emptied and removed without another request", async () => {
    const { cluster, namespaces, leases, find } = await setting();
    for (const name of ["a", "b", "c"]) await createIn(leases(), aLease(name));
    await createIn(storeStubOf(cluster, "endpoints"), { metadata: { name: "e", namespace: "ns" } });
    await createIn(leases(), aLease("stays", {}, { namespace: "default" }));
    expect(await deleteFrom(namespaces(), "", "ns")).toMatchObject({ ok: true, gone: false });
    await vi.waitFor(async () => expect(await find()).toBeUndefined(), PATIENCE);
    for (const name of ["a", "b", "c"]) expect(await storedIn(leases(), "ns", name)).toBeUndefined();
    expect(await storedIn(storeStubOf(cluster, "endpoints"), "ns", "e")).toBeUndefined();
    expect(await storedIn(leases(), "default", "stays")).toBeDefined();
  });

  it("hazard 16: a namespace in deletion: refuses creates; made again: takes them", async () => {
    const { namespaces, leases, find } = await setting();
    await createIn(leases(), aLease("held", {}, { finalizers: ["example.com/x"] }));
    await deleteFrom(namespaces(), "", "ns");
    const refused = await createIn(leases(), aLease("b"));
    expect(refused).toMatchObject({ ok: false, status: { code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } } });
    expect(await createIn(namespaces(), { metadata: { name: "ns" } })).toMatchObject({ ok: false, status: { reason: "AlreadyExists" } });
    await leases().write(mergePatch("ns", "held", { metadata: { finalizers: null } }));
    await vi.waitFor(async () => expect(await find()).toBeUndefined(), PATIENCE);
    expect(await createIn(leases(), aLease("b"))).toMatchObject({ ok: false, status: { code: 404 } });
    expect(await createIn(namespaces(), { metadata: { name: "ns" } })).toMatchObject({ ok: true });
    expect(await createIn(leases(), aLease("b"))).toMatchObject({ ok: true });
  });

  it("a namespace with objects behind finalizers: waits, and the alarm tries again, also after a crash", async () => {
    const { cluster, namespaces, leases, find } = await setting();
    await createIn(leases(), aLease("held", {}, { finalizers: ["example.com/x"] }));
    await createIn(leases(), aLease("free"));
    await deleteFrom(namespaces(), "", "ns");
    await vi.waitFor(async () => expect(await storedIn(leases(), "ns", "free")).toBeUndefined(), PATIENCE);
    await vi.waitFor(
      async () => expect(await storedIn(leases(), "ns", "held")).toMatchObject({ metadata: { deletionGracePeriodSeconds: 0 } }),
      PATIENCE,
    );
    expect((await find())?.status?.phase).toBe("Terminating");
    await vi.waitFor(async () => expect(await runDurableObjectAlarm(namespaceController(cluster))).toBe(true), PATIENCE);
    await abortAllDurableObjects();
    expect(await find()).toBeDefined();
    await leases().write(mergePatch("ns", "held", { metadata: { finalizers: null } }));
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(namespaceController(cluster));
      expect(await find()).toBeUndefined();
    }, PATIENCE);
  });

  it("namespace: pods/services removed; ordered deletion (1.34)", async () => {
    const { cluster, namespaces, leases, find } = await setting();
    const pods = (): StoreStub => storeStubOf(cluster, "pods");
    const pod = {
      metadata: { name: "p", namespace: "ns", finalizers: ["example.com/x"] },
      spec: { containers: [{ name: "c", image: "i" }] },
    };
    expect(await createIn(pods(), pod)).toMatchObject({ ok: true });
    await createIn(leases(), aLease("later"));
    await deleteFrom(namespaces(), "", "ns");
    const condition = async (type: string) => (await find())?.status?.conditions?.find((candidate) => candidate.type === type);
    await vi.waitFor(async () => expect(await condition("NamespaceDeletionContentFailure")).toMatchObject({ status: "False" }), PATIENCE);
    expect(await condition("NamespaceContentRemaining")).toMatchObject({
      status: "True",
      reason: "SomeResourcesRemain",
      message: "Some resources are remaining: pods. has 1 resource instances",
    });
    expect(await condition("NamespaceFinalizersRemaining")).toMatchObject({
      status: "True",
      message: "Some content in the namespace has finalizers remaining: example.com/x in 1 resource instances",
    });
    expect((await find())?.status?.phase).toBe("Terminating");
    expect((await storedIn(pods(), "ns", "p"))?.metadata?.deletionTimestamp).toBeDefined();
    expect((await storedIn(leases(), "ns", "later"))?.metadata?.deletionTimestamp).toBeUndefined();
    await pods().write(mergePatch("ns", "p", { metadata: { finalizers: null } }));
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(namespaceController(cluster));
      expect(await find()).toBeUndefined();
    }, PATIENCE);
    expect(await storedIn(leases(), "ns", "later")).toBeUndefined();
    expect(await createIn(namespaces(), { metadata: { name: "ns" } })).toMatchObject({ ok: true });
    expect(await storedIn(leases(), "ns", "later")).toBeUndefined();
  });

  it("labels and finalizers of a namespace in deletion: kept until each finalizer is removed", async () => {
    const { namespaces, find } = await setting({
      metadata: { labels: { team: "a" }, finalizers: ["example.com/own"] },
      spec: { finalizers: ["example.com/other"] },
    });
    await deleteFrom(namespaces(), "", "ns");
    await vi.waitFor(async () => expect((await find())?.spec?.finalizers).toEqual(["example.com/other"]), PATIENCE);
    expect(await find()).toMatchObject({
      metadata: { labels: { team: "a", "kubernetes.io/metadata.name": "ns" }, finalizers: ["example.com/own"] },
      status: { phase: "Terminating" },
    });
  });

  it("hazard 20: a lost poke: the next one makes up for it", async () => {
    const { cluster, namespaces, find, leases } = await setting();
    await createIn(leases(), aLease("a"));
    await deleteFrom(namespaces(), "", "ns");
    await abortAllDurableObjects();
    await namespaceController(cluster).poke();
    await vi.waitFor(async () => expect(await find()).toBeUndefined(), PATIENCE);
  });
});

describe("late calls", () => {
  it("a late close and a late emptying of a restarted store: leave the successor alone", async () => {
    const { namespaces, leases, find, uid } = await setting();
    await deleteFrom(namespaces(), "", "ns");
    await vi.waitFor(async () => expect(await find()).toBeUndefined(), PATIENCE);
    await createIn(namespaces(), { metadata: { name: "ns" } });
    expect(await createIn(leases(), aLease("of-the-successor"))).toMatchObject({ ok: true });
    await abortAllDurableObjects();
    await leases().closeNamespace("ns", uid);
    expect(await leases().emptyNamespace("ns", uid)).toBe("notClosed");
    expect(await storedIn(leases(), "ns", "of-the-successor")).toBeDefined();
  });

  it("a close while the namespaces store does not answer: throws and closes nothing; the next one closes", async () => {
    const { namespaces, leases, uid } = await setting();
    await createIn(leases(), aLease("held", {}, { finalizers: ["example.com/x"] }));
    await abortAllDurableObjects();
    const silent = vi.spyOn(ResourceStore.prototype, "get").mockRejectedValue(new Error("no answer"));
    const closing = await runInDurableObject(leases(), (store) => (store as ResourceStore).closeNamespace("ns", uid).catch(String));
    expect(closing).toContain("the namespaces store did not answer");
    expect(await leases().emptyNamespace("ns", uid)).toBe("notClosed");
    silent.mockRestore();
    expect(await createIn(leases(), aLease("still-open"))).toMatchObject({ ok: true });
    await deleteFrom(namespaces(), "", "ns");
    expect(await leases().emptyNamespace("ns", uid)).toMatchObject({ objects: 1 });
  });

  it("a pass while the namespaces store does not answer: the next one makes up for it", async () => {
    const { cluster, namespaces, leases, find } = await setting();
    await createIn(leases(), aLease("a"));
    await abortAllDurableObjects();
    const silent = vi.spyOn(ResourceStore.prototype, "get").mockRejectedValue(new Error("no answer"));
    await deleteFrom(namespaces(), "", "ns");
    await vi.waitFor(() => expect(silent.mock.calls.length).toBeGreaterThan(0), PATIENCE);
    silent.mockRestore();
    await vi.waitFor(async () => {
      await namespaceController(cluster).poke();
      expect(await find()).toBeUndefined();
    }, PATIENCE);
    expect(await createIn(namespaces(), { metadata: { name: "ns" } })).toMatchObject({ ok: true });
    expect(await storedIn(leases(), "ns", "a")).toBeUndefined();
  });

  it("a late emptyNamespace: leaves a successor of the same name alone", async () => {
    const { namespaces, leases, find, uid } = await setting();
    await createIn(leases(), aLease("a"));
    await deleteFrom(namespaces(), "", "ns");
    await vi.waitFor(async () => expect(await find()).toBeUndefined(), PATIENCE);
    await createIn(namespaces(), { metadata: { name: "ns" } });
    await createIn(leases(), aLease("b"));
    expect(await leases().emptyNamespace("ns", uid)).toBe("notClosed");
    await leases().closeNamespace("ns", uid);
    expect(await createIn(leases(), aLease("c"))).toMatchObject({ ok: true });
    expect(await storedIn(leases(), "ns", "b")).toBeDefined();
  });
});
