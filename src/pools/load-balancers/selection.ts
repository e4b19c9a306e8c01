/**
 * Which pools serve a Service, and in which order (upstream: MetalLB internal/allocator).
 *
 *   1. pools that are chosen for some Services, and match this one: the lower priority first, 0 last, then by key
 *   2. the other pools, by key
 *
 * A pool that is given on request alone serves only Services that name it, or one of its addresses. Who names a pool must match it all the same. A list that
 * matches nobody is for nobody: upstream takes selectors without a namespace for none.
 */
import { parseLabelSelector, type ParsedSelector } from "../../api/meta/selector";
import { partsOfPoolKey, type PoolKey } from "../../api/registry/ipam/ipam";
import type { ServedServices } from "../../api/meta/own-annotation";
import type { AskingService } from "../../api/rpc/load-balancers";

/** `served`: a pool that changes has both states, and both have to match. */
export interface BalancerPool {
  readonly key: PoolKey;
  readonly served: readonly ServedServices[];
}

/** `first`, then `others`, each in order. `isNamed`: the Service names a pool or an address. */
export function poolsFor<Pool extends BalancerPool>(pools: Iterable<Pool>, service: AskingService, isNamed: boolean): Pool[] {
  const serving = [...pools].filter((pool) => serves(pool, service, isNamed));
  return serving.sort((a, b) => rankOf(a) - rankOf(b) || (a.key < b.key ? -1 : 1));
}

export function serves({ key, served }: BalancerPool, service: AskingService, isNamed: boolean): boolean {
  const { kind, namespace, name } = partsOfPoolKey(key);
  if (kind === "InClusterIPPool" && namespace !== service.namespace) return false;
  if (service.pools && !service.pools.includes(name)) return false;
  return served.every((one) => (isNamed || !one.onRequest) && isMatch(one, service));
}

/** Whether the labels of namespaces decide. */
export function looksAtLabels({ served }: BalancerPool): boolean {
  return served.some(({ namespaceSelectors }) => namespaceSelectors !== undefined);
}

function isMatch({ namespaces, namespaceSelectors, serviceSelectors }: ServedServices, service: AskingService): boolean {
  const ofNamespace =
    !(namespaces ?? namespaceSelectors) ||
    namespaces?.includes(service.namespace) === true ||
    namespaceSelectors?.some((text) => selectorOf(text)?.matches({ ...service.namespaceLabels })) === true;
  const ofService = !serviceSelectors || serviceSelectors.some((text) => selectorOf(text)?.matches({ ...service.labels }));
  return ofNamespace && ofService;
}

function rankOf({ served }: BalancerPool): number {
  const { isChosen, priority = 0 } = served[0] ?? {};
  if (!isChosen) return Infinity;
  // Above every priority that a pool may have.
  return priority === 0 ? Number.MAX_SAFE_INTEGER : priority;
}

/** Selectors that were parsed; beyond the bound the map starts over. */
const PARSED_MAX = 1_000;
const parsed = new Map<string, ParsedSelector | undefined>();

/** undefined = the text is none, or matches everybody: it matches nobody here. */
function selectorOf(text: string): ParsedSelector | undefined {
  const known = parsed.get(text);
  if (known || parsed.has(text)) return known;
  const result = parseLabelSelector(text);
  const selector = result.ok && !result.value.empty ? result.value : undefined;
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(text, selector);
  return selector;
}
