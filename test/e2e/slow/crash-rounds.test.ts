import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import type { ObservedService } from "../../support/checkers";
import { violationsAfterRepair } from "../observe";
import { removeFolder, startServer, temporaryFolder } from "../server";
import { createUntilCut } from "../writers";

const rounds = 8;
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** Kills at moments spread over the first second of load, on the same data every time: what one round leaves, the next one inherits. */
it(`kill -9 in ${String(rounds)} rounds of 500 concurrent creates: the invariants hold after each restart`, async () => {
  const acknowledged: ObservedService[] = [];
  for (let round = 0; round < rounds; round++) {
    const server = await startServer(folder);
    expect(await violationsAfterRepair(server.url, acknowledged, 30_000)).toEqual([]);
    const writers = createUntilCut(server.url, { concurrent: 500, prefix: `round-${String(round)}` });
    await sleep(120 * (round + 1));
    await server.kill();
    acknowledged.push(...(await writers.finished));
  }
  const server = await startServer(folder);
  try {
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(await violationsAfterRepair(server.url, acknowledged, 30_000)).toEqual([]);
  } finally {
    await server.kill();
  }
}, 300_000);
