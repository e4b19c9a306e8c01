/** What a write must not change goes back to what is stored. */
import type { KubeObject } from "../meta/kubernetes";
import type { Change } from "./resource";

/** Sets the top-level members that `kept` names back to the stored ones. */
export function keepMembers(change: Change<KubeObject>, kept: (key: string) => boolean): void {
  const after = change.after as Record<string, unknown>;
  const before = change.before as Record<string, unknown>;
  for (const key of Object.keys(after)) if (kept(key) && !(key in before)) delete after[key];
  for (const key of Object.keys(before)) if (kept(key)) after[key] = before[key];
}
