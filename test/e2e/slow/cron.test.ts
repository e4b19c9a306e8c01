import { afterAll, beforeAll, expect, it } from "vitest";
import { removeFolder, startServer, temporaryFolder } from "../server";
import type { Server } from "../server";

const folder = temporaryFolder();
let server: Server;
beforeAll(async () => {
  server = await startServer(folder);
});
afterAll(async () => {
  await server.kill();
  removeFolder(folder);
});

it("the cron of every minute fires at the minute, in the Worker", async () => {
  const fired = () =>
    server
      .output()
      .split("\n")
      .filter((line) => line.includes('"cron job finished"') && line.includes('"* * * * *"')).length;
  await expect.poll(fired, { timeout: 130_000, interval: 500 }).toBeGreaterThanOrEqual(2);
  expect(server.output()).not.toMatch(/cron ".*" (failed|ended)/);
}, 150_000);
