import { describe, expect } from "vitest";
import type { AllocateItem } from "../../../../src/addresses/rpc/service-cidr";
import { OwnerWorld, aConfig } from "../../../support/worlds/owner-world";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

/**
 * Random histories of one owner against a simple model: a map address -> token. Segments are small, so addresses are reused all the time. Answers
 * are lost, calls come late and twice, the owner restarts, and transactions are lost. The rows tell what a lost call did: nothing, or exactly what
 * it asked, never a change to another holder's address.
 */
const SEGMENTS = ["10.0.0.0/28", "10.0.0.16/29", "fd00::/124"];
const SEEDS = [1, 2, 3, 5, 8, 13, 21, 34];
const STEPS = 400;

interface Row {
  token: string;
  counter: number;
}

describe("random history", () => {
  itOfSeeds("seed %i: one holder per address, idempotent tokens, growing gens", { fixed: SEEDS, further: 3 }, async (seed) => {
    const world = new OwnerWorld(seed);
    const random = seededRandom(seed * 7919);
    const chance = (percent: number): boolean => random.below(100) < percent;
    const weights = { release: random.below(60), crash: random.below(20), restart: random.below(10), configure: random.below(10) };
    await world.owner.configure(aConfig(1, SEGMENTS));

    let model = new Map<string, Row>();
    let epoch = 1;
    let newestCounter = 0;
    const tokens: { token: string; item: AllocateItem }[] = [];
    /** confirmed releases, and all that were tried: a lost one may have been kept */
    const released = new Set<string>();
    const tried = new Set<string>();

    const pastToken = () => tokens[random.below(Math.max(1, tokens.length))];
    const randomAddress = (): string => (chance(50) ? `10.0.0.${random.below(30)}` : `fd00::${random.below(20).toString(16)}`);
    const canonical = (address: string): string => (address === "fd00::0" ? "fd00::" : address);

    const nextItem = (): AllocateItem => {
      const repeated = chance(25) ? pastToken() : undefined;
      if (repeated !== undefined) return repeated.item;
      const address = chance(40) ? canonical(randomAddress()) : "";
      const item = world.item(address, address === "" ? { family: chance(50) ? "IPv4" : "IPv6" } : {});
      tokens.push({ token: item.token, item });
      return item;
    };

    /** Reads the rows and checks every difference from the model; then the rows become the model. */
    const learn = async (touched: ReadonlySet<string>): Promise<void> => {
      const { rows } = await world.owner.rowsSince(0, 10_000);
      const now = new Map(rows.map(({ address, token, gen }) => [address, { token, counter: gen.counter }]));
      expect(now.size).toBe(rows.length);
      expect(new Set(rows.map(({ token }) => token)).size).toBe(rows.length);
      for (const [address, row] of model) {
        if (now.get(address)?.token !== row.token) expect(touched, `${address} changed hands untouched`).toContain(row.token);
      }
      for (const [address, row] of now) {
        if (model.get(address)?.token === row.token) continue;
        expect(touched).toContain(row.token);
        expect(released, `${row.token} came back after its release`).not.toContain(row.token);
        expect(row.counter).toBeGreaterThan(newestCounter);
      }
      newestCounter = Math.max(newestCounter, ...rows.map(({ gen }) => gen.counter));
      model = now;
    };

    for (let step = 0; step < STEPS; step++) {
      if (chance(weights.restart)) world.restart();
      if (chance(weights.configure)) await world.owner.configure(aConfig(++epoch, SEGMENTS, { ranges: SEGMENTS.filter(() => chance(80)) }));
      if (chance(weights.crash)) world.storage.crashNext = chance(50) ? "beforeCommit" : "afterCommit";

      const items = Array.from({ length: random.below(4) }, nextItem);
      const releases = [...model]
        .filter(() => chance(weights.release))
        .slice(0, 3)
        .map(([address, { token }]) => ({ address, token: chance(80) ? token : (pastToken()?.token ?? token) }));
      const before = model;
      for (const { token } of releases) tried.add(token);
      const [releaseCall, allocateCall] = await Promise.allSettled([world.owner.release(releases), world.owner.allocate(items)]);
      world.storage.crashNext = undefined;
      await learn(new Set([...items.map(({ token }) => token), ...releases.map(({ token }) => token)]));

      expect(allocateCall.status).toBe(releaseCall.status);
      if (allocateCall.status === "rejected" || releaseCall.status === "rejected") continue;
      for (const { token } of releases) released.add(token);
      for (const { address, token } of releases) expect(model.get(address)?.token).not.toBe(token);
      allocateCall.value.results.forEach((result, index) => {
        const item = items[index];
        if (item === undefined) throw new Error("one result per item");
        if (result.ok) {
          expect(model.get(result.address)).toEqual({ token: item.token, counter: result.gen.counter });
          if (item.address !== "") expect(result.address).toBe(item.address);
          return;
        }
        if (result.reason === "released") expect(tried).toContain(item.token);
        if (result.reason === "taken") expect(model.has(item.address) || before.has(item.address)).toBe(true);
      });
      const { free } = allocateCall.value;
      expect(free).toEqual((await world.owner.free()).free);
    }

    // At rest the bitmap has exactly the addresses free that no row holds.
    await world.owner.configure(aConfig(epoch + 1, SEGMENTS));
    const { free } = await world.owner.free();
    const usable = (address: string): boolean => !["10.0.0.0", "10.0.0.15", "10.0.0.16", "10.0.0.23", "fd00::"].includes(address);
    const heldIn = (family: string): number => [...model.keys()].filter((a) => a.includes(":") === (family === "IPv6") && usable(a)).length;
    expect(free.IPv4.dynamic + free.IPv4.static).toBe(14 + 6 - heldIn("IPv4"));
    expect(free.IPv6.dynamic + free.IPv6.static).toBe(15 - heldIn("IPv6"));
    expect(world.logged.filter(({ level }) => level === "warn")).toEqual([]);
  });
});
