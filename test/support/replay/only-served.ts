/** Discovery documents without what one of the two servers does not serve: the groups and resources of the corpus remain. */
import { KINDS } from "./kinds";

type Json = Record<string, unknown>;

const REVIEWS = [
  "bindings",
  "localsubjectaccessreviews",
  "selfsubjectaccessreviews",
  "selfsubjectrulesreviews",
  "selfsubjectreviews",
  "subjectaccessreviews",
  "tokenreviews",
];
const resources = new Set([...KINDS.map(({ resource }) => resource), ...REVIEWS]);
const groups = new Set([
  ...KINDS.map(({ apiVersion }) => (apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "")),
  "authentication.k8s.io",
  "authorization.k8s.io",
]);
/** Of those resources the subresources that this server does not have: docs/compatibility.md, "Resources and verbs". */
const NO_SUBRESOURCES = /^(?:pods\/(?:attach|ephemeralcontainers|exec|log|portforward|proxy|resize)|services\/proxy)$/;

export function onlyServed(document: unknown): unknown {
  if (typeof document !== "object" || document === null) return document;
  const { groups: own, resources: plain, items } = document as { groups?: Json[]; resources?: Json[]; items?: Json[] };
  return {
    ...document,
    ...(own ? { groups: byName(own.filter(({ name }) => groups.has(String(name)))) } : {}),
    ...(plain ? { resources: byName(plain.filter(({ name }) => isServed(String(name)))).map(withSortedVerbs) } : {}),
    ...(items ? { items: byName(items.filter((item) => groups.has(nameOf(item)))).map(servedVersions) } : {}),
  };
}

function servedVersions(group: Json): Json {
  const versions = group["versions"] as { resources?: Json[] }[];
  return {
    ...group,
    versions: versions.map((version) => ({
      ...version,
      resources: byName((version.resources ?? []).filter((one) => isServed(nameOf(one)))).map(served),
    })),
  };
}

function served(resource: Json): Json {
  const { subresources } = resource as { subresources?: Json[] };
  if (!subresources) return withSortedVerbs(resource);
  const own = subresources.filter((one) => isServed(`${nameOf(resource)}/${nameOf(one)}`));
  return { ...withSortedVerbs(resource), subresources: byName(own).map(withSortedVerbs) };
}

/** Clients look names up: the order says nothing. */
function byName(list: readonly Json[]): Json[] {
  return [...list].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function withSortedVerbs(resource: Json): Json {
  return { ...resource, verbs: [...(resource["verbs"] as string[])].sort() };
}

function nameOf({ name, resource, subresource, metadata }: Json): string {
  return String(name ?? resource ?? subresource ?? (metadata as Json | undefined)?.["name"] ?? "");
}

function isServed(name: string): boolean {
  return resources.has(name.split("/")[0] ?? "") && !NO_SUBRESOURCES.test(name);
}
