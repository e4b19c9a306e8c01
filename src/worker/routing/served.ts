/** The registry as routes see it: group and version -> resources, without those whose feature gate is off. Built once per isolate. */
import type { Env } from "../../../durable-objects/env";
import { definitions } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { configOf } from "./config-guard";
import { type Review, REVIEWS } from "./review-kinds";

export interface ServedVersion {
  group: string;
  version: string;
  resources: ReadonlyMap<string, ResourceDefinition>;
  reviews: ReadonlyMap<string, Review>;
}

/** All that a server serves. One object for each combination of gates, so that it can be the key of a cache. */
export interface ServedApis {
  /** in the registry's order */
  versions: readonly ServedVersion[];
}

/** With all gates on; and without the ServiceCIDR and IPAddress APIs. */
const everything = servedWhere(() => true);
const withoutMultiCidr = servedWhere(({ gate }) => gate !== "MultiCIDRServiceAllocator");

function servedWhere(isServed: (definition: ResourceDefinition) => boolean): ServedApis {
  const versions = new Map<
    string,
    { group: string; version: string; resources: Map<string, ResourceDefinition>; reviews: Map<string, Review> }
  >();
  const entry = (group: string, version: string) => {
    const key = `${group}/${version}`;
    const found = versions.get(key) ?? { group, version, resources: new Map(), reviews: new Map() };
    versions.set(key, found);
    return found;
  };
  for (const definition of definitions.filter(isServed)) {
    for (const version of definition.versions) entry(definition.group, version).resources.set(definition.resource, definition);
  }
  for (const review of REVIEWS) entry(review.group, review.version).reviews.set(review.resource, review);
  return { versions: [...versions.values()] };
}

/** What this isolate serves under its configuration. */
export function servedApis(env: Env): ServedApis {
  const config = configOf(env);
  return config.ok && !config.value.featureGates.MultiCIDRServiceAllocator ? withoutMultiCidr : everything;
}

/** What a group ("" for core) serves in a version; undefined = 404 page not found. */
export function servedVersion(apis: ServedApis, group: string, version: string): ServedVersion | undefined {
  return apis.versions.find((served) => served.group === group && served.version === version);
}
