/**
 * The registry as routes see it: group and version -> resources. Resources whose feature gate is off are left out. Confidential ones are left out
 * where other machines reach a server that does not authenticate. Built once per isolate.
 */
import { assert } from "../../core/base/assert";
import { definitions } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import { allowsAll, type Config } from "../../core/config/config";
import { isRootCluster } from "../../tenancy/cluster-id";
import { type DiscoveredResource, EMPTY_RESOURCES, isDiscovered } from "./empty-resources";
import { type Review, REVIEWS } from "./review-kinds";

export interface ServedVersion {
  group: string;
  version: string;
  resources: ReadonlyMap<string, ResourceDefinition>;
  reviews: ReadonlyMap<string, Review>;
  /** what discovery names although there are none */
  empty: readonly DiscoveredResource[];
}

/** All that a server serves. One object for each `Reach`, so that it can be the key of a cache. */
export interface ServedApis {
  /** in the registry's order */
  versions: readonly ServedVersion[];
}

/** What of the configuration decides about what is served. */
interface Reach {
  /** the ServiceCIDR and IPAddress APIs */
  multiCidr: boolean;
  /** what only few may read */
  confidential: boolean;
  /** the kinds of the fleet */
  root: boolean;
}

const apisOf = (reach: Reach): ServedApis =>
  servedWhere(
    ({ gate, confidential, atRoot }) =>
      (gate === undefined || reach.multiCidr) && (!confidential || reach.confidential) && (!atRoot || reach.root),
  );
const APIS: readonly (ServedApis & Reach)[] = [true, false].flatMap((multiCidr) =>
  [true, false].flatMap((confidential) =>
    [true, false].map((root) => ({ ...apisOf({ multiCidr, confidential, root }), multiCidr, confidential, root })),
  ),
);

function servedWhere(isServed: (definition: ResourceDefinition) => boolean): ServedApis {
  interface Growing extends ServedVersion {
    resources: Map<string, ResourceDefinition>;
    reviews: Map<string, Review>;
    empty: DiscoveredResource[];
  }
  const versions = new Map<string, Growing>();
  const entry = (group: string, version: string): Growing => {
    const key = `${group}/${version}`;
    const found = versions.get(key) ?? { group, version, resources: new Map(), reviews: new Map(), empty: [] };
    versions.set(key, found);
    return found;
  };
  for (const definition of definitions.filter(isServed)) {
    for (const version of definition.versions) entry(definition.group, version).resources.set(definition.resource, definition);
  }
  for (const review of REVIEWS) entry(review.group, review.version).reviews.set(review.resource, review);
  for (const resource of EMPTY_RESOURCES.filter(isDiscovered)) entry(resource.group, resource.version).empty.push(resource);
  return { versions: [...versions.values()] };
}

/** What a server serves under its configuration in the cluster of this name, or of this id. */
export function servedApis(config: Config, cluster: string): ServedApis {
  const root = isRootCluster(cluster);
  const multiCidr = config.featureGates.MultiCIDRServiceAllocator;
  const confidential = config.loopbackOnly || !allowsAll(config);
  const found = APIS.find((apis) => apis.multiCidr === multiCidr && apis.confidential === confidential && apis.root === root);
  assert(found !== undefined, "served: there is one list for each combination");
  return found;
}

/** What a group ("" for core) serves in a version; undefined = 404 page not found. */
export function servedVersion(apis: ServedApis, group: string, version: string): ServedVersion | undefined {
  return apis.versions.find((served) => served.group === group && served.version === version);
}
