/** How long changes of endpoints take from their cause to this node (upstream pkg/proxy/endpointschangetracker.go). */
import { ANNOTATION_TRIGGER_TIME } from "../../api/meta/endpoint-keys";
import type { EndpointSlice } from "../../api/meta/kubernetes";
import { parseTime } from "../../api/meta/time";
import { FAMILIES, type Family } from "../../core/net/family";

/** Collects the times that slices say their changes were caused at. Times before the proxy's start do not count. */
export class TriggerTimes {
  #waiting: { family: Family; at: number }[] = [];

  /** @param startedAt ms since the epoch */
  constructor(private readonly startedAt: number) {}

  /** A slice was written. */
  note({ metadata, addressType }: EndpointSlice): void {
    const at = parseTime(metadata?.annotations?.[ANNOTATION_TRIGGER_TIME]);
    const family = FAMILIES.find((one) => one === addressType);
    if (at !== undefined && family && at >= this.startedAt) this.#waiting.push({ family, at });
  }

  /** What was noted since the last call, as ms since the epoch. */
  take(): readonly { readonly family: Family; readonly at: number }[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}
