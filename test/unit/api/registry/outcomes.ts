/** The outcome of a write in the words of a table row. */
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { ResourceDefinition, StrategyContext } from "../../../../src/api/registry/resource";
import { beforeCreate, beforeStatusUpdate, beforeUpdate, type StrategyVerdict } from "../../../../src/api/store/write/strategy-order";
import { deepFreeze } from "./services/a-service";

export const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
export const CONTEXT: StrategyContext = { now: NOW, serviceFamilies: ["IPv4"] };

/** `field: body` of every cause of a refusal, or its message when it has no causes; empty when the write is accepted. */
export function refusals(verdict: StrategyVerdict): string[] {
  if (verdict.ok) return [];
  const causes = verdict.error.details?.causes;
  return causes ? causes.map((cause) => `${cause.field ?? ""}: ${cause.message ?? ""}`) : [verdict.error.message ?? ""];
}

/** The object to store, and the errors that refuse it. */
export function create<T extends KubeObject>(
  definition: ResourceDefinition,
  sent: T,
  namespace = "ns",
  context = CONTEXT,
): { object: T; errors: string[]; warnings: string[] } {
  const object = structuredClone(sent);
  const input = { namespace: definition.namespaced ? namespace : "", now: NOW, uid: "uid", context };
  const verdict = beforeCreate(definition, object, input);
  return { object, errors: refusals(verdict), warnings: verdict.ok ? verdict.value : [] };
}

export function update<T extends KubeObject>(
  definition: ResourceDefinition,
  change: { after: T; before: T },
  context = CONTEXT,
): { object: T; errors: string[]; warnings: string[] } {
  return changed(beforeUpdate, definition, change, context);
}

export function updateStatus<T extends KubeObject>(
  definition: ResourceDefinition,
  change: { after: T; before: T },
): { object: T; errors: string[]; warnings: string[] } {
  return changed(beforeStatusUpdate, definition, change, CONTEXT);
}

function changed<T extends KubeObject>(
  rules: typeof beforeUpdate,
  definition: ResourceDefinition,
  { after, before }: { after: T; before: T },
  context: StrategyContext,
) {
  const object = structuredClone(after);
  const verdict = rules(definition, { after: object, before: deepFreeze(structuredClone(before)) }, context);
  return { object, errors: refusals(verdict), warnings: verdict.ok ? verdict.value : [] };
}
