/** Clusters on the real server: what begins one, what its end leaves, and an end that is interrupted by kill -9. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { checkPaired, checkUnique } from "../../support/checks/checkers";
import { observe } from "../../support/server/observe";
import { serverForTests } from "../../support/server/server-for-tests";
import { PATIENCE } from "../../support/server/patience";

const SERVICES = "/api/v1/namespaces/default/services";
const server = serverForTests();

interface Answer {
  code: number;
  body: { message?: string; status?: { phase?: string }; items?: { metadata: { name: string; uid: string } }[] };
}

async function send(method: string, path: string, body?: object): Promise<Answer> {
  const init = body ? { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : { method };
  const response = await fetch(server.url + path, init);
  return { code: response.status, body: (await response.json()) as Answer["body"] };
}

async function fill(cluster: string, count: number): Promise<void> {
  const codes = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const { code } = await send("POST", `/clusters/${cluster}${SERVICES}`, {
        metadata: { name: `s${i}` },
        spec: { ports: [{ port: 80 }] },
      });
      return code;
    }),
  );
  expect(new Set(codes)).toEqual(new Set([201]));
}

/** The databases of objects. */
function databases(): string[] {
  return readdirSync(server.folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".sqlite"));
}

it("a read: begins no cluster; a write and PUT: begin one", async () => {
  expect((await send("GET", SERVICES)).code).toBe(200);
  const before = new Set(databases());
  // More than the objects of the default cluster that crons and controllers make beside this test: one object per read would be more than them.
  const reads = 60;
  for (let i = 0; i < reads; i++) {
    const { code, body } = await send("GET", `/clusters/nobody-${i}/api/v1/services`);
    expect([code, body.message]).toEqual([404, `clusters "nobody-${i}" not found`]);
  }
  const added = databases().filter((file) => !before.has(file));
  expect(added.length, added.join("\n")).toBeLessThan(reads);
  expect((await send("GET", "/clusters/nobody-1")).code).toBe(404);
  expect((await send("PUT", "/clusters/asked")).code).toBe(201);
  expect((await send("GET", `/clusters/asked${SERVICES}`)).body.items?.map(({ metadata }) => metadata.name)).toEqual(["kubernetes"]);
  await fill("written", 1);
  expect((await send("GET", "/clusters/written")).body.status).toEqual({ phase: "Active", url: `${server.url}/clusters/written` });
});

it("kill -9 during a deletion: it continues, the name can begin again, and other clusters stay as they are", async () => {
  await fill("blue", 50);
  await fill("green", 5);
  const before = await send("GET", `/clusters/blue${SERVICES}/kubernetes`);
  expect((await send("DELETE", "/clusters/blue")).code).toBe(202);
  await server.kill();
  await server.start();
  expect((await send("GET", `/clusters/blue${SERVICES}`)).code).toBe(404);
  await expect.poll(async () => (await send("GET", "/clusters/blue")).code, PATIENCE).toBe(404);

  await fill("blue", 3);
  const after = await send("GET", `/clusters/blue${SERVICES}`);
  expect(after.body.items?.map(({ metadata }) => metadata.name).sort()).toEqual(["kubernetes", "s0", "s1", "s2"]);
  expect(after.body.items?.map(({ metadata }) => metadata.uid)).not.toContain(
    (before.body as { metadata?: { uid?: string } }).metadata?.uid,
  );
  for (const cluster of ["blue", "green"]) {
    const observed = await observe(`${server.url}/clusters/${cluster}`);
    expect([...checkUnique(observed), ...checkPaired(observed)]).toEqual([]);
  }
  expect((await send("GET", `/clusters/green${SERVICES}`)).body.items).toHaveLength(6);
});
