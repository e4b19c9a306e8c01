import {
  ApiException,
  CoordinationV1Api,
  CoreV1Api,
  DiscoveryV1Api,
  KubeConfig,
  KubernetesObjectApi,
  NetworkingV1Api,
  PatchStrategy,
  V1MicroTime,
  VersionApi,
  Watch,
  makeInformer,
  setHeaderOptions,
} from "@kubernetes/client-node";
import type { V1Service, V1Status } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkOrdered, checkState } from "../../support/checks/checkers";
import { observe } from "../../support/server/observe";
import { clusterForTests, DUAL_STACK } from "../../support/server/cluster-for-tests";

const namespace = "default";
const cluster = clusterForTests({ args: DUAL_STACK });
let config: KubeConfig;
let core: CoreV1Api;

beforeAll(() => {
  config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});
afterAll(async () => {
  expect(checkState(await observe(cluster.url))).toEqual([]);
});

const service = (name: string, spec: V1Service["spec"] = {}): V1Service => ({
  metadata: { name, labels: { app: name } },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});

/** The Status that a call is refused with. */
async function refusal(call: Promise<unknown>): Promise<V1Status & { code: number }> {
  const error = await call.then(
    () => undefined,
    (e: unknown) => e,
  );
  if (!(error instanceof ApiException)) throw new Error(`not refused: ${String(error)}`);
  const status = (typeof error.body === "string" ? JSON.parse(error.body) : error.body) as V1Status;
  expect(status.code).toBe(error.code);
  return { ...status, code: error.code };
}

describe("JavaScript client: Services", () => {
  it("a Service: created, read, listed, replaced, patched, deleted", async () => {
    const created = await core.createNamespacedService({ namespace, body: service("typed") });
    expect(created.spec?.clusterIP).toMatch(/^10\.96\.\d+\.\d+$/);
    expect(created.metadata?.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);

    const read = await core.readNamespacedService({ namespace, name: "typed" });
    expect(read).toEqual(created);
    const list = await core.listNamespacedService({ namespace, labelSelector: "app=typed" });
    expect(list.items.map((item) => item.metadata?.name)).toEqual(["typed"]);
    expect(Number(list.metadata?.resourceVersion)).toBeGreaterThanOrEqual(Number(created.metadata?.resourceVersion));

    read.metadata = { ...read.metadata, labels: { app: "typed", replaced: "yes" } };
    const replaced = await core.replaceNamespacedService({ namespace, name: "typed", body: read });
    expect(replaced.metadata?.labels?.["replaced"]).toBe("yes");
    expect(replaced.spec?.clusterIP).toBe(created.spec?.clusterIP);
    expect((await refusal(core.replaceNamespacedService({ namespace, name: "typed", body: read }))).message).toBe(
      'Operation cannot be fulfilled on services "typed": the object has been modified; please apply your changes to the latest version and try again',
    );

    const patched = await core.patchNamespacedService(
      { namespace, name: "typed", body: { metadata: { annotations: { note: "merge" } } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    expect(patched.metadata?.annotations?.["note"]).toBe("merge");
    const byJson = await core.patchNamespacedService({
      namespace,
      name: "typed",
      body: [{ op: "replace", path: "/spec/ports/0/port", value: 8080 }],
    });
    expect(byJson.spec?.ports?.[0]?.port).toBe(8080);

    const deleted = await core.deleteNamespacedService({ namespace, name: "typed" });
    expect(deleted.metadata?.name).toBe("typed");
    expect(await refusal(core.readNamespacedService({ namespace, name: "typed" }))).toMatchObject({ code: 404, reason: "NotFound" });
  });

  it("dual-stack: two addresses, two IPAddress objects whose names travel percent-encoded", async () => {
    const networking = config.makeApiClient(NetworkingV1Api);
    const created = await core.createNamespacedService({ namespace, body: service("dual", { ipFamilyPolicy: "RequireDualStack" }) });
    const [v4 = "", v6 = ""] = created.spec?.clusterIPs ?? [];
    expect(v4).toMatch(/^10\.96\./);
    expect(v6).toMatch(/^fd00:96::/);
    for (const name of [v4, v6]) {
      const ipAddress = await networking.readIPAddress({ name });
      expect(ipAddress.spec?.parentRef).toMatchObject({ resource: "services", namespace, name: "dual" });
      expect(ipAddress.metadata?.labels).toMatchObject({ "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" });
    }
    await core.deleteNamespacedService({ namespace, name: "dual" });
    expect(await refusal(networking.readIPAddress({ name: v6 }))).toMatchObject({ code: 404 });
  });

  it("generateName, dryRun, deletecollection: five names of their own, nothing stored, none left", async () => {
    const dry = await core.createNamespacedService({ namespace, body: service("dry"), dryRun: "All" });
    expect(dry.metadata?.uid).toBeDefined();
    expect((await refusal(core.readNamespacedService({ namespace, name: "dry" }))).code).toBe(404);
    const generated = await Promise.all(
      Array.from({ length: 5 }, () =>
        core.createNamespacedService({
          namespace,
          body: { metadata: { generateName: "gen-", labels: { gen: "yes" } }, spec: { ports: [{ port: 80 }] } },
        }),
      ),
    );
    expect(new Set(generated.map((item) => item.metadata?.name)).size).toBe(5);
    await core.deleteCollectionNamespacedService({ namespace, labelSelector: "gen=yes" });
    expect((await core.listNamespacedService({ namespace, labelSelector: "gen=yes" })).items).toEqual([]);
  });

  it("finalizers: hold a deleted Service until they are removed", async () => {
    const body = service("held");
    body.metadata = { ...body.metadata, finalizers: ["example.com/hold"] };
    const created = await core.createNamespacedService({ namespace, body });
    await core.deleteNamespacedService({ namespace, name: "held" });
    const held = await core.readNamespacedService({ namespace, name: "held" });
    expect(held.metadata?.deletionTimestamp).toBeInstanceOf(Date);
    expect(held.spec?.clusterIP).toBe(created.spec?.clusterIP);
    await core.patchNamespacedService(
      { namespace, name: "held", body: { metadata: { finalizers: null } } },
      setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    expect((await refusal(core.readNamespacedService({ namespace, name: "held" }))).code).toBe(404);
  });
});

describe("JavaScript client: other resources", () => {
  it("the version: readable", async () => {
    const version = await config.makeApiClient(VersionApi).getCode();
    expect(version.gitVersion).toMatch(/^v1\.36\.2-servicenet\.\d+$/);
  });

  it("namespaces: a Service needs one that exists; the four of a new cluster do", async () => {
    const names = (await core.listNamespace()).items.map((item) => item.metadata?.name);
    expect(names).toEqual(expect.arrayContaining(["default", "kube-system", "kube-public", "kube-node-lease"]));
    expect(await refusal(core.createNamespacedService({ namespace: "team", body: service("a") }))).toMatchObject({
      code: 404,
      message: 'namespaces "team" not found',
    });
    await core.createNamespace({ body: { metadata: { name: "team" } } });
    const created = await core.createNamespacedService({ namespace: "team", body: service("a") });
    expect(created.metadata?.namespace).toBe("team");
    expect(await refusal(core.deleteNamespace({ name: "default" }))).toMatchObject({ code: 403 });
  });

  it("Leases: create, renew, and a lost race", async () => {
    const leases = config.makeApiClient(CoordinationV1Api);
    const body = { metadata: { name: "leader" }, spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: new V1MicroTime() } };
    const created = await leases.createNamespacedLease({ namespace, body });
    expect(created.spec?.holderIdentity).toBe("a");
    const taken = { ...created, spec: { ...created.spec, holderIdentity: "b" } };
    expect((await leases.replaceNamespacedLease({ namespace, name: "leader", body: taken })).spec?.holderIdentity).toBe("b");
    expect(await refusal(leases.replaceNamespacedLease({ namespace, name: "leader", body: taken }))).toMatchObject({
      code: 409,
      reason: "Conflict",
    });
  });

  it("ServiceCIDRs, IPAddresses, EndpointSlices, nodes, pods and events: listed", async () => {
    const networking = config.makeApiClient(NetworkingV1Api);
    const cidrs = await networking.listServiceCIDR();
    expect(cidrs.items.map((item) => item.spec?.cidrs)).toEqual([["10.96.0.0/16", "fd00:96::/112"]]);
    expect((await networking.listIPAddress()).items.length).toBeGreaterThan(0);
    expect((await config.makeApiClient(DiscoveryV1Api).listNamespacedEndpointSlice({ namespace })).items).toBeInstanceOf(Array);
    expect((await core.listNode()).items).toEqual([]);
    expect((await core.listPodForAllNamespaces()).items).toEqual([]);
    expect((await core.listNamespacedEvent({ namespace })).items).toBeInstanceOf(Array);
  });

  it("the object API: finds resources through discovery", async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const made = await objects.create({ apiVersion: "v1", kind: "Service", ...service("by-kind") } as V1Service);
    expect(made.metadata?.name).toBe("by-kind");
    const read = await objects.read({ apiVersion: "v1", kind: "Service", metadata: { name: "by-kind", namespace } });
    expect(read.metadata?.uid).toBe(made.metadata?.uid);
    await objects.delete({ apiVersion: "v1", kind: "Service", metadata: { name: "by-kind", namespace } });
  });
});

describe("JavaScript client: watching", () => {
  it("a watch from a list: every later change once, in order", async () => {
    const { metadata } = await core.listNamespacedService({ namespace });
    const events: { phase: string; name: string; version: string }[] = [];
    const watch = new Watch(config);
    const abort = await watch.watch(
      `/api/v1/namespaces/${namespace}/services`,
      { resourceVersion: metadata?.resourceVersion },
      (phase, object: V1Service) =>
        events.push({ phase, name: object.metadata?.name ?? "", version: object.metadata?.resourceVersion ?? "" }),
      () => undefined,
    );
    try {
      await Promise.all(
        Array.from({ length: 100 }, (_, i) => core.createNamespacedService({ namespace, body: service(`w-${String(i)}`) })),
      );
      await Promise.all(Array.from({ length: 100 }, (_, i) => core.deleteNamespacedService({ namespace, name: `w-${String(i)}` })));
      await expect.poll(() => events.length).toBe(200);
      expect(checkOrdered(events.map((event) => event.version))).toEqual([]);
      for (let i = 0; i < 100; i++) {
        expect(events.filter((event) => event.name === `w-${String(i)}`).map((event) => event.phase)).toEqual(["ADDED", "DELETED"]);
      }
    } finally {
      abort.abort();
    }
  });

  it("an informer: its copy equals the list", async () => {
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/services`, () => core.listNamespacedService({ namespace }));
    const added = new Set<string>();
    const deleted = new Set<string>();
    informer.on("add", (object) => added.add(object.metadata?.name ?? ""));
    informer.on("delete", (object) => deleted.add(object.metadata?.name ?? ""));
    await informer.start();
    try {
      expect(informer.get("kubernetes", namespace)).toBeDefined();
      await core.createNamespacedService({ namespace, body: service("seen") });
      await expect.poll(() => added.has("seen")).toBe(true);
      await core.deleteNamespacedService({ namespace, name: "seen" });
      await expect.poll(() => deleted.has("seen")).toBe(true);
    } finally {
      await informer.stop();
    }
  });
});
