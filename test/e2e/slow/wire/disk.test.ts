/**
 * The disk fails under clients at work. Meanwhile the server keeps a write or answers 503 with Retry-After, to reads as well. Afterwards the server goes
 * on by itself and misses nothing that it acknowledged. The seed is the commit's: `SEED=<n>` repeats the requests of another one.
 */
import { afterAll, expect, it } from "vitest";
import { seedOfCommit } from "../../../../scripts/dev/testing/seed-of-commit";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { CarefulClient, newTally, serviceClient, work } from "../../../support/clients/careful-clients";
import { Api } from "../../../support/clients/api";
import type { Answer } from "../../../support/clients/api";
import { fullDisk, limitedDisk, readOnlyDisk } from "../../../support/server/disk-faults";
import { violationsAfterRepair, wrongAfterRepair } from "../../../support/server/observe";
import { startServer } from "../../../support/server/server";
import { PATIENCE } from "../../../support/server/patience";

const CLIENTS = 40;
const REPAIR_MS_MAX = 120_000;
const seed = Number(process.env["SEED"] ?? seedOfCommit()) | 0;

const SERVICES = "/api/v1/namespaces/default/services";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const lease = (name: string) => ({ body: { metadata: { name }, spec: { holderIdentity: "a" } } });

const disks = [fullDisk(), readOnlyDisk(), limitedDisk()];
afterAll(() => {
  for (const disk of disks) disk.remove();
});

const NAMED = /^the server is currently unable to handle the request: the disk (?:is full|is read-only|refuses to write)$/;

/** A success, or the one refusal of a disk that fails. */
function expectClean(path: string, code: number, answer: Answer): void {
  if (answer.code === code) return;
  const { body, headers } = answer;
  expect([path, answer.code, body.reason, body.details, headers.get("Retry-After")]).toEqual([
    path,
    503,
    "ServiceUnavailable",
    { retryAfterSeconds: 1 },
    "1",
  ]);
  expect(body.message).toMatch(NAMED);
}

it.each(disks.map((disk) => [disk.fails, disk] as const))(
  "a disk that %s: the server refuses, and nothing acknowledged is lost",
  async (_title, disk) => {
    const random = seededRandom(seed);
    const tally = newTally();
    const start = () => startServer(disk.folder, ["--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/22"]);
    let server = await start();
    try {
      const api = new Api(() => server.url);
      const clients = Array.from({ length: CLIENTS }, (_, i) => new CarefulClient(`c${String(i)}`, () => server.url, tally));
      const steps = clients.map((client) => serviceClient(client, seededRandom(random.next())));
      const done = (more: number) => {
        const from = tally.outcomes.done;
        return expect.poll(() => tally.outcomes.done - from, PATIENCE).toBeGreaterThan(more);
      };
      let stopped = false;
      let finished = work(steps, () => stopped);
      await api.must("POST", LEASES, lease("before"));
      await done(10 * CLIENTS);

      disk.break(server);
      await expect.poll(() => tally.outcomes.failed, PATIENCE).toBeGreaterThan(CLIENTS);
      // Of an object that was there, of one that would have to be made first, and of a cluster that nobody has used. What fits into a file as it is
      // may be taken; an object that a failed commit has stopped may not be able to start again.
      for (const path of [LEASES, "/api/v1/nodes", `/clusters/new${SERVICES}`]) {
        expectClean(path, 201, await api.send("POST", path, lease("during")));
      }
      for (const path of [`${LEASES}/before`, SERVICES]) expectClean(path, 200, await api.get(path));
      expect((await api.get("/healthz")).code).toBe(200);
      await expect.poll(async () => (await api.get("/readyz")).code, PATIENCE).toBe(500);
      expect((await api.get("/readyz/coordinator")).code).toBe(500);
      const told = server.output().match(/"level":"error","event":"the disk [a-z -]+"/g) ?? [];
      expect(told.length).toBeGreaterThan(0);
      expect(new Set(told).size, "each fault is told once").toBe(told.length);
      expect(server.output(), "without the runtime's own words").not.toMatch(/^workerd\/.*(?:SQLITE_|No space left)/m);

      if (disk.mend) disk.mend(server);
      else {
        stopped = true;
        await server.kill();
        await finished;
        disk.replace();
        server = await start();
        stopped = false;
        finished = work(steps, () => stopped);
      }
      await done(10 * CLIENTS);
      expect((await api.send("POST", "/api/v1/nodes", { body: { metadata: { name: "after" } } })).code).toBe(201);
      await expect.poll(async () => (await api.get("/readyz")).code, PATIENCE).toBe(200);
      await api.must("POST", `/clusters/new${SERVICES}`, { body: { metadata: { name: "after" }, spec: { ports: [{ port: 80 }] } } });
      stopped = true;
      await finished;

      for (const client of clients) for (const held of client.held) expect(await client.settle(held)).toBe(true);
      expect(tally.violations, `seed ${String(seed)}`).toEqual([]);
      expect([...tally.failures.keys()]).toEqual(["503 ServiceUnavailable"]);
      expect(await violationsAfterRepair(server.url, [], REPAIR_MS_MAX)).toEqual([]);
      expect(await wrongAfterRepair(server.url, REPAIR_MS_MAX)).toEqual([]);
      console.log(`seed ${String(seed)}, a disk that ${disk.fails}:`, tally.outcomes, tally.failures);

      // All of it was on the disk.
      await server.kill();
      server = await start();
      for (const client of clients) for (const held of client.held) expect(await client.settle(held)).toBe(true);
      expect(tally.violations, `after another start, seed ${String(seed)}`).toEqual([]);
    } finally {
      await server.kill();
    }
  },
  300_000,
);
