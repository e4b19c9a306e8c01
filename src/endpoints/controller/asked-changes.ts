/**
 * Which changes ask the controllers of endpoints for a pass. A filter says no only where the change itself shows that it makes no look at a Service. Its
 * controller reads such a change with the next one. Each is asked in the turn of the change, so it looks at nothing else.
 */
import { semanticEqual } from "../../api/meta/equality";
import { LABEL_MANAGED_BY } from "../../api/meta/endpoint-keys";
import type { KubeObject, Node, Pod, Service } from "../../api/meta/kubernetes";
import { hasSelector, specOf } from "../../api/registry/services/predicates";
import type { ChangeFilter } from "../../api/store/feeds/follower-pokes";
import { nodeZone } from "../sources/node-zone";
import { podFacts } from "../sources/pod-facts";
import { serviceFacts } from "../sources/service-facts";
import { hasPods, isEndpoint } from "../sources/service-pods";

/** What endpoints depend on is another than before. A Service that has no Pods, before and after, has none of it. */
export const changesServiceWithPods: ChangeFilter = changesFacts((service: Service) =>
  hasPods(service) ? serviceFacts(service) : undefined,
);

/** The same of a Pod: one without an address, or that has finished, is no endpoint. */
export const changesPodEndpoint: ChangeFilter = changesFacts((pod: Pod) => {
  const facts = podFacts(pod);
  return isEndpoint(facts) ? facts : undefined;
});

/** A Node comes, goes, or is in another zone. */
export const changesNodeZone: ChangeFilter = changesFacts((node: Node) => nodeZone(node));

/** A Service without selector comes or goes: for others nobody mirrors Endpoints. */
export const changesMirroredService: ChangeFilter = changesFacts((service: Service) => !hasSelector(specOf(service)) || undefined);

/** The slice is one of those that have this value of the label managed-by, before or after. */
export function changesSliceOf(manager: string): ChangeFilter {
  const isOf = (slice: KubeObject | undefined): boolean => slice?.metadata?.labels?.[LABEL_MANAGED_BY] === manager;
  return ({ before, after }) => isOf(before) || isOf(after);
}

/**
 * Somebody else than the controller of Endpoints has written them, before or after. Those that it alone has written are of a Service with a selector,
 * which are not mirrored. Or its Service has lost the selector since, and was looked at then: if somebody deletes them later, cron's pass finds it.
 *
 * @param manager the controller's name in managedFields
 */
export function changesForeignEndpoints(manager: string): ChangeFilter {
  const areOwn = (endpoints: KubeObject | undefined): boolean => {
    if (!endpoints) return true;
    const entries = endpoints.metadata?.managedFields ?? [];
    return entries.length > 0 && entries.every((entry) => entry.manager === manager);
  };
  return ({ before, after }) => !areOwn(before) || !areOwn(after);
}

function changesFacts<O extends KubeObject>(factsOf: (object: O) => unknown): ChangeFilter {
  const facts = (object: KubeObject | undefined): unknown => object && factsOf(object as O);
  return ({ before, after }) => !semanticEqual(facts(before), facts(after));
}
