import { describe, expect } from "vitest";
import { Pool } from "../../../../src/addresses/alloc/pool";
import { formatPrefix, type Prefix, prefixAround } from "../../../../src/core/net/prefix";
import { normalizePrefixes } from "../../../../src/core/net/prefix-set";
import { NaivePool } from "../../../model/naive-pool";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { itOfSeeds } from "../../../support/sim/platform/seeds";

const BASE = 0x0a000000n;
const SIZE = 512;

describe("pool with random owned segments and ranges in a /23", () => {
  itOfSeeds("seed %i: the answers of the naive model", { fixed: [4901, 4902], further: 2 }, (seed) => {
    const random = seededRandom(seed);
    const weights = { allocate: 1 + random.below(8), take: 1 + random.below(4), release: random.below(2) * random.below(8), configure: 1 };
    const total = weights.allocate + weights.take + weights.release + weights.configure;
    const pool = new Pool(random);
    const model = new NaivePool();
    let shape = "";

    const prefixes = (count: number, shortest: number): Prefix[] =>
      Array.from({ length: count }, () => prefixAround("IPv4", BASE + BigInt(random.below(SIZE)), shortest + random.below(33 - shortest)));
    const configure = () => {
      const owned = normalizePrefixes(prefixes(1 + random.below(4), 23));
      const ranges = prefixes(random.below(6), 21);
      shape = `seed ${seed}: owned ${owned.map(formatPrefix).join(" ")}, ranges ${ranges.map(formatPrefix).join(" ")}`;
      pool.configure(owned, ranges);
      model.configure(owned, ranges);
    };
    configure();

    for (let event = 0; event < 400; event++) {
      const draw = random.below(total);
      const address = BASE + BigInt(random.below(SIZE));
      if (draw < weights.allocate) {
        const before = model.free();
        const pick = pool.allocateDynamic("IPv4");
        const want = before.dynamic > 0 ? "dynamic" : before.static > 0 ? "static" : undefined;
        expect(pick?.band, shape).toBe(want);
        if (pick !== undefined) {
          expect(model.isAllocatable(pick.address), shape).toBe(true);
          expect(model.bandOf(pick.address), shape).toBe(pick.band);
          expect(model.take(pick.address), shape).toBe(true);
        }
      } else if (draw < weights.allocate + weights.take) {
        if (model.isOwned(address)) expect(pool.take("IPv4", address), shape).toBe(model.take(address));
      } else if (draw < total - weights.configure) {
        const taken = model.taken();
        const chosen = taken[random.below(Math.max(1, taken.length))] ?? address;
        if (model.isOwned(chosen)) expect(pool.release("IPv4", chosen), shape).toBe(model.release(chosen));
      } else if (random.below(8) === 0) configure();

      expect(pool.free("IPv4"), shape).toEqual(model.free());
      expect(pool.isOwned("IPv4", address), shape).toBe(model.isOwned(address));
      expect(pool.isTaken("IPv4", address), shape).toBe(model.isTaken(address));
      expect(pool.isAllocatable("IPv4", address), shape).toBe(model.isAllocatable(address));
      expect(pool.bandOf("IPv4", address), shape).toBe(model.bandOf(address));
      const last = address + BigInt(random.below(SIZE));
      expect(pool.takenIn("IPv4", address, last), shape).toBe(model.takenIn(address, last));
      if (event % 50 === 0) {
        pool.verify();
        expect(
          [...pool.taken("IPv4")].map((each) => each.address),
          shape,
        ).toEqual(model.taken());
      }
    }
  });
});
