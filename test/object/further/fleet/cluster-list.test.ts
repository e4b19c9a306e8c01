/** Who reads clusters, with the whole Worker: the rules of the cluster `default` decide. Other tests have clusters there, too: each asks for its own. */
import { runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { clustersDefinition } from "../../../../src/api/registry/clusters/definition";
import { storeName } from "../../../../src/api/store/list/list-copy";
import { AccessWorld, type Answer, type AskOptions } from "../../../support/access/access-world";
import { PATIENCE } from "../../../support/objects/patience";

const RBAC = "/clusters/default/apis/rbac.authorization.k8s.io/v1";

let world: AccessWorld;
beforeEach(async () => (world = await new AccessWorld().begin()));

/** The list as this path reaches it: AccessWorld puts others into its cluster. */
const LIST = "/clusters/default/clusters";

interface Item {
  metadata: { name: string };
  status: { phase: string };
}

/** The phase of the cluster in the list of an administrator, read page by page; undefined = it is not there. */
async function phaseOf(name: string): Promise<string | undefined> {
  let token = "";
  do {
    const { code, body } = await world.ask("GET", `${LIST}?limit=100${token === "" ? "" : `&continue=${token}`}`);
    expect(code).toBe(200);
    const found = (body["items"] as Item[]).find(({ metadata }) => metadata.name === name);
    if (found) return found.status.phase;
    token = (body["metadata"] as { continue?: string }).continue ?? "";
  } while (token !== "");
  return undefined;
}

/** Who may do this in `default`; names are those of the world, so that no test meets another. */
async function grant(user: string, rule: object): Promise<void> {
  for (const [path, object] of [
    ["clusterroles", { metadata: { name: user }, rules: [rule] }],
    [
      "clusterrolebindings",
      {
        metadata: { name: user },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: user },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
      },
    ],
  ] as const) {
    await world.make(`${RBAC}/${path}`, object);
  }
}

/** Asks until the new rules count. */
async function comesTo(code: number, ask: () => Promise<Answer>): Promise<Answer> {
  return vi.waitFor(async () => {
    const answer = await ask();
    expect(answer.code).toBe(code);
    return answer;
  }, PATIENCE);
}

describe("the list of clusters", () => {
  it("a cluster: is in it from its beginning to its end, and again when it is made anew", async () => {
    const { cluster } = world;
    expect(await phaseOf(cluster)).toBe("Active");
    expect((await world.ask("DELETE", `/clusters/${cluster}`)).code).toBe(202);
    expect([undefined, "Terminating"]).toContain(await phaseOf(cluster));
    await vi.waitFor(async () => expect((await world.ask("GET", `/clusters/${cluster}`)).code).toBe(404), PATIENCE);
    expect(await phaseOf(cluster)).toBeUndefined();
    expect((await world.ask("PUT", `/clusters/${cluster}`)).code).toBe(201);
    expect(await phaseOf(cluster)).toBe("Active");
  });

  it("default, which is taken as made: is in it", async () => {
    expect(await phaseOf("default")).toBe("Active");
  });

  it("who has no rights in default: 403 in upstream's words; with the right to list: all of them; with one name: that one", async () => {
    const user = `reader-of-${world.cluster}`;
    const token = await world.tokenOf(user);
    const list = () => world.ask("GET", LIST, { token });
    const get = (name: string) => world.ask("GET", `/clusters/${name}`, { token });
    const refused = await list();
    expect([refused.code, refused.body.message]).toEqual([
      403,
      `clusters.servicenet.dev is forbidden: User "${user}" cannot list resource "clusters" in API group "servicenet.dev" at the cluster scope`,
    ]);
    const named = `clusters.servicenet.dev "${world.cluster}" is forbidden: User "${user}" cannot get resource "clusters" in API group "servicenet.dev" at the cluster scope`;
    expect((await get(world.cluster)).body.message).toBe(named);
    await grant(user, { apiGroups: ["servicenet.dev"], resources: ["clusters"], verbs: ["get"], resourceNames: [world.cluster] });
    await comesTo(200, () => get(world.cluster));
    expect([(await get("default")).code, (await list()).code]).toEqual([403, 403]);
    const lister = `lister-of-${world.cluster}`;
    const listerToken = await world.tokenOf(lister);
    await grant(lister, { apiGroups: ["servicenet.dev"], resources: ["clusters"], verbs: ["list"] });
    await comesTo(200, () => world.ask("GET", LIST, { token: listerToken }));
    expect((await world.ask("GET", `/clusters/${world.cluster}`, { token: listerToken })).code).toBe(403);
  });

  it("clusters as objects: who has the verbs in default makes and deletes them, and nobody else does", async () => {
    const objects = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";
    const name = `${world.cluster}-made`;
    const user = `maker-of-${world.cluster}`;
    const token = await world.tokenOf(user);
    const make = () => world.ask("POST", objects, { token, body: { metadata: { name } } });
    const refused = await make();
    expect([refused.code, refused.body.message]).toEqual([
      403,
      `clusters.servicenet.dev is forbidden: User "${user}" cannot create resource "clusters" in API group "servicenet.dev" at the cluster scope`,
    ]);
    await grant(user, { apiGroups: ["servicenet.dev"], resources: ["clusters"], verbs: ["create", "get", "delete"] });
    await comesTo(201, make);
    const phase = async () =>
      ((await world.ask("GET", `${objects}/${name}`, { token })).body["status"] as { phase?: string } | undefined)?.phase;
    await vi.waitFor(async () => expect(await phase()).toBe("Active"), PATIENCE);
    expect((await world.ask("GET", `/clusters/${name}`)).code).toBe(200);
    expect((await world.ask("DELETE", `${objects}/${name}`, { token })).code).toBe(200);
    await vi.waitFor(async () => expect((await world.ask("GET", `${objects}/${name}`, { token })).code).toBe(404), PATIENCE);
    expect((await world.ask("GET", `/clusters/${name}`)).code).toBe(404);
    expect((await world.ask("GET", `/clusters/${world.cluster}/apis/servicenet.dev/v1alpha1/clusters`)).code).toBe(404);
  });

  it("the first read of Clusters: is noted when their controller has left nothing", async () => {
    const objects = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";
    const { RESOURCE_STORE: stores } = world.env;
    const store = stores.get(stores.idFromName(storeName("default", clustersDefinition))) as unknown as DurableObjectStub;
    await vi.waitFor(async () => {
      expect((await world.ask("GET", `${objects}?limit=1`)).code).toBe(200);
      expect(await runInDurableObject(store, (_, { storage }) => storage.kv.get("clusters-read"))).toBe(true);
    }, PATIENCE);
  });

  describe("writes of Clusters in the cluster default", () => {
    const OBJECTS = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";
    const SYSTEM = "/clusters/default/api/v1/namespaces/kube-system";
    const REVIEWS = "/clusters/default/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const FOR_SOME = ": the credential is for some clusters, and this is for administrators of all";

    /** Each write of a Cluster, refused for this reason. */
    async function refusesWrites(reason: string, options: AskOptions): Promise<void> {
      const one = `${OBJECTS}/${world.cluster}`;
      const body = { apiVersion: "servicenet.dev/v1alpha1", kind: "Cluster", metadata: { name: world.cluster } };
      const patch = { ...options, body, headers: { ...options.headers, "Content-Type": "application/merge-patch+json" } };
      const apply = { ...options, body, headers: { ...options.headers, "Content-Type": "application/apply-patch+yaml" } };
      for (const [method, path, how] of [
        ["POST", OBJECTS, { ...options, body: { metadata: { name: `${world.cluster}-more` } } }],
        ["PUT", one, { ...options, body }],
        ["PUT", `${one}/status`, { ...options, body }],
        ["PATCH", one, patch],
        ["PATCH", `${OBJECTS}/${world.cluster}-more?fieldManager=a`, apply],
        ["DELETE", one, options],
      ] as const) {
        const answer = await world.ask(method, path, how);
        expect([method, answer.code, answer.body.message]).toEqual([method, 403, expect.stringContaining(reason)]);
      }
      expect((await world.ask("GET", one)).body["status"]).toMatchObject({ phase: "Active" });
    }

    async function active(): Promise<void> {
      const phase = async () => (await world.ask("GET", `${OBJECTS}/${world.cluster}`)).body["status"] as { phase?: string } | undefined;
      await vi.waitFor(async () => expect(await phase()).toMatchObject({ phase: "Active" }), PATIENCE);
    }

    it("an administrator's token that is limited to default: reads them, and writes none, as /clusters/{name}", async () => {
      await active();
      const token = await world.tokenOf("limited", { groups: ["system:masters"], clusters: ["default"] });
      const refused = await world.ask("DELETE", `${OBJECTS}/${world.cluster}`, { token });
      expect(refused.body.message).toBe(
        `clusters.servicenet.dev "${world.cluster}" is forbidden: User "limited" cannot delete resource "clusters" in API group "servicenet.dev" at the cluster scope${FOR_SOME}`,
      );
      await refusesWrites(FOR_SOME, { token });
      await refusesWrites(FOR_SOME, { token, headers: { "Impersonate-User": "jane", "Impersonate-Group": "system:masters" } });
      expect((await world.ask("DELETE", `/clusters/${world.cluster}`, { token })).code).toBe(403);
      expect([(await world.ask("GET", LIST, { token })).code, (await world.ask("GET", OBJECTS, { token })).code]).toEqual([200, 200]);
      const can = async (verb: string): Promise<unknown> => {
        const resourceAttributes = { group: "servicenet.dev", version: "v1alpha1", resource: "clusters", verb };
        const { body } = await world.ask("POST", REVIEWS, { token, body: { spec: { resourceAttributes } } });
        return (body.status as { allowed: boolean }).allowed;
      };
      expect([await can("create"), await can("delete"), await can("list")]).toEqual([false, false, true]);
    });

    it("a credential of some clusters: lists, gets and watches those alone, by objects and by /clusters", async () => {
      await active();
      const other = `${world.cluster}-other`;
      expect((await world.ask("PUT", `/clusters/${other}`)).code).toBe(201);
      const token = await world.tokenOf("tenant", { groups: ["system:masters"], clusters: ["default", world.cluster] });
      const names = ({ body }: Answer): string[] => (body["items"] as Item[]).map(({ metadata }) => metadata.name);
      const listed = async (path: string): Promise<string[]> => names(await world.ask("GET", path, { token }));
      const own = [world.cluster, "default"];
      expect(await listed(OBJECTS)).toEqual(own);
      expect(await listed(LIST)).toEqual(own);
      expect(await listed(`${LIST}?limit=1`)).toEqual([world.cluster]);
      expect(await listed(`${OBJECTS}?labelSelector=kubernetes.io/metadata.name%3D${other}`)).toEqual([]);
      const get = async (path: string): Promise<number> => (await world.ask("GET", path, { token })).code;
      expect([await get(`${OBJECTS}/${world.cluster}`), await get(`/clusters/${world.cluster}`)]).toEqual([200, 200]);
      const refused = await world.ask("GET", `${OBJECTS}/${other}`, { token });
      expect([refused.code, refused.body.message]).toEqual([403, expect.stringContaining(": the credential is for other clusters")]);
      const byName = `${OBJECTS}?fieldSelector=metadata.name%3D${other}`;
      expect([await get(`/clusters/${other}`), await get(byName), await get(`${byName}&watch=true`)]).toEqual([403, 403, 403]);
      const stream = await world.open(`${OBJECTS}?watch=true&timeoutSeconds=1`, token);
      const events = (await stream.text()).split("\n").filter((line) => line !== "");
      expect(events.map((line) => (JSON.parse(line) as { object: Item }).object.metadata.name).sort()).toEqual([...own].sort());
    });

    it("a service account of default, with every right there: none", async () => {
      await active();
      const name = `account-of-${world.cluster}`;
      await world.make(`${SYSTEM}/serviceaccounts`, { metadata: { name } });
      const made = await world.ask("POST", `${SYSTEM}/serviceaccounts/${name}/token`, { body: {} });
      const { token } = made.body.status as { token: string };
      await world.make(`${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", namespace: "kube-system", name }],
      });
      await comesTo(200, () => world.ask("GET", OBJECTS, { token }));
      await refusesWrites(FOR_SOME, { token });
    });

    it("who may act as accounts of kube-system, as `edit` there: none by the garbage collector's rights, which go on for other kinds", async () => {
      await active();
      const user = `editor-of-${world.cluster}`;
      const token = await world.tokenOf(user);
      await world.make(`/clusters/default/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings`, {
        metadata: { name: user },
        // What the controller gathers in the role `edit`.
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:aggregate-to-edit" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
      });
      for (const controller of ["generic-garbage-collector", "namespace-controller"]) {
        const headers = { "Impersonate-User": `system:serviceaccount:kube-system:${controller}` };
        await comesTo(200, () => world.ask("GET", OBJECTS, { token, headers }));
        // The account is of `default`, and sees no other cluster; nor does who acts as it.
        const seen = [await world.ask("GET", OBJECTS, { token, headers }), await world.ask("GET", "/clusters", { token, headers })];
        for (const { body } of seen) {
          const names = ((body as { items?: { metadata: { name: string } }[] }).items ?? []).map(({ metadata }) => metadata.name);
          expect(names.filter((name) => name !== "default")).toEqual([]);
        }
        const answer = await world.ask("DELETE", `${OBJECTS}/${world.cluster}`, { token, headers });
        expect([answer.code, answer.body.message]).toEqual([403, expect.stringContaining(FOR_SOME)]);
        const name = `${controller}-${world.cluster}`;
        await world.make(`${SYSTEM}/configmaps`, { metadata: { name } });
        expect((await world.ask("DELETE", `${SYSTEM}/configmaps/${name}`, { token, headers })).code).toBe(200);
      }
    });
  });

  it("rights in default, however many: PUT and DELETE of a path are not among them", async () => {
    const user = `owner-of-${world.cluster}`;
    const token = await world.tokenOf(user);
    await grant(user, { apiGroups: ["*"], resources: ["*"], verbs: ["*"] });
    await comesTo(200, () => world.ask("GET", LIST, { token }));
    for (const method of ["PUT", "DELETE"]) expect((await world.ask(method, `/clusters/${world.cluster}`, { token })).code).toBe(403);
    expect([(await world.ask("POST", LIST, { token })).code, (await world.ask("POST", LIST)).code]).toEqual([403, 405]);
  });

  it("rights in another cluster: none here, and the list is nowhere but at the root", async () => {
    const token = await world.tokenOf("admin", { groups: ["system:masters"], clusters: [world.cluster] });
    for (const path of [LIST, `/clusters/${world.cluster}`]) expect((await world.ask("GET", path, { token })).code).toBe(403);
    expect((await world.ask("GET", "/clusters", { token })).code).toBe(404);
    expect((await world.ask("GET", LIST, { token: "" })).code).toBe(401);
  });
});
