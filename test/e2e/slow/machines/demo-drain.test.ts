/** The demonstration of docs/load-balancer-health-checks.md in its short form, as users run it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { childrenOf, isRunning, type ProcessIdentity } from "../../../../scripts/serve/processes";
import { runProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

/** Two servers, six agents and a dozen proxies start, one restarts again and again, on a machine that does other things. */
const PATIENCE_MS = 600_000;

/** Cells of the phase: connections given to each node and held there, then requests answered and failed. */
function phase(out: string, name: string): number[] {
  const row = out.split("\n").find((line) => line.startsWith(name)) ?? "";
  const cells = /(\d+)\+(\d+) +(\d+)\+(\d+) +(\d+)\+(\d+) +(\d+) +(\d+)$/.exec(row);
  return cells?.slice(1).map(Number) ?? [];
}

it("demo:drain: no request fails with the gate on, some fail with it off", { timeout: PATIENCE_MS }, async () => {
  const { code, out, err } = await runProgram("demo-drain", ["--short"]);
  expect(err).toBe("");
  const [on = "", off = ""] = out.split("KubeProxyDrainingTerminatingNodes=").slice(1);
  expect([on.split("\n")[0], off.split("\n")[0]]).toEqual(["true", "false"]);

  const any = expect.any(Number) as number;
  expect(phase(on, "before")).toEqual([any, 2, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-1 has the taint")).toEqual([any, 2, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-1 drains")).toEqual([0, 2, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-1 has no Node")).toEqual([0, 2, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-1 is removed")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-2 has no agent")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-2 is silent")).toEqual([0, 0, 0, 2, any, 2, any, 0]);
  expect(on).toMatch(/^ok {2}0 of \d+ requests failed$/m);
  for (const run of [on, off]) expect(run).toMatch(/^ok {2}(\d+) requests were \1 connections to nodes/m);
  expect(on).toMatch(/^ok {2}liveness probe at \/livez of a draining node: 0 restarts/m);
  expect(on).toMatch(/^ok {2}liveness probe at \/healthz of a draining node: [2-9]\d* restarts/m);

  expect(off).not.toContain("drains");
  const [toNode1 = 0, , , , , , , failed = 0] = phase(off, "node-1 is off");
  expect([toNode1, failed].every((count) => count > 0)).toBe(true);
  expect(phase(off, "node-1 is removed")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(off).toMatch(/^ok {2}[1-9]\d* of \d+ requests failed until node-1 was gone$/m);
  expect([code, out.includes("NOT SO")]).toEqual([0, false]);
});

describe("an end before the end", () => {
  const temporary = temporaryFolder();
  afterAll(() => removeFolder(temporary));

  const descendants = (pid: number): ProcessIdentity[] => childrenOf(pid).flatMap((child) => [child, ...descendants(child.pid)]);
  const foldersLeft = (): string[] => readdirSync(temporary).filter((name) => name.startsWith("servicenet-"));
  const isMade = (path: string): boolean => foldersLeft().some((folder) => existsSync(join(temporary, folder, path)));

  /** Waits for the moment, does `harm` to the demonstration or else Ctrl-C, and waits until no process of it is left. Answers its exit code. */
  async function codeAfter(isMoment: (pid: number) => boolean, harm?: (pid: number) => void): Promise<number | null> {
    let running: ProcessIdentity[] = [];
    const { code } = await runProgram("demo-drain", ["--short"], {
      env: { TMPDIR: temporary },
      signal: "SIGINT",
      killWhen: (pid) => {
        if (running.length > 0 || !isMoment(pid)) return false;
        running = descendants(pid);
        harm?.(pid);
        return harm === undefined;
      },
    });
    expect(running.length).toBeGreaterThan(0);
    await expect.poll(() => running.filter(isRunning), { timeout: PATIENCE_MS }).toEqual([]);
    return code;
  }

  it.each([
    ["while the server starts", "runner.lock"],
    ["while the nodes start", join("node-1", "agent-id")],
  ])("Ctrl-C %s: exit code 130, no process and no folder is left", { timeout: PATIENCE_MS }, async (_, made) => {
    expect(await codeAfter(() => isMade(made))).toBe(130);
    expect(foldersLeft()).toEqual([]);
  });

  it("a proxy that ends while it starts: exit code 1, no process and no folder is left", { timeout: PATIENCE_MS }, async () => {
    const server = 1;
    const agents = 3;
    const newest = (pid: number): number => Math.max(...childrenOf(pid).map((child) => child.pid));
    const code = await codeAfter(
      (pid) => childrenOf(pid).length > server + agents,
      (pid) => process.kill(newest(pid), "SIGKILL"),
    );
    expect(code).toBe(1);
    expect(foldersLeft()).toEqual([]);
  });
});
