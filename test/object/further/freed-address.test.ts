/** An address whose release was acknowledged can be had again, whatever its owner has been through. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { ServiceCIDR } from "../../../durable-objects/service-cidr";
import type { WriteResult } from "../../../src/api/rpc/store";
import { OPERATION_DEADLINE_MS } from "../../../src/core/base/limits";
import { intercept } from "../../support/objects/intercept";
import { addressOf, messageOf, ObjectCluster } from "../../support/objects/object-cluster";
import { eventually } from "../../support/objects/object-ranges";
import { PATIENCE } from "../../support/objects/patience";
import { createAddress, deleteRange } from "../../support/objects/range-requests";

const RANGE = "10.97.0.0/29";
const ADDRESSES = [1, 2, 3, 4, 5, 6].map((i) => `10.97.0.${i}`);

/** A cluster whose one range gives out six addresses, each of them held by the Service `web-<last octet>`. */
async function fullCluster(): Promise<{ cluster: ObjectCluster; owner: string }> {
  const cluster = await new ObjectCluster().ready();
  await cluster.onlyRange(RANGE);
  await Promise.all(ADDRESSES.map((clusterIP) => cluster.create(`web-${clusterIP.slice(-1)}`, { clusterIP })));
  const owner = (await cluster.ranges.get("only"))?.metadata?.uid ?? "";
  expect(await cluster.ranges.held(owner)).toEqual(ADDRESSES);
  return { cluster, owner };
}

/** The range's segments move to another ServiceCIDR, and the services store has not heard of the move. */
async function moveSegments(cluster: ObjectCluster, owner: string): Promise<void> {
  const heir = await cluster.ranges.created("heir", RANGE);
  await cluster.ranges.remove("only");
  await eventually(async () => (await cluster.ranges.held(heir)).length === 6 && (await cluster.ranges.held(owner)).length === 0);
  await eventually(async () => (await cluster.ranges.get("only")) === undefined);
}

const FREED = "10.97.0.3";
/** An object that holds the address, and how it is deleted: a Service, or an IPAddress that a client made. */
const HOLDERS = [
  { holder: "a Service", free: (cluster: ObjectCluster) => cluster.remove("web-3") },
  { holder: "an IPAddress", free: (cluster: ObjectCluster) => cluster.ipAddresses.write(deleteRange(FREED)) },
];
const CREATES = [
  { request: "a dynamic create of a Service", create: (cluster: ObjectCluster) => cluster.create("next") },
  { request: "a static create of a Service", create: (cluster: ObjectCluster) => cluster.create("next", { clusterIP: FREED }) },
  { request: "a create of an IPAddress", create: (cluster: ObjectCluster) => cluster.ipAddresses.write(createAddress(FREED)) },
];
const CASES = HOLDERS.flatMap((holder) => CREATES.map((create) => ({ ...holder, ...create })));

/** A full range, its address FREED given back by the holder; the owner takes no release of it before `comeBack`. */
async function pendingRelease({ holder, free }: (typeof HOLDERS)[number]): Promise<{ cluster: ObjectCluster; comeBack(): void }> {
  const { cluster } = await fullCluster();
  if (holder === "an IPAddress") {
    expect(messageOf(await cluster.remove("web-3"))).toBe("");
    expect(messageOf(await cluster.ipAddresses.write(createAddress(FREED)))).toBe("");
  }
  let isDown = true;
  intercept(ServiceCIDR.prototype, "release", (call) => (isDown ? Promise.reject(new Error("out of memory")) : call()));
  expect(messageOf(await free(cluster))).toBe("");
  return { cluster, comeBack: () => (isDown = false) };
}

/** Resolves when the owner has been asked for an address, or for what it has free, a few times more. */
async function askedAgain(): Promise<void> {
  let asked = 0;
  for (const method of ["allocate", "free"]) intercept(ServiceCIDR.prototype, method, (call) => (asked++, call()));
  await vi.waitFor(() => expect(asked).toBeGreaterThan(8), { ...PATIENCE, interval: 5 });
}

function nameOf(result: WriteResult): string {
  if (!result.ok) throw new Error(messageOf(result));
  const { metadata, spec } = JSON.parse(result.object) as { metadata: { name: string }; spec: { clusterIP?: string } };
  return spec.clusterIP ?? metadata.name;
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("hazard 17: an address that its owner cannot free yet", () => {
  it.each(CASES)("given back by $holder, $request: waits for the release and gets the address", async ({ create, ...holder }) => {
    const { cluster, comeBack } = await pendingRelease(holder);
    const [created] = [create(cluster), await askedAgain()];
    comeBack();
    expect(nameOf(await created)).toBe(FREED);
    await cluster.check();
  });

  it.each(CASES)("given back by $holder, $request until its deadline: 503 with Retry-After", async ({ create, ...holder }) => {
    const { cluster, comeBack } = await pendingRelease(holder);
    const [created] = [create(cluster), await askedAgain()];
    vi.setSystemTime(Date.now() + OPERATION_DEADLINE_MS);
    expect(await created).toMatchObject({ ok: false, status: { code: 503, details: { retryAfterSeconds: 1 } } });
    comeBack();
    expect(messageOf(await cluster.create("later", { clusterIP: FREED }))).toBe("");
    await cluster.check();
  });
});

describe("a Service deleted after its segment moved", () => {
  it.each([
    { request: "a dynamic create", spec: {} },
    { request: "a static create", spec: { clusterIP: "10.97.0.3" } },
  ])("$request at once: gets the address", async ({ spec }) => {
    const { cluster, owner } = await fullCluster();
    await moveSegments(cluster, owner);
    expect(messageOf(await cluster.remove("web-3"))).toBe("");
    const created = await cluster.create("next", spec);
    expect(messageOf(created)).toBe("");
    expect(addressOf(created)).toBe("10.97.0.3");
    await cluster.check();
  });
});
