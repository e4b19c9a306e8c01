/** "range is full" is the word of every owner that could give an address: here of many real ones, awake and asleep. */
import { abortAllDurableObjects } from "cloudflare:test";
import { expect, it } from "vitest";
import { OPERATION_DEADLINE_MS } from "../../../src/core/base/limits";
import type { Service } from "../../../src/api/meta/kubernetes";
import { isRelease } from "../../support/objects/is-release";
import { ObjectCluster } from "../../support/objects/object-cluster";
import { eventually } from "../../support/objects/object-ranges";
import { createAddress, deleteRange } from "../../support/objects/range-requests";

const RANGES = isRelease ? 200 : 40;
const NETS = Array.from({ length: RANGES }, (_, i) => ({ above: `10.100.${i >> 6}`, base: (i & 63) * 4 }));
/** All that the ranges give out, two addresses each; clients have them. */
const ADDRESSES = NETS.flatMap(({ above, base }) => [1, 2].map((host) => `${above}.${base + host}`));

it(
  `${RANGES} full ranges, also when all objects have to wake: refuse, and give the one address that comes free`,
  { timeout: 120_000 },
  async () => {
    const cluster = await new ObjectCluster().ready();
    await Promise.all(ADDRESSES.map((address) => cluster.ipAddresses.write(createAddress(address))));
    await Promise.all(NETS.map(({ above, base }) => cluster.ranges.create(`net-${above}.${base}`, `${above}.${base}/30`)));
    await eventually(async () => (await cluster.ranges.coordinator.topology()).ranges.length === RANGES + 1);
    await cluster.ranges.shut("kubernetes");

    for (const name of ["awake", "asleep"]) {
      if (name === "asleep") await abortAllDurableObjects();
      const begun = Date.now();
      const refused = await cluster.create(name);
      expect(refused).toMatchObject({ ok: false, status: { code: 500 } });
      expect(refused.ok ? "" : refused.status.message).toMatch(/range is full$/);
      expect(Date.now() - begun, "ms").toBeLessThan(OPERATION_DEADLINE_MS);
    }

    const free = ADDRESSES[RANGES] ?? "";
    expect(await cluster.ipAddresses.write(deleteRange(free))).toMatchObject({ ok: true });
    await eventually(async () => (await cluster.create("last")).ok);
    const stored = await cluster.services.get({ namespace: "default", name: "last" }, "");
    expect((JSON.parse(stored.ok ? stored.object : "{}") as Service).spec?.clusterIP).toBe(free);
    expect(await cluster.create("one-more")).toMatchObject({ ok: false });
  },
);
