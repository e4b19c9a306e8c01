import { describe, expect, it } from "vitest";
import {
  definitionIn,
  definitionOf,
  definitions,
  representationsOf,
  storedDefinitions,
  storedDefinitionsIn,
  storedResource,
} from "../../../../src/api/registry/all";

/** Upstream pkg/printers/internalversion/printers.go; for roles apiserver pkg/registry/rest/table.go. */
const COLUMNS: Record<string, string> = {
  ConfigMap: "Name, Data, Age",
  Endpoints: "Name, Endpoints, Age",
  Event: "Last Seen, Type, Reason, Object, Subobject (wide), Source (wide), Message, First Seen (wide), Count (wide), Name (wide)",
  Namespace: "Name, Status, Age",
  Node: "Name, Status, Roles, Age, Version, Internal-IP (wide), External-IP (wide), OS-Image (wide), Kernel-Version (wide), Container-Runtime (wide)",
  Pod: "Name, Ready, Status, Restarts, Age, IP (wide), Node (wide), Nominated Node (wide), Readiness Gates (wide)",
  PodTemplate: "Name, Containers, Images, Pod Labels",
  ResourceQuota: "Name, Request, Limit, Age",
  Secret: "Name, Type, Data, Age",
  ServiceAccount: "Name, Age",
  Service: "Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector (wide)",
  IPAddress: "Name, ParentRef",
  // The last one is our own.
  ServiceCIDR: "Name, CIDRs, Age, Namespaces (wide)",
  ClusterRoleBinding: "Name, Role, Age, Users (wide), Groups (wide), ServiceAccounts (wide)",
  ClusterRole: "Name, Created At: date",
  RoleBinding: "Name, Role, Age, Users (wide), Groups (wide), ServiceAccounts (wide)",
  Role: "Name, Created At: date",
  Lease: "Name, Holder, Age",
  // of this server alone
  Cluster: "Name, Phase, Ready, Age, Location (wide), URL (wide), Wiped (wide)",
  // A CRD without columns of its own
  ClusterProfile: "Name, Age",
  EndpointSlice: "Name, AddressType, Ports, Endpoints, Age",
  // Cluster API's CRDs, and those of its in-cluster provider
  IPAddressClaim: "Name, Pool Name, Pool Kind, Age",
  "IPAddress of ipam.cluster.x-k8s.io": "Name, Address, Pool Name, Pool Kind, Age",
  InClusterIPPool: "Name, Addresses, Total: integer, Free: integer, Used: integer, Age",
  GlobalInClusterIPPool: "Name, Addresses, Total: integer, Free: integer, Used: integer, Age",
  InClusterPrefixPool: "Name, Prefixes, Total: integer, Free: integer, Used: integer, Age",
  GlobalInClusterPrefixPool: "Name, Prefixes, Total: integer, Free: integer, Used: integer, Age",
};

describe.each(
  definitions.map((definition) => [`${definition.group}/${definition.versions.join()}/${definition.resource}`, definition] as const),
)("%s", (_, definition) => {
  it("an empty object: one cell for each column", () => {
    expect(definition.cells({}, 0)).toHaveLength(definition.columns.length);
  });

  it("columns: Name alone has the format name", () => {
    expect(definition.columns.filter((column) => column.format === "name").map((column) => column.name)).toEqual(["Name"]);
  });

  it("columns: upstream's names, types and priorities", () => {
    const shown = definition.columns.map(
      ({ name, type, priority }) => name + (priority === 0 ? "" : " (wide)") + (type === "string" ? "" : `: ${type}`),
    );
    expect(shown.join(", ")).toBe(COLUMNS[`${definition.kind} of ${definition.group}`] ?? COLUMNS[definition.kind]);
  });

  it("fieldLabels: those of the selectable fields", () => {
    expect(Object.keys(definition.selectableFields({})).sort()).toEqual([...definition.fieldLabels].sort());
  });

  it("schema: has the name of the kind, and a status when there is the subresource", () => {
    expect(definition.schema.name.endsWith(`.${definition.kind}`)).toBe(true);
    expect(definition.schema.isKind).toBe(true);
    // Of what is read alone the status is nobody's to write.
    const isWritten = definition.verbs.includes("update");
    expect(definition.subresources.includes("status")).toBe(definition.schema.byName.has("status") && isWritten);
  });

  it("definitionIn: finds the definition by group, version and resource; definitionOf the stored one of the resource", () => {
    const { group, resource, versions, representationOf: stored } = definition;
    for (const version of versions) expect(definitionIn(group, version, resource)).toBe(definition);
    const isOwn = stored?.group !== group || stored.resource !== resource;
    expect(definitionOf(group, resource)).toBe(isOwn ? definition : definitionOf(stored.group, stored.resource));
  });

  it("singular: the kind in lower case", () => {
    expect(definition.singular).toBe(definition.kind.toLowerCase());
  });
});

it("definitions: each group, version and resource once", () => {
  const all = definitions.flatMap(({ group, resource, versions }) => versions.map((version) => `${group}/${version}/${resource}`));
  expect(new Set(all).size).toBe(all.length);
});

it("flags of each kind: upstream's", () => {
  const row = (name: string) => {
    const definition = definitions.find(
      ({ resource, group }) => resource === name && !["events.k8s.io", "ipam.cluster.x-k8s.io"].includes(group),
    );
    if (!definition) throw new Error(name);
    const { generation, allowCreateOnUpdate, allowUnconditionalUpdate, returnsDeletedObject, namespaced, shortNames } = definition;
    return [generation, allowCreateOnUpdate, allowUnconditionalUpdate, returnsDeletedObject, namespaced, shortNames.join()];
  };
  expect(row("services")).toEqual(["none", true, true, true, true, "svc"]);
  expect(row("endpointslices")).toEqual(["specAndLabels", false, true, false, true, ""]);
  expect(row("leases")).toEqual(["none", true, false, false, true, ""]);
  expect(row("servicecidrs")).toEqual(["none", false, true, false, false, ""]);
  expect(row("ipaddresses")).toEqual(["none", false, true, false, false, "ip"]);
  expect(row("nodes")).toEqual(["none", false, true, false, false, "no"]);
  expect(row("pods")).toEqual(["spec", false, true, true, true, "po"]);
  expect(row("namespaces")).toEqual(["none", false, true, false, false, "ns"]);
  expect(row("events")).toEqual(["none", true, true, false, true, "ev"]);
  expect(row("endpoints")).toEqual(["none", true, true, false, true, "ep"]);
  expect(row("configmaps")).toEqual(["none", false, true, false, true, "cm"]);
  expect(row("secrets")).toEqual(["none", false, true, false, true, ""]);
  expect(row("serviceaccounts")).toEqual(["none", false, true, true, true, "sa"]);
  expect(row("resourcequotas")).toEqual(["none", false, true, true, true, "quota"]);
  expect(row("roles")).toEqual(["none", true, true, false, true, ""]);
  expect(row("clusterroles")).toEqual(["none", true, true, false, false, ""]);
  expect(row("rolebindings")).toEqual(["none", true, true, false, true, ""]);
  expect(row("clusterrolebindings")).toEqual(["none", true, true, false, false, ""]);
  expect(row("podtemplates")).toEqual(["spec", false, true, true, true, ""]);
});

it("ipam.cluster.x-k8s.io: comes last and has no short names, so that ipaddresses and ip mean those of networking.k8s.io", () => {
  const groups = [...new Set(definitions.map(({ group }) => group))];
  expect(groups.at(-1)).toBe("ipam.cluster.x-k8s.io");
  const own = definitions.filter(({ group }) => group === "ipam.cluster.x-k8s.io");
  expect(own.map(({ kind, versions, shortNames, categories }) => [kind, versions.join(), shortNames.join(), categories.join()])).toEqual([
    ["IPAddressClaim", "v1beta2", "", "cluster-api"],
    ["IPAddress", "v1beta2", "", "cluster-api"],
    ["IPAddressClaim", "v1beta1", "", "cluster-api"],
    ["IPAddress", "v1beta1", "", "cluster-api"],
    ["InClusterIPPool", "v1alpha2", "", "cluster-api"],
    ["GlobalInClusterIPPool", "v1alpha2", "", "cluster-api"],
    ["InClusterPrefixPool", "v1alpha2", "", "cluster-api"],
    ["GlobalInClusterPrefixPool", "v1alpha2", "", "cluster-api"],
  ]);
});

it("confidential: Secrets alone", () => {
  expect(definitions.filter(({ confidential }) => confidential).map(({ resource }) => resource)).toEqual(["secrets"]);
});

it("deletecollection: every resource but namespaces, clusters and what is read alone", () => {
  expect(definitions.filter(({ verbs }) => !verbs.includes("deletecollection")).map(({ resource }) => resource)).toEqual([
    "namespaces",
    "clusters",
    "clusterprofiles",
  ]);
});

it("events of events.k8s.io: represent core events", () => {
  const core = definitionOf("", "events");
  expect(core && representationsOf(core).map(({ group }) => group)).toEqual(["events.k8s.io"]);
});

describe("stores", () => {
  it("another representation: kept in the store of the resource that it represents", () => {
    const events = definitions.filter(({ resource }) => resource === "events");
    expect(events.map((definition) => storedResource(definition)).map(({ group, resource }) => `${group}/${resource}`)).toEqual([
      "/events",
      "/events",
    ]);
  });

  it("each stored object: in exactly one store", () => {
    const stores = new Set(
      definitions.map((definition) => definitionOf(storedResource(definition).group, storedResource(definition).resource)),
    );
    expect(storedDefinitions).toEqual([...stores]);
  });

  it("the kinds of the fleet: stored in the root cluster alone", () => {
    expect(storedDefinitionsIn(true)).toEqual(storedDefinitions);
    expect(
      storedDefinitions.filter((definition) => !storedDefinitionsIn(false).includes(definition)).map(({ resource }) => resource),
    ).toEqual(["clusters"]);
  });
});
