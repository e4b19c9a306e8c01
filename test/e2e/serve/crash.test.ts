import { afterAll, describe, expect, it } from "vitest";
import type { ObservedService } from "../../../src/tools/check/observed";
import { observe, violationsAfterRepair } from "../../support/server/observe";
import { removeFolder, startServer, temporaryFolder } from "../../support/server/server";
import { createUntilCut } from "../../support/clients/writers";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

describe("crash", () => {
  it("kill -9 during 500 concurrent creates: no acknowledged Service is lost, no address given twice, every pair repaired", async () => {
    const first = await startServer(folder);
    const writers = createUntilCut(first.url, { concurrent: 500, prefix: "crash" });
    await writers.acknowledgedAtLeast(300);
    await first.kill();
    const acknowledged: ObservedService[] = await writers.finished;
    expect(acknowledged.length).toBeGreaterThanOrEqual(300);

    const second = await startServer(folder);
    try {
      expect(await violationsAfterRepair(second.url, acknowledged, 30_000)).toEqual([]);
      const more = createUntilCut(second.url, { concurrent: 50, prefix: "after", total: 200 });
      const later = await more.finished;
      expect(later).toHaveLength(200);
      expect(await violationsAfterRepair(second.url, [...acknowledged, ...later], 5_000)).toEqual([]);
    } finally {
      await second.interrupt();
    }

    const third = await startServer(folder);
    try {
      const kept = await observe(third.url);
      expect(kept.services.length).toBeGreaterThanOrEqual(acknowledged.length + 200);
    } finally {
      await third.interrupt();
    }
  }, 150_000);
});
