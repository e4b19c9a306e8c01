import { expect, it } from "vitest";
import { serverForTests } from "../../../support/server/server-for-tests";

const server = serverForTests(["--var", "LOG_LEVEL=debug"]);

it("the cron of every minute: the Worker runs it at each full minute", async () => {
  const fired = () =>
    server
      .output()
      .split("\n")
      .filter((line) => line.includes('"cron job finished"') && line.includes('"* * * * *"')).length;
  await expect.poll(fired, { timeout: 130_000, interval: 500 }).toBeGreaterThanOrEqual(2);
  expect(server.output()).not.toMatch(/cron ".*" (failed|ended)/);
}, 150_000);
