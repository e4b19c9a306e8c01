/** The Lease of a node: what the tests of the whole agent do not reach. */
import { expect, it } from "vitest";
import { LeaseKeeper } from "../../../../../src/clients/agent/node/lease-keeper";
import type { ApiClient } from "../../../../../src/clients/agent/ports/api-client";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";

it("removal of a Lease that there was none of: deletes nothing, whoever has made one since", async () => {
  const asked: string[] = [];
  const api: ApiClient = {
    request: (method) => {
      asked.push(method);
      return Promise.resolve({ kind: "refused", code: 404, message: "not found" });
    },
    follow: () => () => undefined,
    followAnew: () => undefined,
  };
  const clock = new SimScheduler().clock(() => true);
  const ports = { api, random: seededRandom(1), recorder: { log: () => undefined }, clock: { ...clock, steady: clock.now } };
  const keeper = new LeaseKeeper(ports, { node: "n1", id: "a", start: { count: 1, nonce: "x" } });
  expect(await keeper.untilFree()).toEqual({ kind: "free" });
  await keeper.remove();
  expect(asked).toEqual(["GET"]);
});
