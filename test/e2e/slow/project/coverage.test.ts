/** `npm run coverage`: what it counts in a process and in a Worker, and how two runs are compared. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Collector, startCollector } from "../../../../scripts/dev/coverage/collector";
import { type Counters, takeCounters } from "../../../../scripts/dev/coverage/counters.mjs";
import { instrument, sendFromWorker } from "../../../../scripts/dev/coverage/instrumented-copy";
import { comparisonText } from "../../../../scripts/dev/coverage/report-text";
import { compare, type FileSummary, type Summary, summaryOf } from "../../../../scripts/dev/coverage/summary";
import { sendAfterEvents } from "../../../../scripts/dev/coverage/worker-counters.mjs";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { root } from "../../../../scripts/running/root.mjs";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector(join(folder, "counts"));
});
afterEach(() => collector.end());

const SOURCE = `export type Sign = "+" | "-";
export function signOf(value: number): Sign {
  return value < 0 ? "-" : "+";
}
export const never = (): void => {
  throw new Error("never");
};
signOf(Number(process.argv[2] ?? "1") satisfies number);
`;

describe("what ran", () => {
  const { text, counters } = instrument(SOURCE, "src/sign.ts");
  const program = join(folder, "sign.ts");
  const run = (value: string) => {
    writeFileSync(program, text);
    const before = ["--import", join(root, "scripts/dev/coverage/node-counters.mjs"), "--import", "tsx"];
    execFileSync(process.execPath, [...before, program, value], {
      cwd: root,
      env: { ...process.env, SERVICENET_COVERAGE: collector.folder },
    });
  };
  const summary = () => {
    const files = new Map([["src/sign.ts", structuredClone(counters)]]);
    collector.addTo(Object.fromEntries(files));
    return summaryOf(files)["src/sign.ts"];
  };

  it("of no process: nothing is covered, and the file is there", () => {
    expect(summary()).toMatchObject({
      statements: { covered: 0, total: 4 },
      functions: { covered: 0, total: 2 },
      lines: { covered: 0, total: 4 },
    });
  });

  it("of two processes: their counts add up, in the lines of the TypeScript", () => {
    run("1");
    expect(summary()).toMatchObject({ branches: { covered: 2, total: 4 } });
    run("-1");
    expect(summary()).toMatchObject({ statements: { covered: 3, total: 4 }, branches: { covered: 3, total: 4 }, uncovered: [6] });
  });

  it("half a line of a process that was killed: the others count", () => {
    run("1");
    writeFileSync(join(collector.folder, "killed.jsonl"), `{"src/sign.ts":{"s":{"0"`);
    expect(summary()?.statements.covered).toBe(3);
  });
});

describe("in a Worker", () => {
  const file = () => ({ s: { 0: 1, 1: 0 }, f: { 0: 2 }, b: { 0: [0, 3] } });
  const counted = globalThis as { __coverage__?: Counters };
  let kept: Counters | undefined;
  beforeEach(() => {
    kept = counted.__coverage__;
    counted.__coverage__ = { "src/a.ts": file() };
  });
  afterEach(() => {
    if (kept) counted.__coverage__ = kept;
    else delete counted.__coverage__;
  });
  const total = () => {
    const all: Counters = { "src/a.ts": { s: { 0: 0, 1: 0 }, f: { 0: 0 }, b: { 0: [0, 0] } } };
    collector.addTo(all);
    return all["src/a.ts"];
  };
  const work: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => work.push(promise) };

  it("counters are taken: the next time there is nothing", () => {
    expect(takeCounters()).toEqual({ "src/a.ts": { s: { 0: 1 }, f: { 0: 2 }, b: { 0: [0, 3] } } });
    expect(takeCounters()).toBeUndefined();
  });

  it("a request is answered: the collector gets the counters, and the client the answer", async () => {
    const handlers = { fetch: (_request: unknown, _env: unknown, _context: typeof context) => "answer" };
    sendAfterEvents({ default: handlers }, collector.url);
    expect(handlers.fetch("request", "env", context)).toBe("answer");
    await Promise.all(work);
    expect(total()).toEqual(file());
  });

  it("an alarm fails: its error stays, and the collector gets the counters", async () => {
    class Shell {
      readonly ctx = context;
      alarm(): Promise<void> {
        return Promise.reject(new Error("no disk"));
      }
    }
    sendAfterEvents({ Shell }, collector.url);
    await expect(new Shell().alarm()).rejects.toThrow("no disk");
    await Promise.all(work);
    expect(total()).toEqual(file());
  });

  it("a cron ends: its counters are sent before; a collector that is gone leaves them for the next time", async () => {
    const handlers = { scheduled: () => Promise.resolve() };
    sendAfterEvents({ default: handlers }, "http://127.0.0.1:1/");
    await handlers.scheduled();
    expect(counted.__coverage__).toEqual({ "src/a.ts": file() });
  });
});

it("the first module of the counting Worker: imports files that are there", () => {
  const copy = join(folder, "counting");
  mkdirSync(join(copy, "src", "worker"), { recursive: true });
  writeFileSync(join(copy, "src", "worker", "index.ts"), "export default {};");
  sendFromWorker(copy, "http://127.0.0.1:1");
  const text = readFileSync(join(copy, "src", "worker", "index.ts"), "utf8");
  const imported = [...text.matchAll(/ from "([^"]+)"/g)].map(([, path = ""]) => join(copy, "src", "worker", path));
  expect(imported.map((path) => existsSync(path) || existsSync(`${path}.ts`))).toEqual([true, true, true, true]);
});

describe("two runs compared", () => {
  const summary = (covered: number, uncovered: number[] = []): FileSummary => {
    const full = { covered: 200, total: 200 };
    return { statements: full, branches: { covered, total: 200 }, functions: { covered: 0, total: 0 }, lines: full, uncovered };
  };
  const before: Summary = { "src/a.ts": summary(200, [4]), "src/b.ts": summary(200), "src/c.ts": summary(100) };

  it("a file loses one point, gains, or is new: no loss", () => {
    const after = { "src/a.ts": summary(198), "src/b.ts": summary(200), "src/c.ts": summary(150), "src/d.ts": summary(0) };
    expect(compare(before, after)).toEqual({ losses: [], gone: [] });
  });

  it("a file loses more than one point: it is listed with what nothing runs now; a file that is gone is listed by itself", () => {
    const comparison = compare(before, { "src/a.ts": summary(197, [4, 9]), "src/c.ts": summary(100) });
    expect(comparison).toEqual({ losses: [{ path: "src/a.ts", of: ["branches 100.0 -> 98.5"], uncovered: [9] }], gone: ["src/b.ts"] });
    expect(comparisonText(comparison)).toBe(
      "gone: src/b.ts\nlost: src/a.ts: branches 100.0 -> 98.5; lines 9\n1 files lost more than one point, 1 are no longer there",
    );
  });
});
