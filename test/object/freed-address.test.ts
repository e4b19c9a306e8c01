/** An address whose release was acknowledged can be had again, whatever its owner has been through. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { ServiceCIDR } from "../../durable-objects/service-cidr";
import { intercept } from "../support/objects/intercept";
import { addressOf, messageOf, ObjectCluster } from "../support/objects/object-cluster";
import { eventually } from "../support/objects/object-ranges";

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

afterEach(() => {
  vi.restoreAllMocks();
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

describe("a release that its owner has refused", () => {
  it.each([
    { request: "a dynamic create", spec: {} },
    { request: "a static create", spec: { clusterIP: "10.97.0.3" } },
  ])("$request: waits for the release and gets the address", async ({ spec }) => {
    const { cluster } = await fullCluster();
    let refusals = 0;
    intercept(ServiceCIDR.prototype, "release", (call) => (++refusals <= 4 ? Promise.reject(new Error("out of memory")) : call()));
    expect(messageOf(await cluster.remove("web-3"))).toBe("");
    const created = await cluster.create("next", spec);
    expect(messageOf(created)).toBe("");
    expect(addressOf(created)).toBe("10.97.0.3");
    expect(refusals).toBe(5);
    await cluster.check();
  });
});
