/** A cluster as the input of the checkers (test/support/checks/checkers.ts), read through the API. */
import { setTimeout as sleep } from "node:timers/promises";
import { checkState } from "../checks/checkers";
import type { CheckReport } from "../../../src/tools/check/check-cluster";
import type { ObservedCluster, ObservedIPAddress, ObservedService, ObservedServiceCIDR } from "../../../src/tools/check/observed";
import { getJson } from "./server";

export async function observe(url: string): Promise<ObservedCluster> {
  const [services, ipAddresses, serviceCIDRs] = await Promise.all([
    getJson<{ items: ObservedService[] }>(`${url}/api/v1/services`),
    getJson<{ items: ObservedIPAddress[] }>(`${url}/apis/networking.k8s.io/v1/ipaddresses`),
    getJson<{ items: ObservedServiceCIDR[] }>(`${url}/apis/networking.k8s.io/v1/servicecidrs`),
  ]);
  return { services: services.items, ipAddresses: ipAddresses.items, serviceCIDRs: serviceCIDRs.items };
}

/** The violations that stay after `waitMs` of repair; [] as soon as there are none. */
export async function violationsAfterRepair(url: string, acknowledged: readonly ObservedService[], waitMs: number): Promise<string[]> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const violations = checkState(await observe(url), acknowledged);
    if (violations.length === 0 || Date.now() > deadline) return violations;
    await sleep(500);
  }
}

/** The findings of the server's own check, with rows and bitmaps of owners, after `waitMs` of repair; [] as soon as there are none. */
export async function wrongAfterRepair(url: string, waitMs: number): Promise<string[]> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const { wrong, unchecked } = await getJson<CheckReport>(`${url}/check`);
    const problems = [...wrong.map(({ message }) => message), ...unchecked];
    if (problems.length === 0 || Date.now() > deadline) return problems;
    await sleep(500);
  }
}

/** How many watches a store has open, by the server's own count. */
export async function openWatches(url: string, store: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = new RegExp(`^servicenet_store_watchers\\{store="${store}"(?:,cluster="[^"]*")?\\} (\\d+)$`, "m").exec(text);
  // A store that nobody wrote to or watches has no series.
  if (!line && !text.includes('servicenet_store_watchers{store="services"')) throw new Error(`no servicenet_store_watchers in ${text}`);
  return Number(line?.[1] ?? 0);
}
