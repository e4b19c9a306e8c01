import { env } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { writeRangeAllocation } from "../../../src/tools/import/range-allocation";
import type { Status } from "../../../src/api/meta/status";
import { rangeAllocationsResponse } from "../../../src/worker/system/range-allocations";
import { ObjectCluster, plant } from "../../support/objects/object-cluster";
import { aService, anIPAddress } from "../../support/worlds/repair-world";
import { PATIENCE } from "../../support/objects/patience";

const bindings = { ...(env as unknown as Env), FEATURE_GATES: "DisableAllocatorDualWrite=false" };

it("bits of objects that lack their rows: taken for them; a dry run and a bit without an object: take nothing", async () => {
  const cluster = await new ObjectCluster().ready();
  const now = Date.now();
  await plant(cluster.servicesObject, aService("stored", ["10.96.0.10"], now), aService("paired", ["10.96.0.11"], now));
  const gateway = { group: "gateway.networking.k8s.io", resource: "gateways" };
  await plant(
    cluster.ipAddressesObject,
    anIPAddress("10.96.0.11", "default/paired", now),
    anIPAddress("10.96.0.12", "default/gateway", now, { labels: {}, parentRef: gateway }),
  );
  const bits = [1, 10, 11, 12, 13].map((last) => last - 1);
  const put = async (query: string): Promise<{ message: string | undefined; told: string[] }> => {
    const url = `http://server/clusters/${cluster.name}/admin/rangeallocations/serviceips${query}`;
    const body = JSON.stringify({ kind: "RangeAllocation", ...writeRangeAllocation("10.96.0.0/16", bits) });
    const response = await rangeAllocationsResponse(
      bindings,
      cluster.name,
      new Request(url, { method: "PUT", body, headers: { "Content-Type": "application/json" } }),
      "serviceips",
    );
    const { message, details } = await response.json<Status>();
    return { message, told: (details?.causes ?? []).map((cause) => `${cause.reason ?? ""} ${cause.field ?? ""} ${cause.message ?? ""}`) };
  };
  const told = [
    "Repairing 10.96.0.10 taken there, and Service default/stored has no row of it here",
    "Repairing 10.96.0.11 taken there, and Service default/paired has no row of it here",
    "Repairing 10.96.0.12 taken there, and IPAddress 10.96.0.12 has no row of it here",
    "Unexplained 10.96.0.13 bit set there, and no object has the address here",
  ];
  const dry = await put("?dryRun=All");
  expect(dry.message).toBe("compared, nothing was changed: 1 held, 3 repairing, 1 unexplained, 0 missing");
  expect(dry.told.sort()).toEqual(told);
  expect((await cluster.owner()).held).toEqual(["10.96.0.1"]);
  const done = await put("");
  expect(done.message).toBe("imported: 1 held, 3 repairing, 1 unexplained, 0 missing");
  expect(done.told.sort()).toEqual(told);
  await vi.waitFor(async () => {
    expect((await cluster.owner()).held).toEqual(["10.96.0.1", "10.96.0.10", "10.96.0.11", "10.96.0.12"]);
  }, PATIENCE);
  expect(await put("")).toEqual({ message: "imported: 4 held, 0 repairing, 1 unexplained, 0 missing", told: [told[3]] });
  const { ipAddresses } = await cluster.stored();
  expect(ipAddresses.map(({ metadata }) => metadata?.name)).toEqual(["10.96.0.1", "10.96.0.10", "10.96.0.11", "10.96.0.12"]);
});
