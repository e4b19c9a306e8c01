import { describe, expect, it } from "vitest";
import { CLUSTER_FINALIZER, type Cluster } from "../../../../../src/api/registry/clusters/cluster";
import { clustersDefinition } from "../../../../../src/api/registry/clusters/definition";
import { NAME_LABEL } from "../../../../../src/api/registry/name-label";
import { StoreWorld } from "../../../../support/worlds/store-world";

const GROUP = { group: "servicenet.dev", version: "v1alpha1" };

function world(): StoreWorld {
  return new StoreWorld({ definition: clustersDefinition });
}

function cluster(name: string, spec: Cluster["spec"] = {}, status?: Cluster["status"]): Cluster {
  return { metadata: { name }, spec, ...(status && { status }) };
}

/** `ok`, or the code and the text of the refusal. */
async function outcome(answer: ReturnType<StoreWorld["create"]>): Promise<string> {
  const result = await answer;
  return result.ok ? "ok" : `${result.status.code ?? 0} ${result.status.message ?? ""}`;
}

describe("a create", () => {
  it.each([
    ["blue", {}, "ok"],
    ["blue", { location: "weur", controllers: ["*", "-namespace"] }, "ok"],
    [
      "blue",
      { location: "mars" },
      '422 Cluster.servicenet.dev "blue" is invalid: spec.location: Unsupported value: "mars": supported values: "afr", ',
    ],
    [
      "blue",
      { controllers: ["mars"] },
      '422 Cluster.servicenet.dev "blue" is invalid: spec.controllers: Invalid value: ["mars"]: "mars" is not in the list',
    ],
    ["b.c", {}, '422 Cluster.servicenet.dev "b.c" is invalid: metadata.name: Invalid value: "b.c": must not contain dots'],
    ["b".repeat(64), {}, "must be no more than 63 characters"],
    ["blue", { pool: { name: "fleet" } }, "ok"],
    ["blue", { pool: { name: "fleet", servicePrefixLength: 20 } }, "ok"],
    ["blue", { pool: {} }, '422 Cluster.servicenet.dev "blue" is invalid: spec.pool.name: Required value'],
    ["blue", { pool: { name: "Fleet" } }, 'spec.pool.name: Invalid value: "Fleet": a lowercase RFC 1123 subdomain'],
    [
      "blue",
      { pool: { name: "fleet", servicePrefixLength: 126 } },
      "spec.pool.servicePrefixLength: Invalid value: 126: must be between 1 and 125",
    ],
    [
      "blue",
      { pool: { name: "fleet" }, serviceCIDRs: ["10.0.0.0/16"] },
      "spec.pool: Forbidden: may not be set together with spec.serviceCIDRs",
    ],
    // as absent
    ["blue", { controllers: [], serviceCIDRs: [] }, "ok"],
    ["blue", { quotas: { "count/services": "5", pods: "10" } }, "ok"],
    ["blue", { quotas: { mars: "1" } }, 'spec.quotas[mars]: Invalid value: "mars": must be a standard resource for quota'],
    ["blue", { quotas: { pods: "-1" } }, "must be greater than or equal to 0"],
    ["blue", { serviceCIDRs: ["fd00::/112", "10.0.0.0/16"] }, "ok"],
    [
      "blue",
      { serviceCIDRs: ["10.0.0.1/16"] },
      '422 Cluster.servicenet.dev "blue" is invalid: spec.serviceCIDRs[0]: Invalid value: "10.0.0.1/16": must not have bits set beyond the prefix length',
    ],
    ["blue", { serviceCIDRs: ["mars"] }, 'spec.serviceCIDRs[0]: Invalid value: "mars": must be a valid CIDR value'],
    [
      "blue",
      { serviceCIDRs: ["10.0.0.0/16", "10.1.0.0/16"] },
      "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
    ],
    ["blue", { serviceCIDRs: ["10.0.0.0/16", "fd00::/112", "fd01::/112"] }, "may only hold up to 2 values"],
    [
      "blue",
      { serviceCIDRs: ["10.0.0.0/30"] },
      'spec.serviceCIDRs[0]: Invalid value: "10.0.0.0/30": the service cluster IP range must be at least 8 IP addresses',
    ],
    ["default", {}, '409 clusters.servicenet.dev "default" already exists'],
  ])("of %s with %j: %s", async (name, spec, wanted) => {
    expect(await outcome(world().create(cluster(name, spec), GROUP))).toContain(wanted);
  });

  it("the status of a client: dropped; the finalizer: there", async () => {
    const store = world();
    await store.create(cluster("blue", {}, { phase: "Active", url: "http://example.com" }), GROUP);
    const stored = store.stored<Cluster>("blue");
    expect([stored?.status, stored?.metadata?.finalizers, stored?.metadata?.generation]).toEqual([
      { phase: "Pending" },
      [CLUSTER_FINALIZER],
      1,
    ]);
  });
});

describe("an update", () => {
  it.each([
    [{ location: "weur" }, { location: "weur", controllers: ["*"] }, "ok"],
    [{ location: "weur" }, { location: "enam" }, 'spec.location: Invalid value: "enam": field is immutable'],
    [{}, { location: "weur" }, 'spec.location: Invalid value: "weur": field is immutable'],
    [{ controllers: ["*"] }, {}, "ok"],
    [{ quotas: { pods: "1" } }, { quotas: { services: "2" } }, "ok"],
    [{ quotas: { pods: "1" } }, { quotas: { mars: "1" } }, "must be a standard resource for quota"],
    [{ serviceCIDRs: ["10.0.0.0/16"] }, { serviceCIDRs: ["10.0.0.0/16"] }, "ok"],
    [
      { serviceCIDRs: ["10.0.0.0/16"] },
      { serviceCIDRs: ["10.1.0.0/16"] },
      'spec.serviceCIDRs: Invalid value: ["10.1.0.0/16"]: field is immutable',
    ],
    [
      { serviceCIDRs: ["10.0.0.0/16"] },
      { serviceCIDRs: ["10.0.0.0/16", "fd00::/112"] },
      'spec.serviceCIDRs: Invalid value: ["10.0.0.0/16","fd00::/112"]: field is immutable',
    ],
    [{}, { serviceCIDRs: ["10.0.0.0/16"] }, 'spec.serviceCIDRs: Invalid value: ["10.0.0.0/16"]: field is immutable'],
    [{}, { controllers: ["mars"] }, '"mars" is not in the list of known controllers'],
  ])("from %j to %j: %s", async (before, after, wanted) => {
    const store = world();
    await store.create(cluster("blue", before), GROUP);
    expect(await outcome(store.update(cluster("blue", after), GROUP))).toContain(wanted);
  });

  it.each([
    ["nothing", undefined],
    ["no location and no ranges", { controllers: ["*"] }],
    ["empty ones", { location: "", serviceCIDRs: [] }],
  ])("of a cluster with a location and ranges, with a spec of %s: the stored ones stay", async (_, spec) => {
    const store = world();
    await store.create(cluster("blue", { location: "weur", serviceCIDRs: ["10.0.0.0/16"] }), GROUP);
    const sent: Cluster = { metadata: { name: "blue" }, ...(spec && { spec }) };
    expect(await outcome(store.update(sent, GROUP))).toBe("ok");
    expect(store.stored<Cluster>("blue")?.spec).toEqual({ ...spec, location: "weur", serviceCIDRs: ["10.0.0.0/16"] });
  });

  it("of the status: takes that alone, so that the finalizer stays before the deletion and during it", async () => {
    const store = world();
    await store.create({ metadata: { name: "blue", labels: { a: "b" } } }, GROUP);
    const bare: Cluster = { metadata: { name: "blue" }, spec: { location: "weur" }, status: { phase: "Active" } };
    expect(await outcome(store.update(bare, GROUP, "status"))).toBe("ok");
    const { metadata, spec, status } = store.stored<Cluster>("blue") ?? {};
    expect([metadata?.finalizers, metadata?.labels, spec, status]).toEqual([
      [CLUSTER_FINALIZER],
      { a: "b", "kubernetes.io/metadata.name": "blue" },
      undefined,
      { phase: "Active" },
    ]);
    await store.delete("blue", {}, "");
    expect(store.stored<Cluster>("blue")?.status?.phase).toBe("Terminating");
    expect(await outcome(store.update(bare, GROUP, "status"))).toBe("ok");
    expect(store.stored<Cluster>("blue")?.metadata?.finalizers).toEqual([CLUSTER_FINALIZER]);
  });

  it("without the finalizer: it stays until the deletion, and may go then", async () => {
    const store = world();
    await store.create(cluster("blue"), GROUP);
    await store.update({ metadata: { name: "blue", labels: { a: "b" } } }, GROUP);
    expect(store.stored<Cluster>("blue")?.metadata?.finalizers).toEqual([CLUSTER_FINALIZER]);
    await store.delete("blue", {}, "");
    expect(store.stored<Cluster>("blue")?.status?.phase).toBe("Terminating");
    await store.update(cluster("blue"), GROUP);
    expect(store.stored<Cluster>("blue")).toBeUndefined();
  });
});

it("the cluster default: is there from the beginning, and is not deleted", async () => {
  const store = world();
  expect(store.stored<Cluster>("default")?.status).toMatchObject({ phase: "Active", url: "/" });
  expect(await outcome(store.delete("default", {}, ""))).toBe(
    '403 clusters.servicenet.dev "default" is forbidden: this cluster may not be deleted',
  );
  expect(await outcome(store.delete("nosuch", {}, ""))).toBe('404 clusters.servicenet.dev "nosuch" not found');
});

it("the label of the name: a create has it, and no update and no patch takes or changes it; one that is older than it gets it", async () => {
  const clusters = world();
  const label = (): string | undefined => clusters.stored<Cluster>("blue", "")?.metadata?.labels?.[NAME_LABEL];
  await clusters.create(cluster("blue"), GROUP);
  expect(label()).toBe("blue");
  await clusters.update({ ...cluster("blue"), metadata: { name: "blue", labels: { team: "a" } } }, GROUP);
  expect(label()).toBe("blue");
  await clusters.patch("blue", "merge", { metadata: { labels: { [NAME_LABEL]: "red" } } }, GROUP, "");
  expect(label()).toBe("blue");
  const [object] = [...clusters.storage.objectScan("", "")].filter(({ data }) => data.includes('"blue"'));
  if (!object) throw new Error("no object");
  const { metadata, ...rest } = JSON.parse(object.data) as Cluster;
  clusters.storage.objectPut({ ...object, data: JSON.stringify({ metadata: { ...metadata, labels: {} }, ...rest }) });
  clusters.restart();
  await clusters.update(cluster("blue", { controllers: ["*"] }), GROUP);
  expect(label()).toBe("blue");
});
