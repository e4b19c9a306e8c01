/** The registry as routes see it: group and version -> resources. Built once per isolate. */
import { definitions } from "../registry/all";
import type { ResourceDefinition } from "../registry/resource";
import { type Review, REVIEWS } from "./system/review-kinds";

export interface ServedVersion {
  group: string;
  version: string;
  resources: ReadonlyMap<string, ResourceDefinition>;
  reviews: ReadonlyMap<string, Review>;
}

const served = new Map<
  string,
  { group: string; version: string; resources: Map<string, ResourceDefinition>; reviews: Map<string, Review> }
>();

function entry(group: string, version: string) {
  const key = `${group}/${version}`;
  let found = served.get(key);
  if (!found) served.set(key, (found = { group, version, resources: new Map(), reviews: new Map() }));
  return found;
}

for (const definition of definitions) {
  for (const version of definition.versions) entry(definition.group, version).resources.set(definition.resource, definition);
}
for (const review of REVIEWS) entry(review.group, review.version).reviews.set(review.resource, review);

/** What a group ("" for core) serves in a version; undefined = 404 page not found. */
export function servedVersion(group: string, version: string): ServedVersion | undefined {
  return served.get(`${group}/${version}`);
}

/** Everything that is served, in the registry's order. */
export function servedVersions(): Iterable<ServedVersion> {
  return served.values();
}
