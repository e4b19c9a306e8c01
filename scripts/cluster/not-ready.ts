/** Waiting until ServiceCIDRs give out addresses. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceCIDR } from "../../src/api/meta/kubernetes";
import { rangeSourceOf } from "../../src/addresses/ranges/service-ranges";
import type { Progress } from "../terminal/progress";
import { type Api, collectionPath } from "./api";

export const READY_WAIT_MS = 60_000;
const POLL_MS = 200;

/** Waits until the named ServiceCIDRs are Ready; answers those that are not Ready after READY_WAIT_MS. */
export async function notReady(api: Api, names: readonly string[], progress: Progress): Promise<string[]> {
  const wanted = new Set(names);
  const deadline = Date.now() + READY_WAIT_MS;
  while (wanted.size > 0) {
    for (const object of await api.list<ServiceCIDR>(collectionPath("ServiceCIDR")))
      if (rangeSourceOf(object).ready) wanted.delete(object.metadata?.name ?? "");
    progress.show("ranges ready", names.length - wanted.size, names.length);
    if (wanted.size === 0 || Date.now() > deadline) break;
    await sleep(POLL_MS);
  }
  return [...wanted];
}
