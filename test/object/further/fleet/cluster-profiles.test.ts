/** ClusterProfiles with the whole Worker and real objects: they follow the Clusters, and nobody writes them. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { AccessWorld, type Answer } from "../../../support/access/access-world";
import { PATIENCE } from "../../../support/objects/patience";

const GROUP = "/clusters/default/apis/multicluster.x-k8s.io/v1alpha1";
const PROFILES = `${GROUP}/namespaces/kube-public/clusterprofiles`;
const CLUSTERS = "/clusters/default/apis/servicenet.dev/v1alpha1/clusters";

interface Profile {
  metadata: { name: string; namespace: string; uid: string; deletionTimestamp?: string; resourceVersion: string };
  status: { conditions: { type: string; status: string }[]; accessProviders?: { cluster: { server: string } }[] };
}

let world: AccessWorld;
let name: string;
beforeEach(async () => {
  world = await new AccessWorld().begin();
  name = world.cluster;
});

const profile = ({ body }: Answer): Profile => body as unknown as Profile;
const names = ({ body }: Answer): string[] => (body["items"] as Profile[]).map(({ metadata }) => metadata.name);

it("a profile: is made, changed and deleted with its cluster, and is the same object", async () => {
  const healthy = async (): Promise<Profile> => {
    const shown = profile(await world.ask("GET", `${PROFILES}/${name}`));
    expect(shown.status.conditions.map(({ type, status }) => `${type} ${status}`)).toEqual(["ControlPlaneHealthy True"]);
    return shown;
  };
  const { metadata, status } = await vi.waitFor(healthy, PATIENCE);
  expect([metadata.namespace, status.accessProviders?.[0]?.cluster.server]).toEqual(["kube-public", `http://127.0.0.1/clusters/${name}`]);
  const whole = profile(await world.ask("GET", `${CLUSTERS}/${name}`));
  expect([metadata.uid, metadata.resourceVersion]).toEqual([whole.metadata.uid, whole.metadata.resourceVersion]);
  expect(names(await world.ask("GET", PROFILES))).toContain(name);
  expect(names(await world.ask("GET", `${GROUP}/clusterprofiles?labelSelector=x-k8s.io/cluster-manager%3Dservicenet.dev`))).toContain(name);
  await world.ask("DELETE", `/clusters/${name}`);
  await vi.waitFor(async () => expect((await world.ask("GET", `${PROFILES}/${name}`)).code).toBe(404), PATIENCE);
});

it("in another namespace there is none, and no other cluster has the kind", async () => {
  const elsewhere = await world.ask("GET", `${GROUP}/namespaces/default/clusterprofiles/${name}`);
  expect([elsewhere.code, elsewhere.body.message]).toEqual([404, `clusterprofiles.multicluster.x-k8s.io "${name}" not found`]);
  expect(names(await world.ask("GET", `${GROUP}/namespaces/default/clusterprofiles`))).toEqual([]);
  const none = await world.ask("GET", `${PROFILES}/none`);
  expect([none.code, none.body.message]).toEqual([404, 'clusterprofiles.multicluster.x-k8s.io "none" not found']);
  expect((await world.ask("GET", `/clusters/${name}/apis/multicluster.x-k8s.io/v1alpha1/clusterprofiles`)).code).toBe(404);
});

it("a write: is 405 in upstream's words, whoever sends it, and changes nothing", async () => {
  const body = {
    apiVersion: "multicluster.x-k8s.io/v1alpha1",
    kind: "ClusterProfile",
    metadata: { name, namespace: "kube-public" },
    spec: {},
  };
  const before = await world.ask("GET", `${PROFILES}/${name}`);
  const one = `${PROFILES}/${name}`;
  for (const [method, path, headers] of [
    ["POST", PROFILES, {}],
    ["PUT", one, {}],
    ["PUT", `${one}/status`, {}],
    ["PATCH", one, { "Content-Type": "application/merge-patch+json" }],
    ["PATCH", one, { "Content-Type": "application/apply-patch+yaml" }],
    ["DELETE", one, {}],
    ["DELETE", PROFILES, {}],
  ] as const) {
    const { code, body: answer } = await world.ask(method, path, { body, headers });
    const isStatus = path.endsWith("/status");
    expect([method, path, code, answer.message]).toEqual([
      method,
      path,
      isStatus ? 404 : 405,
      isStatus ? expect.any(String) : "the server does not allow this method on the requested resource",
    ]);
  }
  expect(profile(await world.ask("GET", one)).metadata.uid).toBe(profile(before).metadata.uid);
});

it("a credential of some clusters: gets, lists and watches those alone", async () => {
  const token = await world.tokenOf("tenant", { groups: ["system:masters"], clusters: ["default", name] });
  await vi.waitFor(async () => expect((await world.ask("GET", `${PROFILES}/${name}`, { token })).code).toBe(200), PATIENCE);
  expect(names(await world.ask("GET", PROFILES, { token }))).toEqual([name, "default"]);
  expect(names(await world.ask("GET", `${GROUP}/clusterprofiles`, { token }))).toEqual([name, "default"]);
  expect((await world.ask("GET", `${PROFILES}/${name}-other`, { token })).code).toBe(403);
  const stream = await world.open(`${GROUP}/clusterprofiles?watch=true&timeoutSeconds=1`, token);
  const events = (await stream.text()).split("\n").filter((line) => line !== "");
  const seen = events.map((line) => (JSON.parse(line) as { object: Profile }).object);
  expect(seen.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort()).toEqual([
    `kube-public/${name}`,
    "kube-public/default",
  ]);
});

describe("discovery", () => {
  it("has the kind with the verbs of who reads", async () => {
    const { body } = await world.ask("GET", GROUP);
    expect(body["resources"]).toEqual([
      expect.objectContaining({ name: "clusterprofiles", namespaced: true, kind: "ClusterProfile", verbs: ["get", "list", "watch"] }),
    ]);
    const openApi = await world.ask("GET", "/clusters/default/openapi/v3/apis/multicluster.x-k8s.io/v1alpha1");
    expect(JSON.stringify(openApi.body)).toContain("io.x-k8s.multicluster.v1alpha1.ClusterProfile");
  });

  it("a Table: the columns that kubectl shows of such a CRD", async () => {
    const headers = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { body } = await world.ask("GET", PROFILES, { headers });
    expect((body["columnDefinitions"] as { name: string }[]).map((column) => column.name)).toEqual(["Name", "Age"]);
  });
});
