/**
 * Which Pods an agent may write, where its token says so: those of some namespaces, with no other labels than some. Labels decide whose Services an agent
 * can stand behind. The limits travel as the user's extra, which audit records and reviews show. Without them an agent writes Pods of its node anywhere.
 */
import { invalidValue, required, tooMany, type FieldError } from "../../api/meta/field-errors";
import type { KubeObject } from "../../api/meta/kubernetes";
import { validateDNS1123Label, validateLabelValue, validateQualifiedName } from "../../api/meta/names";
import type { User } from "./user";

/** `labels`: `KEY=VALUE`, or `KEY` for any value of it. A list that is absent allows everything. */
export interface AgentLimits {
  readonly agentNamespaces?: readonly string[];
  readonly agentLabels?: readonly string[];
}

const NAMESPACES_EXTRA = "servicenet.dev/agent-namespaces";
const LABELS_EXTRA = "servicenet.dev/agent-labels";
const ENTRIES_MAX = 100;

/** The limits of a token: those that are set, and nothing else of it. */
export function limitsIn({ agentNamespaces, agentLabels }: AgentLimits): AgentLimits {
  return { ...(agentNamespaces ? { agentNamespaces } : {}), ...(agentLabels ? { agentLabels } : {}) };
}

export function extraOfLimits({ agentNamespaces, agentLabels }: AgentLimits): Record<string, readonly string[]> {
  return {
    ...(agentNamespaces ? { [NAMESPACES_EXTRA]: agentNamespaces } : {}),
    ...(agentLabels ? { [LABELS_EXTRA]: agentLabels } : {}),
  };
}

/** What is wrong with limits that are asked for. */
export function agentLimitErrors({ agentNamespaces, agentLabels }: AgentLimits): FieldError[] {
  return [
    ...listErrors("agentNamespaces", agentNamespaces, validateDNS1123Label),
    ...listErrors("agentLabels", agentLabels, (label) => {
      const [key, value] = partsOf(label);
      return [...validateQualifiedName(key), ...(value === undefined ? [] : validateLabelValue(value))];
    }),
  ];
}

function listErrors(field: string, list: readonly string[] | undefined, problemsOf: (text: string) => string[]): FieldError[] {
  if (!list) return [];
  if (list.length === 0) return [required(field, "an agent without any can write no Pod; without the field it has no such limit")];
  if (list.length > ENTRIES_MAX) return [tooMany(field, list.length, ENTRIES_MAX)];
  return list.flatMap((text, i) => problemsOf(text).map((problem) => invalidValue(`${field}[${i}]`, text, problem)));
}

/**
 * Why the agent must not write the Pod: `before` as it is stored, `after` as it would be; undefined = its limits allow it. Both have to be within the
 * limits: otherwise the agent took somebody's Pod away, or over by other labels.
 */
export function podLimitProblem(
  node: string,
  { extra }: User,
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): string | undefined {
  const namespaces = extra[NAMESPACES_EXTRA];
  const namespace = (after ?? before)?.metadata?.namespace ?? "";
  if (namespaces && !namespaces.includes(namespace)) return `the token of node "${node}" is not for pods in the namespace "${namespace}"`;
  const labels = extra[LABELS_EXTRA];
  if (!labels) return undefined;
  const allowed = labels.map(partsOf);
  const other = [before, after]
    .flatMap((pod) => Object.entries(pod?.metadata?.labels ?? {}))
    .find(([key, value]) => !allowed.some(([name, only]) => name === key && (only === undefined || only === value)));
  return other && `the token of node "${node}" is not for pods with the label "${other[0]}=${other[1]}"`;
}

function partsOf(label: string): [key: string, value: string | undefined] {
  const equals = label.indexOf("=");
  return equals < 0 ? [label, undefined] : [label.slice(0, equals), label.slice(equals + 1)];
}
