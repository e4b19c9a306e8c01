/** The demonstration of docs/load-balancer-health-checks.md in its short form, as users run it. */
import { expect, it } from "vitest";
import { runProgram } from "../../support/server/program";

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
  expect(phase(on, "node-1 is off")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-1 is removed")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-2 has no agent")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(phase(on, "node-2 is silent")).toEqual([0, 0, 0, 2, any, 2, any, 0]);
  expect(on).toMatch(/^ok {2}0 of \d+ requests failed until node-1 was gone$/m);
  expect(on).toMatch(/^ok {2}liveness probe at \/livez of a draining node: 0 restarts/m);
  expect(on).toMatch(/^ok {2}liveness probe at \/healthz of a draining node: [2-9]\d* restarts/m);

  expect(off).not.toContain("drains");
  const [toNode1 = 0, , , , , , , failed = 0] = phase(off, "node-1 is off");
  expect([toNode1, failed].every((count) => count > 0)).toBe(true);
  expect(phase(off, "node-1 is removed")).toEqual([0, 0, any, 2, any, 2, any, 0]);
  expect(off).toMatch(/^ok {2}[1-9]\d* of \d+ requests failed until node-1 was gone$/m);
  expect([code, out.includes("NOT SO")]).toEqual([0, false]);
});
