/**
 * When the change happened that leads to a write: what consumers measure their delay from (upstream util/trigger_time_tracker.go).
 *
 *   first look at the Service   when it was created
 *   later                       the earliest time among those of what changed since the last look; undefined = nothing that has a time changed
 *
 * A Pod's time is that of its condition Ready, the Service's that of its creation. So a deleted Pod and a changed spec have no time.
 */
import type { Service } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";
import type { PodFacts } from "./pod-facts";

/** What the last look at a Service saw; times in milliseconds since the epoch. */
export interface SeenTimes {
  readonly service: number;
  /** by name; Pods without the condition Ready are left out */
  readonly pods: ReadonlyMap<string, number>;
}

/** @param before undefined = nobody has looked yet. `seen` is for the next look, which comes whether or not anything is written now. */
export function triggerTime(
  before: SeenTimes | undefined,
  service: Service,
  pods: readonly PodFacts[],
): { time: number | undefined; seen: SeenTimes } {
  const created = parseTime(service.metadata?.creationTimestamp) ?? 0;
  const times = new Map<string, number>();
  let earliest = created > (before?.service ?? 0) ? created : Infinity;
  for (const { name, readyAt } of pods) {
    if (readyAt === 0) continue;
    times.set(name, readyAt);
    if (readyAt > (before?.pods.get(name) ?? 0)) earliest = Math.min(earliest, readyAt);
  }
  const time = before ? earliest : created || Infinity;
  return { time: time === Infinity ? undefined : time, seen: { service: created, pods: times } };
}
