import { describe, expect, it } from "vitest";
import { FreeHints } from "../../../src/coordinator/free-hints";
import type { CoordinatorPeers } from "../../../src/coordinator/ports";
import { SimScheduler } from "../../support/sim-scheduler";

const FREE = { dynamic: 1, static: 1 };

describe("FreeHints.oldest", () => {
  it("names owners that were never asked, then those asked longest ago, and none whose counts are fresh", async () => {
    const scheduler = new SimScheduler();
    const asked: string[] = [];
    const peers = {
      owner: (uid: string) => ({
        free: () => {
          asked.push(uid);
          return Promise.resolve({ epoch: 1, free: { IPv4: FREE, IPv6: FREE } });
        },
      }),
    } as unknown as CoordinatorPeers;
    const hints = new FreeHints(scheduler.clock(), peers);
    const all = ["a", "b", "c", "d"];
    expect(hints.oldest(all, 2)).toEqual(["a", "b"]);
    await scheduler.run(hints.refresh("b"));
    await scheduler.pass(20_000);
    await scheduler.run(hints.refresh("a"));
    expect(hints.oldest(all, 9)).toEqual(["c", "d"]);
    await scheduler.run(hints.refresh("c"));
    await scheduler.pass(20_000);
    expect(hints.oldest(all, 9)).toEqual(["d", "b"]);
    await scheduler.pass(20_000);
    expect(hints.oldest(all, 9)).toEqual(["d", "b", "a", "c"]);
    expect(asked).toEqual(["b", "a", "c"]);
  });
});
