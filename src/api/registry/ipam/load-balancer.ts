/**
 * The annotations that say for which Services of type LoadBalancer a pool is: MetalLB's `serviceAllocation` and `autoAssign` (api/v1beta1), as texts.
 * A pool without LOAD_BALANCER serves no Service. Lists are separated by commas, selectors by semicolons, since they have commas themselves.
 */
import { notSupported, type FieldError, invalidValue } from "../../meta/field-errors";
import type { KubeObject } from "../../meta/kubernetes";
import { validateDNS1123Label } from "../../meta/names";
import { parseLabelSelector } from "../../meta/selector";
import { OWN_DOMAIN, type ServedServices } from "../../meta/own-annotation";

/** `true`: the pool serves Services. */
export const LOAD_BALANCER = `${OWN_DOMAIN}/load-balancer`;
/** A number; the lower one comes first. 0 is as none, which comes last. */
const PRIORITY = `${OWN_DOMAIN}/priority`;
const NAMESPACES = `${OWN_DOMAIN}/namespaces`;
const NAMESPACE_SELECTORS = `${OWN_DOMAIN}/namespace-selectors`;
const SERVICE_SELECTORS = `${OWN_DOMAIN}/service-selectors`;
/** `false`: the pool serves only Services that name it, or an address of it. */
const AUTO_ASSIGN = `${OWN_DOMAIN}/auto-assign`;

/** What a change of a pool means for Services stands in these. */
export const BALANCER_ANNOTATIONS: readonly string[] = [
  LOAD_BALANCER,
  PRIORITY,
  NAMESPACES,
  NAMESPACE_SELECTORS,
  SERVICE_SELECTORS,
  AUTO_ASSIGN,
];

const TRUTHS = ["true", "false"];
const PRIORITY_MAX = 2 ** 31 - 1;
/** Of each list: what the book keeps of a pool is one row. */
const ENTRIES_MAX = 256;

type Annotated = Pick<KubeObject, "metadata">;

/** undefined = the pool serves no Services. Parts that an earlier release has let pass, and that are wrong, match nothing. */
export function servedServices({ metadata }: Annotated): ServedServices | undefined {
  const annotations = metadata?.annotations;
  if (annotations?.[LOAD_BALANCER] !== "true") return undefined;
  const priority = Number(annotations[PRIORITY] ?? 0);
  const namespaces = partsOf(annotations[NAMESPACES], ",");
  const namespaceSelectors = partsOf(annotations[NAMESPACE_SELECTORS], ";");
  const serviceSelectors = partsOf(annotations[SERVICE_SELECTORS], ";");
  const isChosen = annotations[PRIORITY] !== undefined || Boolean(namespaces ?? namespaceSelectors ?? serviceSelectors);
  return {
    priority: Number.isSafeInteger(priority) ? priority : 0,
    ...(namespaces && { namespaces }),
    ...(namespaceSelectors && { namespaceSelectors }),
    ...(serviceSelectors && { serviceSelectors }),
    ...(isChosen && { isChosen }),
    ...(annotations[AUTO_ASSIGN] === "false" && { onRequest: true }),
  };
}

/** The errors of annotations that the write changes. What was stored with the same values is not judged again. */
export function balancerErrors(after: Annotated, before: Annotated | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const annotation of BALANCER_ANNOTATIONS) {
    const value = after.metadata?.annotations?.[annotation];
    if (value === undefined || value === before?.metadata?.annotations?.[annotation]) continue;
    errors.push(...errorsOf(annotation, value));
  }
  return errors;
}

function errorsOf(annotation: string, value: string): FieldError[] {
  const field = `metadata.annotations[${annotation}]`;
  switch (annotation) {
    case LOAD_BALANCER:
    case AUTO_ASSIGN:
      return TRUTHS.includes(value) ? [] : [notSupported(field, value, TRUTHS)];
    case PRIORITY:
      return /^(0|[1-9][0-9]{0,9})$/.test(value) && Number(value) <= PRIORITY_MAX
        ? []
        : [invalidValue(field, value, `must be a number from 0 to ${PRIORITY_MAX}`)];
    case NAMESPACES:
      return listErrors(field, value, ",", (name) => validateDNS1123Label(name)[0]);
    default:
      return listErrors(field, value, ";", selectorProblem);
  }
}

/** A list that is there and empty would mean everybody to some, and nobody to others. */
function listErrors(field: string, value: string, separator: string, problemOf: (part: string) => string | undefined): FieldError[] {
  const parts = partsOf(value, separator) ?? [];
  if (parts.length > ENTRIES_MAX) return [invalidValue(field, value, `must have at most ${ENTRIES_MAX} entries`)];
  return parts.flatMap((part) => {
    const problem = part === "" ? "has an empty entry" : problemOf(part);
    return problem === undefined ? [] : [invalidValue(field, value, problem)];
  });
}

function selectorProblem(text: string): string | undefined {
  const parsed = parseLabelSelector(text);
  if (!parsed.ok) return parsed.error;
  return parsed.value.empty ? "has an empty entry" : undefined;
}

function partsOf(value: string | undefined, separator: string): string[] | undefined {
  return value?.split(separator).map((part) => part.trim());
}
