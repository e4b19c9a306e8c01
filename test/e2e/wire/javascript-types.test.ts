/** Every served type through the typed calls of the JavaScript client: each verb, each kind of patch, status, and the reviews. */
import {
  ApiException,
  ApiextensionsV1Api,
  AuthenticationV1Api,
  AuthorizationV1Api,
  CoordinationV1Api,
  CoreV1Api,
  DiscoveryV1Api,
  EventsV1Api,
  KubeConfig,
  NetworkingV1Api,
  NetworkingV1beta1Api,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
} from "@kubernetes/client-node";
import type { ApiConstructor } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkState } from "../../support/checks/checkers";
import { observe } from "../../support/server/observe";
import { servedTypes } from "../../support/server/served-types";
import type { ServedType } from "../../support/server/served-types";
import { getJson } from "../../support/server/server";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const namespace = "default";
const cluster = clusterForTests();
let config: KubeConfig;

beforeAll(() => {
  config = new KubeConfig();
  config.loadFromFile(cluster.kubeconfig);
});
afterAll(async () => {
  expect(checkState(await observe(cluster.url))).toEqual([]);
});

interface Item {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  status?: unknown;
}
interface List {
  items: Item[];
  metadata: { resourceVersion: string };
}
/** The typed calls of one type have names and parameters of one pattern. */
type Calls = Record<string, (parameters: object, options?: object) => Promise<unknown>>;

/** The client of each type and the noun of its calls. */
const clients: Readonly<Record<string, [api: ApiConstructor<object>, noun: string]>> = {
  "v1 services": [CoreV1Api, "NamespacedService"],
  "v1 nodes": [CoreV1Api, "Node"],
  "v1 pods": [CoreV1Api, "NamespacedPod"],
  "v1 namespaces": [CoreV1Api, "Namespace"],
  "v1 endpoints": [CoreV1Api, "NamespacedEndpoints"],
  "v1 podtemplates": [CoreV1Api, "NamespacedPodTemplate"],
  "v1 resourcequotas": [CoreV1Api, "NamespacedResourceQuota"],
  "v1 configmaps": [CoreV1Api, "NamespacedConfigMap"],
  "v1 secrets": [CoreV1Api, "NamespacedSecret"],
  "v1 serviceaccounts": [CoreV1Api, "NamespacedServiceAccount"],
  "v1 events": [CoreV1Api, "NamespacedEvent"],
  "events.k8s.io/v1 events": [EventsV1Api, "NamespacedEvent"],
  "networking.k8s.io/v1 servicecidrs": [NetworkingV1Api, "ServiceCIDR"],
  "networking.k8s.io/v1beta1 servicecidrs": [NetworkingV1beta1Api, "ServiceCIDR"],
  "networking.k8s.io/v1 ipaddresses": [NetworkingV1Api, "IPAddress"],
  "networking.k8s.io/v1beta1 ipaddresses": [NetworkingV1beta1Api, "IPAddress"],
  "rbac.authorization.k8s.io/v1 clusterrolebindings": [RbacAuthorizationV1Api, "ClusterRoleBinding"],
  "rbac.authorization.k8s.io/v1 clusterroles": [RbacAuthorizationV1Api, "ClusterRole"],
  "rbac.authorization.k8s.io/v1 rolebindings": [RbacAuthorizationV1Api, "NamespacedRoleBinding"],
  "rbac.authorization.k8s.io/v1 roles": [RbacAuthorizationV1Api, "NamespacedRole"],
  "coordination.k8s.io/v1 leases": [CoordinationV1Api, "NamespacedLease"],
  "discovery.k8s.io/v1 endpointslices": [DiscoveryV1Api, "NamespacedEndpointSlice"],
};

interface Row extends ServedType {
  api: ApiConstructor<object>;
  noun: string;
}

const rows: Row[] = servedTypes.map((type) => {
  const client = clients[`${type.served} ${type.resource}`];
  if (!client) throw new Error(`no client of ${type.served} ${type.resource}`);
  return { ...type, api: client[0], noun: client[1] };
});

/** The calls on one type; each answers what the client made of the answer. */
class Typed {
  readonly #calls: Calls;

  constructor(private readonly row: Row) {
    this.#calls = config.makeApiClient(row.api) as Calls;
  }

  #call(verb: string, parameters: object, { part = "", contentType }: { part?: string; contentType?: string } = {}): Promise<unknown> {
    const call = this.#calls[`${verb}${this.row.noun}${part}`];
    if (!call) throw new Error(`the client cannot ${verb} ${this.row.noun}${part}`);
    const scope = this.row.noun.startsWith("Namespaced") ? { namespace } : {};
    return call.call(this.#calls, { ...scope, ...parameters }, contentType ? setHeaderOptions("Content-Type", contentType) : undefined);
  }

  /** No other resource has an object of this name: late work for a Service that is gone would delete Endpoints of its name, as upstream. */
  name(n: number): string {
    const { served, resource } = this.row;
    return (this.row.name ?? ((i: number) => `typed-${served.replace(/[./]/g, "-")}-${resource}-${String(i)}`))(n);
  }

  create(n: number, labels: Record<string, string>): Promise<Item> {
    return this.#call("create", { body: { metadata: { name: this.name(n), labels }, ...this.row.content(n) } }) as Promise<Item>;
  }

  read(n: number, part = ""): Promise<Item> {
    return this.#call("read", { name: this.name(n) }, { part }) as Promise<Item>;
  }

  list(labelSelector: string): Promise<List> {
    return this.#call("list", { labelSelector }) as Promise<List>;
  }

  replace(n: number, body: Item, part = ""): Promise<Item> {
    return this.#call("replace", { name: this.name(n), body }, { part }) as Promise<Item>;
  }

  patch(n: number, contentType: string, body: unknown, part = ""): Promise<Item> {
    return this.#call("patch", { name: this.name(n), body }, { part, contentType }) as Promise<Item>;
  }

  delete(n: number): Promise<unknown> {
    return this.#call("delete", { name: this.name(n) });
  }

  deleteCollection(labelSelector: string): Promise<unknown> {
    return this.#call("deleteCollection", { labelSelector });
  }
}

/** HTTP status of a refusal; 0 = it was none. */
const refused = (call: Promise<unknown>): Promise<number> =>
  call.then(
    () => 0,
    (error: unknown) => {
      if (error instanceof ApiException) return error.code;
      throw error;
    },
  );
/** Whether a status says all of this, beside what controllers say in the same lists. */
function says(status: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(status) && wanted.every((item) => status.some((other) => says(other, item)));
  if (wanted instanceof Date || typeof wanted !== "object" || wanted === null) return String(status) === String(wanted);
  return Object.entries(wanted).every(([name, value]) => says((status as Record<string, unknown> | undefined)?.[name], value));
}
const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 20_000 });

it("the table: has every served resource", async () => {
  const { groups } = await getJson<{ groups: { versions: { groupVersion: string }[] }[] }>(`${cluster.url}/apis`);
  // The client has no types of Cluster API's kinds.
  const upstream = groups.filter(({ versions: [version] }) => !version?.groupVersion.startsWith("ipam.cluster.x-k8s.io/"));
  const versions = upstream.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion));
  const served: string[] = [];
  for (const [version, path] of [["v1", "/api/v1"], ...versions.map((v) => [v, `/apis/${v}`])] as [string, string][]) {
    const { resources } = await getJson<{ resources: { name: string; verbs: string[] }[] }>(`${cluster.url}${path}`);
    for (const { name, verbs } of resources)
      if (!name.includes("/") && verbs.includes("get") && verbs.includes("create")) served.push(`${version} ${name}`);
    for (const { name } of resources.filter((resource) => resource.name.endsWith("/status"))) served.push(`${version} ${name}`);
  }
  const tried = rows.flatMap((row) => {
    const resource = `${row.served} ${row.resource}`;
    return row.status ? [resource, `${resource}/status`] : [resource];
  });
  expect(tried.sort()).toEqual(served.sort());
});

describe.each(rows)("$served $resource", (row) => {
  it("create, read, list, replace, a lost race, patch in three ways, delete: each as its type says", async () => {
    const typed = new Typed(row);
    const created = await typed.create(1, { test: "one" });
    expect(created.metadata.name).toBe(typed.name(1));
    expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    // What is served goes on living: a ServiceCIDR becomes Ready between two calls, a namespace gets its label at once.
    const read = await typed.read(1);
    expect({ ...read, metadata: { ...read.metadata, resourceVersion: "" }, status: undefined }).toEqual({
      ...created,
      metadata: { ...created.metadata, resourceVersion: "" },
      status: undefined,
    });
    if (row.resource === "servicecidrs") await eventually(async () => (await typed.read(1)).status).toHaveProperty("conditions");

    const { items } = await typed.list("test=one");
    expect(items.map(({ metadata }) => metadata.uid)).toEqual([created.metadata.uid]);
    const [current] = items as [Item];
    const replaced = await typed.replace(1, { ...current, metadata: { ...current.metadata, labels: { test: "one", replaced: "yes" } } });
    expect(replaced.metadata.labels).toMatchObject({ replaced: "yes" });
    expect(await refused(typed.replace(1, { ...current, metadata: { ...current.metadata, labels: { test: "lost" } } }))).toBe(409);

    const json = await typed.patch(1, PatchStrategy.JsonPatch, [
      { op: "test", path: "/metadata/labels/replaced", value: "yes" },
      { op: "add", path: "/metadata/annotations", value: { json: "1" } },
    ]);
    expect(json.metadata.annotations).toEqual({ json: "1" });
    const merge = await typed.patch(1, PatchStrategy.MergePatch, { metadata: { annotations: { json: null, merge: "2" } } });
    expect(merge.metadata.annotations).toEqual({ merge: "2" });
    const strategic = await typed.patch(1, PatchStrategy.StrategicMergePatch, {
      metadata: { annotations: { $patch: "replace", strategic: "3" } },
    });
    expect(strategic.metadata.annotations).toEqual({ strategic: "3" });
    const versions = [created, replaced, json, merge, strategic].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(await typed.read(1)).toEqual(strategic);

    expect(await refused(typed.create(1, {}))).toBe(409);
    expect(await refused(typed.delete(1))).toBe(0);
    await eventually(() => refused(typed.read(1))).toBe(404);
    expect(await refused(typed.delete(1))).toBe(404);
  });

  if (row.collection !== false) {
    it("deletecollection: deletes the selected objects", async () => {
      const typed = new Typed(row);
      for (const n of [2, 3, 4]) await typed.create(n, { test: n === 4 ? "stays" : "goes" });
      await typed.deleteCollection("test=goes");
      await eventually(async () => (await typed.list("test=goes")).items).toEqual([]);
      expect((await typed.list("test=stays")).items.map(({ metadata }) => metadata.name)).toEqual([typed.name(4)]);
      await typed.delete(4);
    });
  }

  if (row.status) {
    const { status } = row;
    it("status: read, replaced and patched by itself", async () => {
      const typed = new Typed(row);
      await typed.create(5, { test: "status" });
      if (row.resource === "servicecidrs") await eventually(async () => (await typed.read(5)).status).toHaveProperty("conditions");
      const read = await typed.read(5, "Status");
      const replaced = await typed.replace(5, { ...read, status: { ...(read.status as object), ...status } }, "Status");
      expect(says(replaced.status, status)).toBe(true);
      expect(says((await typed.read(5)).status, status)).toBe(true);
      const [member, value] = Object.entries(status)[0] as [string, unknown];
      await typed.patch(5, PatchStrategy.MergePatch, { status: { [member]: null } }, "Status");
      expect(says((await typed.read(5, "Status")).status, status)).toBe(false);
      const patched = await typed.patch(5, PatchStrategy.JsonPatch, [{ op: "add", path: `/status/${member}`, value }], "Status");
      expect(says(patched.status, status)).toBe(true);
      const strategic = await typed.patch(5, PatchStrategy.StrategicMergePatch, { status }, "Status");
      expect(says(strategic.status, status)).toBe(true);
      await typed.delete(5);
      await eventually(() => refused(typed.read(5))).toBe(404);
    });
  }
});

it("custom resource definitions: an empty list, and no object", async () => {
  const extensions = config.makeApiClient(ApiextensionsV1Api);
  expect((await extensions.listCustomResourceDefinition()).items).toEqual([]);
  await expect(extensions.readCustomResourceDefinition({ name: "a.example.com" })).rejects.toMatchObject({ code: 404 });
});

describe("reviews: everybody is anonymous and may do everything", () => {
  const authorization = () => config.makeApiClient(AuthorizationV1Api);
  const resourceAttributes = { verb: "delete", resource: "services", namespace };

  it("SelfSubjectReview: anonymous", async () => {
    const { status } = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    expect(status?.userInfo).toMatchObject({ username: "system:anonymous", groups: ["system:unauthenticated"] });
  });

  it("TokenReview: not authenticated", async () => {
    const { status } = await config.makeApiClient(AuthenticationV1Api).createTokenReview({ body: { spec: { token: "unknown" } } });
    expect(status?.authenticated ?? false).toBe(false);
  });

  it("SelfSubjectAccessReview, SubjectAccessReview, LocalSubjectAccessReview: allowed", async () => {
    const self = await authorization().createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
    const other = await authorization().createSubjectAccessReview({ body: { spec: { resourceAttributes, user: "someone" } } });
    const local = await authorization().createNamespacedLocalSubjectAccessReview({
      namespace,
      body: { metadata: { namespace }, spec: { resourceAttributes, user: "someone" } },
    });
    expect([self, other, local].map(({ status }) => status?.allowed)).toEqual([true, true, true]);
  });

  it("SelfSubjectRulesReview: every verb of every resource", async () => {
    const { status } = await authorization().createSelfSubjectRulesReview({ body: { spec: { namespace } } });
    expect(status?.resourceRules).toContainEqual(expect.objectContaining({ verbs: ["*"] }));
  });
});
