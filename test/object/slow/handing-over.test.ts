/** The hand-off of a ServiceCIDR's addresses on real Durable Objects, every object dying at each of its steps in turn. */
import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ServiceCIDR as ServiceCIDRObject } from "../../../durable-objects/service-cidr";
import { lostAt } from "../../support/objects/lost-call";
import { eventually, ObjectRanges } from "../../support/objects/object-ranges";

const HELD = 300;

async function aboutToMove() {
  const cluster = new ObjectRanges();
  const source = await cluster.created("old", "10.97.0.0/23");
  const addresses = (await cluster.allocateAny(source, HELD)).sort();
  const target = await cluster.created("new", "10.97.0.0/22");
  return { cluster, source, target, addresses };
}

/**
 * Calls of a deletion with a hand-off: who is to take over is woken (`free`); configurations are the fence, then freeze and opening (in either
 * order), activation, drop, retirement.
 */
const CALLS = [
  ["configure", 1],
  ["free", 1],
  ["partition", 1],
  ["configure", 2],
  ["configure", 3],
  ["copyOut", 1],
  ["receive", 1],
  ["configure", 4],
  ["configure", 5],
  ["configure", 6],
] as const;
const DEATHS = CALLS.flatMap(([method, nth]) => (["before", "after"] as const).map((when) => ({ method, nth, when })));

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a hand-off between real objects", () => {
  it("a whole hand-off: moves every row with its gen, and retires the old owner for ever", async () => {
    const { cluster, source, target, addresses } = await aboutToMove();
    const before = new Map(
      (await cluster.owner(source).rowsSince(0, 1_000)).rows.map(({ address, gen, token }) => [address, { gen, token }]),
    );
    expect(await cluster.remove("old")).toMatchObject({ ok: true });
    await eventually(async () => (await cluster.get("old")) === undefined);
    expect(await cluster.held(target)).toEqual(addresses);
    const { rows } = await cluster.owner(target).rowsSince(0, 1_000);
    for (const { address, gen, token } of rows) expect({ gen, token }).toEqual(before.get(address));
    await eventually(async () => (await cluster.held(source)).length === 0);
    expect(await cluster.owner(source).release([{ address: addresses[0] ?? "", token: "any" }])).toEqual(["stale"]);
    const { claims } = await cluster.coordinator.topology();
    expect(claims).toContainEqual({ prefix: "10.97.0.0/22", ownerUid: target });
    await abortAllDurableObjects();
    expect(await cluster.held(target)).toEqual(addresses);
    const fresh = (await cluster.allocateAny(target, 600)).filter((address) => address.startsWith("10."));
    expect(new Set([...addresses, ...fresh]).size, "none is given out again").toBe(addresses.length + fresh.length);
  });

  it.each(DEATHS)("all objects die $when call $nth of $method: the hand-off ends all the same", async ({ method, nth, when }) => {
    const { cluster, source, target, addresses } = await aboutToMove();
    const lost = lostAt(ServiceCIDRObject.prototype, method, { nth, when });
    expect(await cluster.remove("old")).toMatchObject({ ok: true });
    await eventually(() => Promise.resolve(lost.happened));
    await abortAllDurableObjects();
    await runDurableObjectAlarm(cluster.stub);
    await eventually(async () => (await cluster.get("old")) === undefined && (await cluster.held(source)).length === 0);
    expect(await cluster.held(target)).toEqual(addresses);
    expect((await cluster.state()).handoffs).toEqual([]);
  });
});
