/** The folder in memory that `npm test` gives its tests for their files. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { inMemory } from "../../../scripts/dev/testing/memory-folder";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { root } from "../../../scripts/running/root.mjs";

const memory = temporaryFolder();
afterAll(() => removeFolder(memory));

const beforeEnd = (): Promise<void> => Promise.resolve();

it("no such file system, and one without room: tests write where they always do", () => {
  expect(inMemory({ memory: join(memory, "nothere"), beforeEnd })).toEqual({});
  expect(inMemory({ memory: "/proc", beforeEnd })).toEqual({});
});

/** A process with a folder, and what else it does. */
async function started(rest: string) {
  const program = `
    import { inMemory } from "./scripts/dev/testing/memory-folder.ts";
    import { endCommands } from "./scripts/dev/testing/commands.ts";
    import { check, inTurn } from "./scripts/dev/testing/steps.ts";
    const { TMPDIR } = inMemory({ memory: ${JSON.stringify(memory)}, beforeEnd: endCommands });
    console.log(TMPDIR);
    ${rest}`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], { cwd: root });
  const closed = once(child, "close");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  await expect.poll(() => output, { timeout: 60_000 }).toContain("\n");
  return { child, closed, folder: output.split("\n", 1)[0] ?? "" };
}
const ENDLESS = "setInterval(() => 0, 1000);";

it.each<[string, string, NodeJS.Signals | undefined]>([
  ["its end", "", undefined],
  ["SIGINT", ENDLESS, "SIGINT"],
  ["SIGTERM", ENDLESS, "SIGTERM"],
])("a process with a folder, %s: the folder goes with it", async (_, rest, signal) => {
  const { child, closed, folder } = await started(rest);
  expect(folder.startsWith(join(memory, `servicenet-${String(child.pid)}-`))).toBe(true);
  if (signal) {
    expect(existsSync(folder)).toBe(true);
    child.kill(signal);
  }
  await closed;
  expect(readdirSync(memory)).toEqual([]);
});

it("a process that was killed: the next start removes its folder, and those of no others", async () => {
  const killed = await started(ENDLESS);
  const alive = await started(ENDLESS);
  mkdirSync(join(memory, "servicenet-other"));
  killed.child.kill("SIGKILL");
  await killed.closed;
  expect(existsSync(killed.folder)).toBe(true);
  const next = await started("");
  await next.closed;
  expect(readdirSync(memory).sort()).toEqual([basename(alive.folder), "servicenet-other"].sort());
  alive.child.kill();
  await alive.closed;
  rmdirSync(join(memory, "servicenet-other"));
});

it("a signal: the commands end while the folder is there, and no further one begins", async () => {
  const [runs, told, began] = ["runs", "told", "began"].map((name) => join(memory, name)) as [string, string, string];
  const first = `
    const { existsSync, writeFileSync } = require("node:fs");
    process.on("SIGTERM", () => {
      writeFileSync(${JSON.stringify(told)}, String(existsSync(process.argv[1])));
      process.exit();
    });
    writeFileSync(${JSON.stringify(runs)}, "");
    ${ENDLESS}`;
  const second = `require("node:fs").writeFileSync(${JSON.stringify(began)}, "")`;
  const { child, closed } = await started(`
    await inTurn([
      () => check("first", [process.execPath, "-e", ${JSON.stringify(first)}, TMPDIR]),
      () => check("second", [process.execPath, "-e", ${JSON.stringify(second)}]),
    ]);`);
  await expect.poll(() => existsSync(runs), { timeout: 60_000 }).toBe(true);
  child.kill();
  await closed;
  expect(readFileSync(told, "utf8")).toBe("true");
  expect(existsSync(began)).toBe(false);
});
