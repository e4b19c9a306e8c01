/** The controllers of access in real Durable Objects: what each namespace has where roles decide, and the rules of aggregated ClusterRoles. */
import { abortAllDurableObjects, createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ControllerName } from "../../../../durable-objects/platform/controllers";
import type { Env } from "../../../../durable-objects/platform/env";
import { controller } from "../../../../durable-objects/peers/peers";
import type { ClusterRole, ConfigMap, KubeObject, PolicyRule, ServiceAccount } from "../../../../src/api/meta/kubernetes";
import type { WriteRequest } from "../../../../src/api/rpc/store";
import worker from "../../../../src/worker/index";
import { AccessWorld } from "../../../support/access/access-world";
import { cronOf, noteWrite } from "../../../support/shards/real-shards";
import { type Call, countedCalls } from "../../../support/objects/counted-calls";
import { freshCluster, storedIn, storeStubOf } from "../../../support/objects/store-stubs";
import { createRequest, DELETE, WRITE } from "../../../support/worlds/store-world";
import { PATIENCE } from "../../../support/objects/patience";

const bindings = env as unknown as Env;
const CORE = { ...WRITE, group: "" };
const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const ROOT = "kube-root-ca.crt";
const BY_DEFAULT = { AUTHORIZATION_MODE: bindings.AUTHORIZATION_MODE, ROOT_CA: bindings.ROOT_CA };

/** Objects read the variables when they start. One without a value is taken away: other files of this runtime would find a binding that is nothing. */
async function withVariables(vars: Partial<Env>): Promise<void> {
  Object.assign(bindings, vars);
  for (const [name, value] of Object.entries(vars)) if (value === undefined) Reflect.deleteProperty(bindings, name);
  await abortAllDurableObjects();
}

beforeEach(() => withVariables({ AUTHORIZATION_MODE: "Node,RBAC", ROOT_CA: CERTIFICATE }));
afterEach(() => withVariables(BY_DEFAULT));

class Cluster {
  constructor(readonly name = freshCluster()) {}

  async write(resource: string, request: WriteRequest): Promise<void> {
    const answer = await storeStubOf(this.name, resource).write(request);
    expect(answer, JSON.stringify(answer)).toMatchObject({ ok: true });
  }

  namespace(name: string): Promise<void> {
    return this.write("namespaces", createRequest({ metadata: { name } }, CORE));
  }

  delete(resource: string, namespace: string, name: string): Promise<void> {
    return this.write(resource, { verb: "delete", key: { namespace, name }, options: DELETE });
  }

  merge(resource: string, namespace: string, name: string, patch: object): Promise<void> {
    const text = JSON.stringify(patch);
    const key = { namespace, name };
    const options = { ...CORE, group: resource.slice(resource.indexOf(".") + 1).replace(resource, "") };
    return this.write(resource, { verb: "patch", key, subresource: "", patchType: "merge", patch: text, options });
  }

  stored<T extends KubeObject>(resource: string, namespace: string, name: string): Promise<T | undefined> {
    return storedIn<T>(storeStubOf(this.name, resource), namespace, name);
  }

  account(namespace: string): Promise<ServiceAccount | undefined> {
    return this.stored("serviceaccounts", namespace, "default");
  }

  root(namespace: string): Promise<ConfigMap | undefined> {
    return this.stored("configmaps", namespace, ROOT);
  }

  wakes(name: ControllerName): (call: Call) => boolean {
    return ({ object }) => object === `${this.name}/controllers/${name}`;
  }
}

/** Both controllers have been there. */
async function settled(cluster: Cluster, namespace: string): Promise<void> {
  await vi.waitFor(async () => expect(await cluster.account(namespace)).toBeDefined(), PATIENCE);
  await vi.waitFor(async () => expect(await cluster.root(namespace)).toBeDefined(), PATIENCE);
}

/** Cron visits the cluster. The Worker keeps what it has read of variables with their object, so it gets another one. */
async function tick(cluster: Cluster): Promise<void> {
  await noteWrite(bindings, cluster.name);
  await worker.scheduled(createScheduledController({ cron: "* * * * *" }), cronOf(bindings, cluster.name), createExecutionContext());
}

describe("serviceaccount-controller", () => {
  it("a ServiceAccount default: is there in a new namespace, keeps what users write, and comes back when it is deleted", async () => {
    const cluster = new Cluster();
    await cluster.namespace("web");
    await settled(cluster, "web");
    const first = await cluster.account("web");
    await cluster.merge("serviceaccounts", "web", "default", { imagePullSecrets: [{ name: "pull" }] });
    await cluster.namespace("other");
    await settled(cluster, "other");
    expect(await cluster.account("web")).toMatchObject({ metadata: { uid: first?.metadata?.uid }, imagePullSecrets: [{ name: "pull" }] });
    await cluster.delete("serviceaccounts", "web", "default");
    await vi.waitFor(async () => {
      const again = await cluster.account("web");
      expect(again).toBeDefined();
      expect(again?.metadata?.uid).not.toBe(first?.metadata?.uid);
      expect(again).not.toHaveProperty("imagePullSecrets");
    }, PATIENCE);
  });

  it("a namespace in deletion: gets no ServiceAccount, and goes", async () => {
    const cluster = new Cluster();
    await cluster.namespace("web");
    await settled(cluster, "web");
    await cluster.delete("namespaces", "", "web");
    await vi.waitFor(async () => expect(await cluster.stored("namespaces", "", "web")).toBeUndefined(), PATIENCE);
    expect([await cluster.account("web"), await cluster.root("web")]).toEqual([undefined, undefined]);
  });

  const OF_EVERY_CLUSTER = ["default", "kube-system", "kube-public", "kube-node-lease"];

  it("namespaces that every cluster has: get theirs when somebody asks for accounts", async () => {
    const world = new AccessWorld();
    const cluster = new Cluster(world.cluster);
    const calls = await countedCalls(() => world.begin());
    expect(calls.filter(cluster.wakes("serviceaccount-controller"))).toEqual([]);
    expect((await world.ask("GET", "/api/v1/namespaces/default/serviceaccounts")).code).toBe(200);
    for (const namespace of OF_EVERY_CLUSTER) await settled(cluster, namespace);
  });

  it("namespaces that every cluster has: the first tick makes none unasked; ConfigMaps that are asked for bring certificates and accounts", async () => {
    const world = new AccessWorld();
    const cluster = new Cluster(world.cluster);
    const calls = await countedCalls(async () => {
      await world.begin();
      await tick(cluster);
    });
    expect(calls.filter(cluster.wakes("serviceaccount-controller"))).toEqual([]);
    expect((await world.ask("GET", "/api/v1/namespaces/default/configmaps")).code).toBe(200);
    for (const namespace of OF_EVERY_CLUSTER) await settled(cluster, namespace);
  });

  it("a pass without news: reads on in each store that its controller follows, and writes nothing", async () => {
    const cluster = new Cluster();
    await cluster.namespace("web");
    await settled(cluster, "web");
    const passOf = async (name: ControllerName): Promise<string[]> => {
      const calls = await countedCalls(async () => {
        await controller(bindings, cluster.name, name).poke();
        await new Promise((done) => setTimeout(done, 200));
      });
      return calls.filter(({ method }) => /^(objects|write)/.test(method)).map(({ object, method }) => `${object} ${method}`);
    };
    const read = (...resources: string[]): string[] => resources.map((resource) => `${cluster.name}/${resource} objectsSince`);
    for (const name of ["serviceaccount-controller", "root-ca-certificate-publisher-controller"] as const) await passOf(name);
    expect(await passOf("serviceaccount-controller")).toEqual(read("namespaces", "serviceaccounts"));
    expect(await passOf("root-ca-certificate-publisher-controller")).toEqual(read("namespaces", "configmaps"));
  });

  it.each<[string, Partial<Env>]>([
    ["without roles", { AUTHORIZATION_MODE: "AlwaysAllow" }],
    ["switched off", { CONTROLLERS: "*,-serviceaccount-controller,-root-ca-cert-publisher" }],
  ])("%s: no controller is woken, and a namespace is empty", async (_, vars) => {
    await withVariables(vars);
    try {
      const cluster = new Cluster();
      const calls = await countedCalls(async () => {
        await cluster.namespace("web");
        await tick(cluster);
      });
      expect(calls.filter(cluster.wakes("serviceaccount-controller"))).toEqual([]);
      expect(calls.filter(cluster.wakes("root-ca-certificate-publisher-controller"))).toEqual([]);
      expect([await cluster.account("web"), await cluster.root("web")]).toEqual([undefined, undefined]);
    } finally {
      await withVariables({ CONTROLLERS: "*" });
    }
  });
});

describe("root-ca-certificate-publisher-controller", () => {
  it("the ConfigMap kube-root-ca.crt: is there in a new namespace, and is put right when it is edited or deleted", async () => {
    const cluster = new Cluster();
    await cluster.namespace("web");
    await settled(cluster, "web");
    const made = await cluster.root("web");
    expect(made?.data).toEqual({ "ca.crt": CERTIFICATE });
    expect(made?.metadata?.annotations?.["kubernetes.io/description"]).toMatch(/^Contains a CA bundle that can be used/);
    await cluster.merge("configmaps", "web", ROOT, { metadata: { labels: { a: "b" } }, data: { "ca.crt": "mine", more: "x" } });
    await vi.waitFor(async () => expect((await cluster.root("web"))?.data).toEqual({ "ca.crt": CERTIFICATE }), PATIENCE);
    expect((await cluster.root("web"))?.metadata).toMatchObject({ uid: made?.metadata?.uid, labels: { a: "b" } });
    await cluster.merge("configmaps", "web", ROOT, { metadata: { annotations: null } });
    await vi.waitFor(async () => expect((await cluster.root("web"))?.metadata?.annotations).toBeDefined(), PATIENCE);
    await cluster.delete("configmaps", "web", ROOT);
    await vi.waitFor(async () => expect((await cluster.root("web"))?.data).toEqual({ "ca.crt": CERTIFICATE }), PATIENCE);
  });

  it("another authority after a restart: every namespace is told", async () => {
    const cluster = new Cluster();
    await cluster.namespace("web");
    await settled(cluster, "web");
    await withVariables({ ROOT_CA: "another" });
    await tick(cluster);
    await vi.waitFor(async () => expect((await cluster.root("web"))?.data).toEqual({ "ca.crt": "another" }), PATIENCE);
  });

  it("a server without HTTPS: tells nobody of an authority", async () => {
    await withVariables({ ROOT_CA: "" });
    const cluster = new Cluster();
    await cluster.namespace("web");
    await vi.waitFor(async () => expect(await cluster.account("web")).toBeDefined(), PATIENCE);
    expect(await cluster.root("web")).toBeUndefined();
  });
});

describe("clusterrole-aggregation-controller", () => {
  const ROLES = "clusterroles.rbac.authorization.k8s.io";
  const OPTIONS = { ...WRITE, group: "rbac.authorization.k8s.io" };
  const PODS: PolicyRule = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
  const SERVICES: PolicyRule = { apiGroups: [""], resources: ["services"], verbs: ["get"] };
  const LABELS = { "example.com/aggregate-to-all": "true" };
  const role = (name: string, rules: PolicyRule[], more: Partial<ClusterRole> = {}): WriteRequest =>
    createRequest({ metadata: { name, labels: LABELS }, rules, ...more } as KubeObject, OPTIONS);
  const all: Partial<ClusterRole> = {
    metadata: { name: "all" },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: LABELS }] },
  };

  it("an aggregated ClusterRole: has the rules of those with the label, follows them, and loses what somebody else writes", async () => {
    const cluster = new Cluster();
    const rules = async (): Promise<PolicyRule[]> => (await cluster.stored<ClusterRole>(ROLES, "", "all"))?.rules ?? [];
    const eventually = (wanted: PolicyRule[]): Promise<void> => vi.waitFor(async () => expect(await rules()).toEqual(wanted), PATIENCE);
    await cluster.write(ROLES, role("all", [], all));
    await cluster.write(ROLES, role("pods", [PODS]));
    await eventually([PODS]);
    await cluster.write(ROLES, role("a-services", [SERVICES]));
    await eventually([SERVICES, PODS]);
    await cluster.merge(ROLES, "", "all", { rules: [] });
    await eventually([SERVICES, PODS]);
    await cluster.delete(ROLES, "", "pods");
    await eventually([SERVICES]);
    const managers = (await cluster.stored<ClusterRole>(ROLES, "", "all"))?.metadata?.managedFields ?? [];
    expect(managers.map(({ manager, operation }) => [manager, operation])).toContainEqual(["clusterrole-aggregation-controller", "Apply"]);
    await cluster.delete(ROLES, "", "all");
    await cluster.delete(ROLES, "", "a-services");
    await new Promise((done) => setTimeout(done, 200));
    expect(await cluster.stored(ROLES, "", "all")).toBeUndefined();
  });
});
