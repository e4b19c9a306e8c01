/**
 * The conventions of the Kubernetes API that every served resource follows: rows of the matrix in docs/compatibility.md.
 * test/e2e/conformance/matrix.test.ts runs each convention over each resource of the registry. An exemption has a reason, which
 * follows from the definition of the resource: a new resource needs no line here.
 */
import { definitionsEverywhere } from "../../src/api/registry/all";
import { IPAM_GROUP } from "../../src/api/registry/ipam/ipam";
import type { ResourceDefinition, Verb } from "../../src/api/registry/resource";

interface Convention {
  /** why the convention does not concern a resource; undefined = it does, and the matrix tests it */
  exempt?(definition: ResourceDefinition): string | undefined;
}

const everywhere: Convention = {};

function needs(verb: Verb): Convention {
  return { exempt: (definition) => (definition.verbs.includes(verb) ? undefined : `no ${verb} upstream either`) };
}

const conventions = {
  "create, 409 when it is there": everywhere,
  "get, 404 when it is not": everywhere,
  list: everywhere,
  "update: resourceVersion and uid conflicts": everywhere,
  "update of a missing name: creates or 404, per kind": everywhere,
  "update without resourceVersion, per kind": everywhere,
  "a write that changes nothing keeps the resourceVersion": everywhere,
  "metadata is validated": everywhere,
  generateName: everywhere,
  "delete: answer per kind, preconditions": everywhere,
  finalizers: everywhere,
  deletecollection: needs("deletecollection"),
  "owner deleted: dependents go": everywhere,
  "propagationPolicy Background, Foreground, Orphan": {
    exempt: ({ kind }) => (kind === "Event" ? "own nothing: upstream takes no policy for them" : undefined),
  },
  "namespace deleted: its content goes": { exempt: ({ namespaced }) => (namespaced ? undefined : "cluster-scoped") },
  "dry run": everywhere,
  "fieldValidation Strict, Warn, Ignore": everywhere,
  "YAML body and answer": everywhere,
  "protobuf body": everywhere,
  "protobuf answers": everywhere,
  "JSON patch": everywhere,
  "merge patch": everywhere,
  "strategic merge patch": everywhere,
  "server-side apply": everywhere,
  "managedFields of other writes": everywhere,
  "generation, per kind": everywhere,
  "status endpoint": {
    exempt: ({ subresources }) => (subresources.includes("status") ? undefined : "no status upstream either"),
  },
  "limit and continue: one snapshot": everywhere,
  "resourceVersion and resourceVersionMatch": everywhere,
  "resourceVersion=0: copy and owner say the same": {
    exempt: ({ confidential }) => (confidential ? "no copy leaves the store" : undefined),
  },
  "410 Expired, with a token that lists on": everywhere,
  "gzip of large lists": everywhere,
  "label selectors": everywhere,
  "field selectors": everywhere,
  Table: everywhere,
  "PartialObjectMetadata and its list": everywhere,
  "watch from a resourceVersion": everywhere,
  "watch as Table and as PartialObjectMetadata": everywhere,
  bookmarks: everywhere,
  "timeoutSeconds ends a watch": everywhere,
  "streaming list (sendInitialEvents)": everywhere,
  "watch: the selector stops and starts to match": everywhere,
  "watch over WebSocket": everywhere,
  "discovery: names, short names, categories, verbs": everywhere,
  "OpenAPI v3": everywhere,
  "OpenAPI v2": everywhere,
  "every served version": everywhere,
} satisfies Record<string, Convention>;

/** The kinds of kube-apiserver. Pools and claims are CRDs upstream, and their controller writes them beside each test: they have tests of their own. */
export const conformingDefinitions: readonly ResourceDefinition[] = definitionsEverywhere.filter(({ group }) => group !== IPAM_GROUP);

export type ConventionName = keyof typeof conventions;

export const conventionNames = Object.keys(conventions) as ConventionName[];

/** Why a convention does not concern a resource; undefined = it is tested. */
export function exemption(name: ConventionName, definition: ResourceDefinition): string | undefined {
  return (conventions[name] as Convention).exempt?.(definition);
}
