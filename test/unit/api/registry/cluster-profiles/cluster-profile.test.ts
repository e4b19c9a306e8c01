import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../../src/api/meta/kubernetes";
import { definitionOf, storedNamespace } from "../../../../../src/api/registry/all";
import { profileOf } from "../../../../../src/api/registry/cluster-profiles/cluster-profile";
import { clusterProfilesDefinition } from "../../../../../src/api/registry/cluster-profiles/definition";
import type { Cluster } from "../../../../../src/api/registry/clusters/cluster";
import { clustersDefinition } from "../../../../../src/api/registry/clusters/definition";
import { collectionRequest, StoreWorld } from "../../../../support/worlds/store-world";
import { listPage } from "../../../../../src/api/store/list/list-page";

const MADE = "2026-01-01T00:00:00Z";
const READY = "2026-01-01T00:00:05Z";

function cluster(status: Cluster["status"] = {}, metadata: Cluster["metadata"] = {}): Cluster {
  return { metadata: { name: "blue", uid: "u", creationTimestamp: MADE, generation: 2, ...metadata }, spec: { location: "weur" }, status };
}

const active: Cluster["status"] = {
  phase: "Active",
  location: "weur",
  serviceCIDRs: ["10.1.0.0/16", "fd01::/112"],
  conditions: [{ type: "Ready", status: "True", reason: "x", message: "", lastTransitionTime: READY }],
};

describe("the profile of a cluster", () => {
  it("has what the Cluster Inventory API says, and nothing of what the object keeps for itself", () => {
    const kept = { annotations: { a: "b" }, managedFields: [{}], labels: { team: "a" } };
    expect(profileOf(cluster(active, kept))).toEqual({
      metadata: {
        name: "blue",
        namespace: "kube-public",
        uid: "u",
        creationTimestamp: MADE,
        generation: 2,
        labels: { team: "a", "x-k8s.io/cluster-manager": "servicenet.dev" },
      },
      spec: { displayName: "blue", clusterManager: { name: "servicenet.dev" } },
      status: {
        conditions: [
          {
            type: "ControlPlaneHealthy",
            status: "True",
            reason: "ClusterActive",
            message: "the cluster can be used",
            observedGeneration: 2,
            lastTransitionTime: READY,
          },
        ],
        version: { kubernetes: expect.stringMatching(/^v1\.\d+\.\d+/) as string },
        properties: [
          { name: "cluster.clusterset.k8s.io", value: "blue" },
          { name: "servicenet.dev/location", value: "weur" },
          { name: "servicenet.dev/service-cidrs", value: "10.1.0.0/16,fd01::/112" },
        ],
      },
    });
  });

  it.each([
    [cluster({ phase: "Pending" }), "Unknown ClusterPending", MADE],
    [cluster(), "Unknown ClusterPending", MADE],
    [cluster(active), "True ClusterActive", READY],
    [
      cluster({ ...active, phase: "Terminating" }, { deletionTimestamp: "2026-01-02T00:00:00Z" }),
      "False ClusterDeleting",
      "2026-01-02T00:00:00Z",
    ],
  ])("%j: %s", (object, health, since) => {
    const [condition] = profileOf(object).status?.conditions ?? [];
    expect([`${condition?.status} ${condition?.reason}`, condition?.lastTransitionTime]).toEqual([health, since]);
  });

  it.each([
    ["blue", "https://h:8787/clusters/blue"],
    ["default", "https://h:8787"],
  ])("%s: says how its server is reached, as far as that is known, under both names", (name, server) => {
    const shown = profileOf(cluster(active, { name }), { origin: "https://h:8787", certificates: "UEVN" });
    const provider = { name: "servicenet.dev", cluster: { server, "certificate-authority-data": "UEVN" } };
    expect([shown.status?.accessProviders, shown.status?.credentialProviders]).toEqual([[provider], [provider]]);
    expect(profileOf(cluster(active)).status).not.toHaveProperty("accessProviders");
  });
});

it("namespaces: all of one resource are in one, other resources in their own", () => {
  const events = definitionOf("events.k8s.io", "events") ?? clustersDefinition;
  const stored = ["", "kube-public", "default"].map((namespace) => [
    storedNamespace(clusterProfilesDefinition, namespace),
    storedNamespace(events, namespace),
  ]);
  expect(stored).toEqual([
    ["", ""],
    ["", "kube-public"],
    [undefined, "default"],
  ]);
});

describe("lists and watches of profiles in the store of Clusters", () => {
  async function world(): Promise<StoreWorld> {
    const clusters = new StoreWorld({ definition: clustersDefinition, representations: [clusterProfilesDefinition] });
    for (const [name, team] of [
      ["blue", "a"],
      ["red", "b"],
    ] as const) {
      await clusters.create({ metadata: { name, labels: { team } } }, { group: "servicenet.dev", version: "v1alpha1" });
    }
    return clusters;
  }

  function listed(clusters: StoreWorld, asked: Parameters<typeof collectionRequest>[1] = {}): { text: string; names: string[] } {
    const page = listPage(clusters.store, collectionRequest(clusterProfilesDefinition, asked), clusterProfilesDefinition);
    if (!page.ok) throw new Error(page.error.message);
    const { form, begun } = page.value;
    if (form.encoding !== "json") throw new Error("protobuf");
    const rows = begun.rows.map((row) => form.row(row));
    const names = rows.map((row) => (JSON.parse(row) as KubeObject).metadata?.name ?? "");
    return { text: form.envelope.head + rows.join(",") + form.envelope.tail, names };
  }

  it("a list: all clusters, as ClusterProfiles in their namespace; of another namespace: none", async () => {
    const clusters = await world();
    const list = JSON.parse(listed(clusters).text) as { kind: string; items: KubeObject[] };
    expect([list.kind, list.items.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)]).toEqual([
      "ClusterProfileList",
      ["kube-public/blue", "kube-public/default", "kube-public/red"],
    ]);
    expect(listed(clusters, { namespace: "default" }).names).toEqual([]);
  });

  it.each([
    ["x-k8s.io/cluster-manager=servicenet.dev", "", ["blue", "default", "red"]],
    ["x-k8s.io/cluster-manager=other", "", []],
    ["team=a", "", ["blue"]],
    ["", "metadata.name=red,metadata.namespace=kube-public", ["red"]],
    ["", "metadata.namespace=default", []],
  ])("selectors %s %s: see the profile", async (labelSelector, fieldSelector, names) => {
    expect(listed(await world(), { labelSelector, fieldSelector }).names).toEqual(names);
  });

  it("metadata alone: that of the profile", async () => {
    const { text } = listed(await world(), { representation: { as: "partial", version: "v1" } });
    expect(text).toContain('"namespace":"kube-public"');
  });

  it("two readers under two hosts: each has the addresses of his own", async () => {
    const clusters = await world();
    const texts = ["https://a", "https://b"].map((origin) => listed(clusters, { servedAt: { origin } }).text);
    expect(texts.map((text) => /"server":"([^"]*)blue"/.exec(text)?.[1])).toEqual(["https://a/clusters/", "https://b/clusters/"]);
  });
});
