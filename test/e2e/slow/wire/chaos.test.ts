/**
 * kill -9 of the server at random moments under a hundred clients. All rounds share the data: each inherits what the last one left. The seed is the
 * commit's: `SEED=<n>` repeats the requests and the moments of death of another one, as far as a real server can be repeated.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { seedOfCommit } from "../../../../scripts/dev/testing/seed-of-commit";
import { checkCovered, checkUnique } from "../../../support/checks/checkers";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { CarefulClient, newTally, rangeClient, serviceClient, work } from "../../../support/clients/careful-clients";
import { isRelease } from "../../../support/server/is-release";
import { observe, violationsAfterRepair, wrongAfterRepair } from "../../../support/server/observe";
import { removeFolder, startServer, temporaryFolder } from "../../../support/server/server";

const ROUNDS = isRelease ? 20 : 4;
const CLIENTS = 100;
/** Longer than most rounds: some die while they start, others in full run. */
const ACKNOWLEDGED_MAX = 1_500;
/** from the last start on, for all that is asked then; orphans younger than a minute are left alone */
const REPAIR_MS_MAX = 120_000;

const seed = Number(process.env["SEED"] ?? seedOfCommit()) | 0;
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

it(`kill -9 in ${String(ROUNDS)} rounds under ${String(CLIENTS)} clients (seed ${String(seed)}): nothing acknowledged is lost, no address is given twice, orphans are collected`, async () => {
  const random = seededRandom(seed);
  const tally = newTally();
  let url = "";
  const careful = (name: string) => new CarefulClient(name, () => url, tally);
  const clients = Array.from({ length: CLIENTS }, (_, i) => careful(`c${String(i)}`));
  const operators = ["10.97.0.0/24", "10.97.1.0/24", "10.97.0.0/23", "10.96.0.0/21"].map((cidr, i) => ({
    client: careful(`range-${String(i)}`),
    cidr,
  }));
  const steps = [
    ...clients.map((client) => serviceClient(client, seededRandom(random.next()))),
    ...operators.map(({ client, cidr }) => rangeClient(client, seededRandom(random.next()), cidr)),
  ];
  const start = async () => {
    const server = await startServer(folder, ["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/22"]);
    url = server.url;
    return server;
  };

  for (let round = 0; round < ROUNDS; round++) {
    const server = await start();
    const observed = await observe(url);
    expect([...checkUnique(observed), ...checkCovered(observed)], `after round ${String(round)}, seed ${String(seed)}`).toEqual([]);
    const until = tally.outcomes.done + random.below(ACKNOWLEDGED_MAX);
    const delay = random.below(50);
    const finished = work(steps, () => false);
    while (tally.outcomes.done < until) await sleep(1);
    await sleep(delay);
    await server.kill();
    await finished;
    expect(tally.violations, `in round ${String(round)}, seed ${String(seed)}`).toEqual([]);
  }

  const server = await start();
  const cleanBy = Date.now() + REPAIR_MS_MAX;
  const msLeft = () => Math.max(0, cleanBy - Date.now());
  try {
    const all = [...clients, ...operators.map(({ client }) => client)];
    for (const client of all) for (const held of client.held) expect(await client.settle(held)).toBe(true);
    expect(tally.violations, `at the end, seed ${String(seed)}`).toEqual([]);
    expect(await violationsAfterRepair(url, [], msLeft())).toEqual([]);
    expect(await wrongAfterRepair(url, msLeft())).toEqual([]);
    const { done, cut } = tally.outcomes;
    console.log(`seed ${String(seed)}: ${String(done)} acknowledged writes, ${String(cut)} without an answer`, tally.failures);
    expect(done).toBeGreaterThan(ROUNDS * CLIENTS);
    expect(cut).toBeGreaterThan(ROUNDS);
  } finally {
    await server.kill();
  }
}, 900_000);
