/**
 * Health checks of 5,000 nodes by three load balancers each, one in 10 s, while their agents report. Measured are the latency of a check, what checks
 * and reports write, and how soon a taint is seen, on one node and on 500 at once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "../../../../../test/support/server/server";
import { type Cost, CountedRuntime } from "../../counted-runtime";
import { cpuMs } from "../../cpu";
import { writtenToDisk } from "../../disk-writes";
import type { HealthLoad, HealthResult } from "../../load-processes/health-load-process";
import { NODE_IS_A_NAME } from "../../pods-behind-service";
import { atMost, quantile, round } from "../../figures";
import type { BenchRow } from "../../row";
import { runLoadProcess, withServer } from "../../started";

const NODES = 5_000;
const CHECKERS = 3;
const CHECK_EVERY_SECONDS = 10;
const CHECKS_PER_SECOND = (NODES * CHECKERS) / CHECK_EVERY_SECONDS;
const SECONDS = 60;
/** Checks alone, before the agents report again: much less than the period that an agent may miss. */
const ALONE_SECONDS = 10;
/** The server's own sync period: an agent that has not reported for two is silent. */
const REPORT_EVERY_SECONDS = 30;
/** Each has 15 checks a second: none is closed for its silence. */
const CONNECTIONS = 100;
/** Connections that make the Nodes, few so as not to overload the server, and those of the agents, each with 8 reports a second. */
const FEW_CONNECTIONS = 20;
/** The reports begin so long before the checks: no process starts while the clock of the checks runs. */
const HEAD_START_SECONDS = 5;
const P99_MS_MAX = 100;
const TAINTED = 500;
const VISIBLE_MS_MAX = 3_000;
/** The bound for a single taint, asked for by one client without a pause. */
const ONE_VISIBLE_MS_MAX = 1_000;
const COUNTED = 200;

export async function benchNodeHealth(): Promise<BenchRow[]> {
  const { check, report } = await costs();
  const measured = await withServer("10.96.0.0/16", beside, NODE_IS_A_NAME);
  const note = `of ${String(COUNTED)}, one after the other; counted by the platform`;
  return [
    ...measured,
    atMost("node-health.rowsPerCheck", check.rows, "rows", 0, note),
    { name: "node-health.callsPerCheck", value: round(check.calls), unit: "calls", note: "of objects" },
    { name: "node-health.rowsPerReport", value: round(report.rows), unit: "rows", note },
    { name: "node-health.callsPerReport", value: round(report.calls), unit: "calls", note: "of objects" },
  ];
}

function costs(): Promise<{ check: Cost; report: Cost }> {
  return CountedRuntime.with(async ({ send, costOf }) => {
    await send("POST", "/api/v1/nodes", { metadata: { name: "node-1" } });
    const sendReport = () => send("PUT", "/api/v1/nodes/node-1/proxy-health", { IPv4: { appliedAgoMs: 1 }, IPv6: { appliedAgoMs: 1 } });
    const sendCheck = () => send("GET", "/nodes/node-1/healthz");
    await sendReport();
    await sendCheck();
    return { check: await costOf(COUNTED, sendCheck), report: await costOf(COUNTED, sendReport) };
  });
}

async function beside(server: Server): Promise<BenchRow[]> {
  const load = (work: HealthLoad["work"], connections = CONNECTIONS): Promise<HealthResult> =>
    runLoadProcess<Omit<HealthLoad, "target">, HealthResult>(server, "health-load-process.ts", {
      connections,
      nodes: NODES,
      work,
    });
  const checksFor = (seconds: number) => load({ kind: "check", count: CHECKS_PER_SECOND * seconds, perSecond: CHECKS_PER_SECOND });
  const reportsFor = (seconds: number) => {
    const perSecond = NODES / REPORT_EVERY_SECONDS;
    return load({ kind: "report", count: Math.round(perSecond * seconds), perSecond }, FEW_CONNECTIONS);
  };
  await load({ kind: "makeNodes" }, FEW_CONNECTIONS);
  // Each node in its turn, as ever after, and each is checked once: its first check may write what the object learns of the Node.
  await Promise.all([reportsFor(REPORT_EVERY_SECONDS), checksFor(CHECK_EVERY_SECONDS)]);
  const [diskBefore, cpuBefore] = [writtenToDisk(server.runtimePid), cpuMs(server.runtimePid)];
  const alone = await checksFor(ALONE_SECONDS);
  const [diskAfter, cpuAfter] = [writtenToDisk(server.runtimePid), cpuMs(server.runtimePid)];
  const reporting = reportsFor(SECONDS + 2 * HEAD_START_SECONDS);
  await sleep(HEAD_START_SECONDS * 1_000);
  const [{ latenciesMs, wrong }, reports] = await Promise.all([checksFor(SECONDS), reporting]);
  const one = await load({ kind: "taint", first: TAINTED, count: 1 }, 1);
  const { visibleMs } = await load({ kind: "taint", first: 0, count: TAINTED });

  const thousands = (count: number): string => count.toLocaleString("en-US");
  const each = `${thousands(NODES)} nodes, ${String(CHECKERS)} checkers of each, every ${String(CHECK_EVERY_SECONDS)} s (${thousands(CHECKS_PER_SECOND)}/s)`;
  const rows: BenchRow[] = [
    { name: "node-health.checkP50", value: Math.round(quantile(latenciesMs, 0.5) * 10) / 10, unit: "ms" },
    atMost(
      "node-health.checkP99",
      quantile(latenciesMs, 0.99),
      "ms",
      P99_MS_MAX,
      `${each} for ${String(SECONDS)} s beside a report of each node every ${String(REPORT_EVERY_SECONDS)} s; since it was due; slowest ${(latenciesMs.at(-1) ?? NaN).toFixed(0)} ms`,
    ),
    atMost("node-health.wrongAnswers", wrong + alone.wrong, "checks", 0, "all agents report in time: what is not 200 is wrong"),
    {
      name: "node-health.checkP99Alone",
      value: Math.round(quantile(alone.latenciesMs, 0.99) * 10) / 10,
      unit: "ms",
      note: `${String(ALONE_SECONDS)} s before, without the reports`,
    },
    { name: "node-health.reportP99", value: Math.round(quantile(reports.latenciesMs, 0.99) * 10) / 10, unit: "ms" },
    atMost(
      "node-health.oneTaintVisible",
      one.visibleMs,
      "ms",
      ONE_VISIBLE_MS_MAX,
      "from one taint sent until its node answers 503, asked without a pause",
    ),
    atMost(
      "node-health.taintVisible",
      visibleMs,
      "ms",
      VISIBLE_MS_MAX,
      `from the first of ${String(TAINTED)} taints sent at once by ${String(CONNECTIONS)} clients until the last of their nodes answers 503`,
    ),
  ];
  const checks = alone.latenciesMs.length;
  if (cpuBefore !== undefined && cpuAfter !== undefined)
    rows.push({
      name: "node-health.cpuPerCheck",
      value: Math.round(((cpuAfter - cpuBefore) * 1_000) / checks),
      unit: "us",
      note: "CPU of the runtime, without the reports",
    });
  if (diskBefore !== undefined && diskAfter !== undefined)
    rows.push({
      name: "node-health.diskPerCheck",
      value: Math.round((diskAfter - diskBefore) / checks),
      unit: "bytes",
      note: "to disk, without the reports: what the server writes of itself, such as its identity Lease",
    });
  return rows;
}
