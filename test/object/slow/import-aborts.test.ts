/** Objects die at each await of what imports a RangeAllocation: of the comparison, and of the repair that it asks for. */
import { env } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { writeRangeAllocation } from "../../../src/tools/import/range-allocation";
import { rangeAllocationsResponse } from "../../../src/worker/system/range-allocations";
import { type ObjectCluster, plant } from "../../support/objects/object-cluster";
import { askForSweep, noteAnswered, repaired, rowHolders } from "../../support/objects/repair-paths";
import { aService, anIPAddress } from "../../support/worlds/repair-world";
import { describeDeaths } from "../../support/objects/write-path";

const bindings = { ...(env as unknown as Env), FEATURE_GATES: "DisableAllocatorDualWrite=false" };
const RANGE = "10.96.0.0/16";
const STORED = "10.96.0.10";
const GATEWAY = "10.96.0.12";
/** Of the default Service, of both objects, and of nobody. */
const BITS = [1, 10, 12, 13].map((last) => last - 1);

/** A Service and an IPAddress of a client whose addresses have no rows. */
async function given(cluster: ObjectCluster): Promise<void> {
  await repaired(cluster);
  const now = Date.now();
  const parentRef = { group: "gateway.networking.k8s.io", resource: "gateways" };
  await plant(cluster.servicesObject, aService("stored", [STORED], now));
  await plant(cluster.ipAddressesObject, anIPAddress(GATEWAY, "default/gateway", now, { labels: {}, parentRef }));
}

async function put(cluster: ObjectCluster): Promise<{ ok: boolean }> {
  const url = `http://server/clusters/${cluster.name}/admin/rangeallocations/serviceips`;
  const body = JSON.stringify({ kind: "RangeAllocation", ...writeRangeAllocation(RANGE, BITS) });
  const init = { method: "PUT", body, headers: { "Content-Type": "application/json" } };
  const response = await rangeAllocationsResponse(bindings, cluster.name, new Request(url, init), "serviceips");
  return noteAnswered(cluster, { ok: response.ok });
}

/** Both have their rows, the Service has its IPAddress, and the bit of nobody has taken nothing. */
async function isTaken(cluster: ObjectCluster): Promise<boolean> {
  const { ipAddresses } = await cluster.stored();
  const names = ipAddresses.map(({ metadata }) => metadata?.name);
  return names.includes(STORED) && String(await rowHolders(cluster)) === `${GATEWAY},kubernetes,stored`;
}

describeDeaths([
  {
    name: "import a RangeAllocation that counts addresses without a row",
    controller: "repair",
    given,
    ask: put,
    done: isTaken,
    nudge: askForSweep,
    awaits: [
      ...["Coordinator.topology", "IPAddressesStore.objectsNamed", "ServicesStore.objectsAfter"],
      ...["ServicesStore.makeWhole", "IPAddressesStore.makeHeld", "ServiceCIDR.allocate"],
    ],
  },
]);
