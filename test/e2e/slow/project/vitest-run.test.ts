/** What `npm test` says of a run of Vitest: counts, flaky tests, runs that tested nothing. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { longestFirst } from "../../../../scripts/dev/testing/longest-first";
import { slowest } from "../../../../scripts/dev/testing/counts";
import { vitest } from "../../../../scripts/dev/testing/vitest-run";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const folder = temporaryFolder();
const config = join(folder, "vitest.config.mjs");
afterAll(() => removeFolder(folder));

/** The run has its globals, because nothing can be imported from a folder outside of the project. */
const FILES: Readonly<Record<string, string>> = {
  "good.test.mjs": `it("holds", () => expect(1).toBe(1)); it("holds as well", () => expect(2).toBe(2));`,
  "bad.test.mjs": `describe("a (b)", () => it("never holds", () => expect(1).toBe(2)));`,
  "flaky.test.mjs": `
    const { existsSync, writeFileSync } = await import("node:fs");
    const seen = ${JSON.stringify(join(folder, "seen"))};
    it("holds at the second try", () => { const isSecond = existsSync(seen); writeFileSync(seen, ""); expect(isSecond).toBe(true); });`,
  "skipped.test.mjs": `it["skip"]("is switched off", () => undefined);`,
  "broken.test.mjs": `throw new Error("no test here");`,
};

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  // A process per file would cost more than all of its tests.
  const test = { globals: true, include: ["*.test.mjs"], pool: "threads", isolate: false, maxWorkers: 1 };
  writeFileSync(config, `export default ${JSON.stringify({ root: folder, test })};`);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
});

/** The counts of a run, and what it printed. */
async function runOf(...files: string[]) {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  try {
    const counts = await vitest("run", { config, files: files.map((name) => join(folder, name)) });
    return { ...counts, printed: log.mock.calls.flat().join("\n") };
  } finally {
    log.mockRestore();
  }
}

describe("a run of Vitest", () => {
  it("all tests pass: they are counted, and the time of the file is known", async () => {
    const { passed, failed, failures, files, printed } = await runOf("good.test.mjs");
    expect({ passed, failed, failures }).toEqual({ passed: 2, failed: 0, failures: [] });
    expect(files?.map(({ path }) => path.endsWith("good.test.mjs"))).toEqual([true]);
    expect(printed).toMatch(/^ok {5}run \(\d+\.\d s, 2 passed\)$/);
  });

  it("a test that fails again by itself: it is named with its reason", async () => {
    const { passed, failed, failures, printed } = await runOf("bad.test.mjs", "good.test.mjs");
    expect({ passed, failed }).toEqual({ passed: 2, failed: 1 });
    expect(failures).toEqual([expect.stringMatching(/^[^ ]*bad\.test\.mjs > a \(b\) never holds: AssertionError: expected 1 to be 2/)]);
    expect(printed).toMatch(/^FAILED run .*2 passed, 1 failed/);
  });

  it("a test that fails and passes by itself: it is called flaky, and fails the run", async () => {
    const { passed, failed, failures } = await runOf("flaky.test.mjs");
    expect({ passed, failed }).toEqual({ passed: 0, failed: 1 });
    expect(failures).toEqual([expect.stringMatching(/^flaky, it passes alone: [^ ]*flaky\.test\.mjs > holds at the second try: /)]);
  });

  it.each([
    ["a test that is switched off", "skipped.test.mjs", /skipped\.test\.mjs > is switched off: skipped$/],
    ["a file that breaks before its tests", "broken.test.mjs", /broken\.test\.mjs: no test here$/],
    ["a file that is not there", "missing.test.mjs", /^run: (no report|exit code 1)$/],
  ])("%s: fails", async (_, file, line) => {
    const { passed, failed, failures } = await runOf(file);
    expect({ passed, failed }).toEqual({ passed: 0, failed: 1 });
    expect(failures).toEqual([expect.stringMatching(line)]);
  });
});

it("the slowest files: the longest first, as many as are asked for", () => {
  const files = [3, 1, 4, 2].map((ms) => ({ path: `${String(ms)}.test.ts`, ms }));
  expect(slowest(files, 3).map(({ ms }) => ms)).toEqual([4, 3, 2]);
  expect(files.map(({ ms }) => ms)).toEqual([3, 1, 4, 2]);
});

it("the order of files: the longest in the order of their list, then the others in that of Vitest", async () => {
  const sizes: Readonly<Record<string, number>> = { "/t/a.test.ts": 1, "/t/b.test.ts": 3, "/t/c.test.ts": 2, "/t/a/b.test.ts": 4 };
  const cache = { getFileTestResults: () => undefined, getFileStats: (key: string) => ({ size: sizes[`/${key.slice(1)}`] }) };
  const project = { name: "", config: { isolate: false, sequence: { groupOrder: 0 } } };
  const files = Object.keys(sizes).map((moduleId) => ({ moduleId, project }) as TestSpecification);
  const sequencer = new (longestFirst(["t/c", "missing", "t/a"]))({ cache, config: { root: "/" } } as unknown as Vitest);
  expect((await sequencer.sort(files)).map(({ moduleId }) => moduleId)).toEqual([
    "/t/c.test.ts",
    "/t/a.test.ts",
    "/t/a/b.test.ts",
    "/t/b.test.ts",
  ]);
});
