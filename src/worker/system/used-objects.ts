/** Which stores and controllers of a cluster were ever used: who only looks makes no others. */
import type { Env } from "../../../durable-objects/platform/env";
import { repairStub } from "../../../durable-objects/peers/peers";
import { CONTROLLERS_PREFIX } from "../../tenancy/visit-list";
import { READY_TIMEOUT_MS } from "../http/limits";
import { call } from "../routing/call";

export interface UsedObjects {
  /** by its qualified resource */
  hasStore(name: string): boolean;
  hasController(name: string): boolean;
}

/** The controller that keeps the list, in which it does not stand itself. Each cluster uses it. */
const KNOWS = "repair";

/** Asks by one call. In doubt, under an older release, and without an answer everything may be used. */
export async function usedObjects(env: Env, cluster: string): Promise<UsedObjects> {
  const answer = await call(() => repairStub(env, cluster).entered(), {
    what: "repair.entered",
    repeatable: true,
    timeoutMs: READY_TIMEOUT_MS,
  });
  const names = answer.ok ? answer.value : null;
  const isUsed = (name: string): boolean => names === null || names.includes(name);
  return { hasStore: isUsed, hasController: (name) => name === KNOWS || isUsed(CONTROLLERS_PREFIX + name) };
}
