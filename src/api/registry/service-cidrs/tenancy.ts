/** The annotations that keep the ranges of a ServiceCIDR for the Services of some namespaces (addresses/topology/tenants.ts). */
import { type FieldError, invalidValue, notSupported } from "../../meta/field-errors";
import type { ServiceCIDR } from "../../meta/kubernetes";
import { OWN_DOMAIN } from "../../meta/own-annotation";
import { parseLabelSelector } from "../../meta/selector";
import { NODE_PORT_MAX, NODE_PORT_MIN, type NodePortRange, parseNodePortRange } from "../../../core/net/node-port-range";

/** A label selector over Namespaces, in the syntax of `labelSelector=`. */
export const NAMESPACE_SELECTOR = `${OWN_DOMAIN}/namespace-selector`;
/** What a Service gets whose ranges are full: nothing, or an address of a range that is kept for no namespaces. */
const WHEN_FULL = `${OWN_DOMAIN}/when-full`;

/** Node ports that are kept for the same Services, as `31000-31099`. */
export const NODE_PORT_RANGE = `${OWN_DOMAIN}/node-port-range`;

const WHEN_FULL_VALUES = ["Any", "Fail"];

/** The errors of the annotations. What was stored with the same values before is not judged again. */
export function tenancyErrors(after: ServiceCIDR, before: ServiceCIDR | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const selector = changed(NAMESPACE_SELECTOR, after, before);
  if (selector !== undefined) {
    const parsed = parseLabelSelector(selector);
    if (!parsed.ok) errors.push(invalidValue(pathOf(NAMESPACE_SELECTOR), selector, parsed.error));
    else if (parsed.value.empty)
      errors.push(invalidValue(pathOf(NAMESPACE_SELECTOR), selector, "must name at least one label of namespaces"));
  }
  const whenFull = changed(WHEN_FULL, after, before);
  if (whenFull !== undefined && !WHEN_FULL_VALUES.includes(whenFull)) {
    errors.push(notSupported(pathOf(WHEN_FULL), whenFull, WHEN_FULL_VALUES));
  }
  return [...errors, ...nodePortErrors(after, before, selector !== undefined)];
}

/** A range without a selector is nobody's: whoever takes the one away takes the other. */
function nodePortErrors(after: ServiceCIDR, before: ServiceCIDR | undefined, isNewSelector: boolean): FieldError[] {
  const annotations = after.metadata?.annotations;
  const text = annotations?.[NODE_PORT_RANGE];
  if (text === undefined) return [];
  const isNew = changed(NODE_PORT_RANGE, after, before) !== undefined;
  if (isNew && !parseNodePortRange(text)) {
    const detail = `must be FIRST-LAST, two ports from ${String(NODE_PORT_MIN)} to ${String(NODE_PORT_MAX)}, such as 31000-31099`;
    return [invalidValue(pathOf(NODE_PORT_RANGE), text, detail)];
  }
  const lostSelector = before?.metadata?.annotations?.[NAMESPACE_SELECTOR] !== undefined || isNewSelector;
  if (annotations?.[NAMESPACE_SELECTOR] !== undefined || !(isNew || lostSelector)) return [];
  return [invalidValue(pathOf(NODE_PORT_RANGE), text, `needs ${NAMESPACE_SELECTOR}, which says whose ports they are`)];
}

interface KeptFor {
  selector: string;
  whenFull?: "Any";
  nodePorts?: NodePortRange;
}

/** For whom the ranges are kept; undefined = for everybody. */
export function tenancyOf({ metadata }: ServiceCIDR): KeptFor | undefined {
  const selector = metadata?.annotations?.[NAMESPACE_SELECTOR];
  const parsed = selector === undefined ? undefined : parseLabelSelector(selector);
  if (selector === undefined || !parsed?.ok || parsed.value.empty) return undefined;
  const nodePorts = parseNodePortRange(metadata?.annotations?.[NODE_PORT_RANGE] ?? "");
  return { selector, ...(metadata?.annotations?.[WHEN_FULL] === "Any" && { whenFull: "Any" }), ...(nodePorts && { nodePorts }) };
}

export function pathOf(annotation: string): string {
  return `metadata.annotations[${annotation}]`;
}

function changed(annotation: string, after: ServiceCIDR, before: ServiceCIDR | undefined): string | undefined {
  const value = after.metadata?.annotations?.[annotation];
  return value === before?.metadata?.annotations?.[annotation] ? undefined : value;
}
