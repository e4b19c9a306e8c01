/**
 * Discovery as data, derived from the served resources: the older plain documents and the aggregated ones (upstream apiserver
 * pkg/endpoints/discovery). Source: upstream apiserver endpoints/discovery and endpoints/discovery/aggregated.
 */
import { apiVersionOf } from "../../../api/meta/type-meta";
import type { ResourceDefinition } from "../../../api/registry/resource";
import type { ServedApis, ServedVersion } from "../../routing/served";

/** One resource of a version as both forms of discovery describe it. */
interface Described {
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly DescribedSubresource[];
}

interface DescribedSubresource {
  name: string;
  verbs: readonly string[];
  /** the kind of its documents, when that is not the resource's */
  own?: { group: string; version: string; kind: string };
}

/** Resources that only take documents: reviews, and the collections that stand for subresources. */
const CREATE_ONLY = { verbs: ["create"], shortNames: [], categories: [], subresources: [] };

function describedBy({ version, resources, reviews, empty }: ServedVersion): Described[] {
  return [
    ...[...resources.values()].map((definition) => ({
      ...definition,
      verbs: [...definition.verbs].sort(),
      subresources: subresourcesOf(definition, version),
    })),
    ...[...resources.values()].flatMap(({ namespaced, actions = [] }) =>
      actions.flatMap(({ collection, kind }) => (collection ? [{ ...CREATE_ONLY, ...collection, kind, namespaced }] : [])),
    ),
    ...[...reviews.values()].map((review) => ({ ...review, ...CREATE_ONLY })),
    ...empty.map((resource) => ({ ...resource, ...resource.discovered, subresources: [] })),
  ].sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

/** The verbs of CONNECT_METHODS. */
const CONNECT_VERBS = ["create", "delete", "get", "patch", "update"];

function subresourcesOf(definition: ResourceDefinition, version: string): DescribedSubresource[] {
  const { subresources, actions = [], connects = [] } = definition;
  return [
    ...subresources.map((name) => ({ name, verbs: name === "finalize" ? ["update"] : ["get", "patch", "update"] })),
    ...actions.map(({ name, group, version: own, kind }) => ({ name, verbs: ["create"], own: { group, version: own, kind } })),
    ...connects.map(({ name, kind }) => ({ name, verbs: CONNECT_VERBS, own: { group: definition.group, version, kind } })),
  ];
}

/** group name -> its versions, preferred first; "" is core */
function groups(apis: ServedApis): Map<string, ServedVersion[]> {
  const byGroup = new Map<string, ServedVersion[]>();
  for (const served of apis.versions) byGroup.set(served.group, [...(byGroup.get(served.group) ?? []), served]);
  return byGroup;
}

/** `serverAddress` is the host that the client reached. */
export function apiVersions(apis: ServedApis, serverAddress: string): object {
  return {
    kind: "APIVersions",
    versions: (groups(apis).get("") ?? []).map(({ version }) => version),
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
  };
}

function groupOf(name: string, versions: readonly ServedVersion[]): object {
  const named = versions.map(({ version }) => ({ groupVersion: apiVersionOf(name, version), version }));
  return { name, versions: named, preferredVersion: named[0] };
}

export function apiGroupList(apis: ServedApis): object {
  const named = [...groups(apis)].filter(([name]) => name !== "");
  return { kind: "APIGroupList", apiVersion: "v1", groups: named.map(([name, versions]) => groupOf(name, versions)) };
}

/** Undefined when the group is not served. */
export function apiGroup(apis: ServedApis, name: string): object | undefined {
  const versions = name === "" ? undefined : groups(apis).get(name);
  return versions && { kind: "APIGroup", apiVersion: "v1", ...groupOf(name, versions) };
}

/** Each resource stands before its subresources: the JavaScript client takes the first entry of a kind. */
export function apiResourceList(served: ServedVersion): object {
  const resources = describedBy(served).flatMap(({ resource, singular, kind, namespaced, verbs, shortNames, categories, subresources }) => [
    {
      name: resource,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    },
    ...subresources.map(({ name, verbs: allowed, own }) => ({
      name: `${resource}/${name}`,
      singularName: "",
      namespaced,
      ...(own && own.group !== served.group ? { group: own.group, version: own.version } : {}),
      kind: own?.kind ?? kind,
      verbs: allowed,
    })),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(served.group, served.version), resources };
}

/** `which` "core" = the one group without a name (`/api`), "named" = all others (`/apis`). */
export function aggregatedDiscovery(apis: ServedApis, which: "core" | "named"): object {
  const items = [...groups(apis)]
    .filter(([name]) => (name === "") === (which === "core"))
    .map(([name, versions]) => ({
      metadata: { name },
      versions: versions.map((served) => ({
        version: served.version,
        resources: describedBy(served).map((described) => aggregatedResource(served, described)),
        freshness: "Current",
      })),
    }));
  return { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
}

function aggregatedResource({ group, version }: ServedVersion, described: Described): object {
  const { resource, singular, kind, namespaced, verbs, shortNames, categories, subresources } = described;
  const responseKind = { group, version, kind };
  return {
    resource,
    responseKind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map(({ name, own, verbs: allowed }) => ({
            subresource: name,
            responseKind: own ?? responseKind,
            verbs: allowed,
          })),
        }
      : {}),
  };
}
