/**
 * What one object uses of a quota (upstream pkg/quota/v1/evaluator/core). Quotas with scopes count Pods by more than their number. That is not done
 * here, so such quotas limit nothing.
 */
import { qualifiedResource } from "../../meta/status";
import type { KubeObject, Pod, ResourceQuota, Service } from "../../meta/kubernetes";
import type { ResourceDefinition } from "../resource";

export interface UsageRules {
  /** names of which every object uses one */
  readonly counted: readonly string[];
  /** names of which an object uses what `measure` says, in this order */
  readonly measured: readonly string[];
  measure(object: KubeObject): number[];
  /** whether an update may use more than before, and is refused beyond a limit */
  onUpdate: boolean;
}

/** Upstream's `ignoredResources`: quotas never count events. */
const IGNORED = ["events"];
/** Resources that had a name in quotas before there was `count/`. */
const ALIASES = ["configmaps", "resourcequotas", "secrets", "services"];
const PLAIN = { measured: [], measure: () => [], onUpdate: false };
const FINISHED = ["Succeeded", "Failed"];

/** The rules of a resource; undefined = quotas do not count it. */
export function usageRules(
  definition: Pick<ResourceDefinition, "group" | "resource" | "namespaced" | "representationOf">,
): UsageRules | undefined {
  const { group, resource, namespaced, representationOf } = definition;
  const name = qualifiedResource(definition);
  // Nobody makes an object that is shown in a namespace, and stored in none.
  if (!namespaced || representationOf?.shownIn !== undefined || IGNORED.includes(resource)) return undefined;
  const counted = [`count/${name}`, ...(group === "" && ALIASES.includes(resource) ? [resource] : [])];
  if (name === "services") {
    return { counted, measured: ["services.nodeports", "services.loadbalancers"], measure: measureService, onUpdate: true };
  }
  // Upstream does not charge a Pod that begins to run again: it never does.
  if (name === "pods") return { counted, measured: ["pods"], measure: measurePod, onUpdate: false };
  return { ...PLAIN, counted };
}

/** The limits that a quota sets: name -> quantity. */
export function limitsOf(quota: ResourceQuota | undefined): Readonly<Record<string, string>> {
  const { hard = {}, scopes = [], scopeSelector } = quota?.spec ?? {};
  return scopes.length > 0 || scopeSelector?.matchExpressions?.length ? {} : hard;
}

/** Those of the limits that are about objects with these rules; undefined = none. */
export function limitsFor({ counted, measured }: UsageRules, limits: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const own = [...counted, ...measured].filter((name) => Object.hasOwn(limits, name));
  return own.length === 0 ? undefined : Object.fromEntries(own.map((name) => [name, limits[name] ?? ""]));
}

/** Node ports are counted as they will be allocated, before they are. */
function measureService(service: Service): number[] {
  const { type, ports = [], allocateLoadBalancerNodePorts } = service.spec ?? {};
  if (type === "NodePort") return [ports.length, 0];
  if (type !== "LoadBalancer") return [0, 0];
  return [allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length, 1];
}

function measurePod({ status }: Pod): number[] {
  return [FINISHED.includes(status?.phase ?? "") ? 0 : 1];
}
