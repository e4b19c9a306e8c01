/** Nodes that report, and a server that is away for longer than a node may be silent: nobody turns red for that, and silence is noticed again afterwards. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { silenceMs } from "../../../../src/proxy-health/judgement";
import { NODES_ARE_NAMES, serverForTests } from "../../../support/server/server-for-tests";
import { PATIENCE } from "../../../support/server/patience";

const NODES = "/api/v1/nodes";
const PERIOD_MS = 5_000;
const SILENCE_MS = silenceMs(PERIOD_MS);
/** An alarm that is later than this says that the server was away. */
const ALARM_LATE_MS = 5_000;
/** More often than an agent: a busy machine holds a process up. */
const REPORT_EVERY_MS = 1_500;

const server = serverForTests(["--var", `PROXY_SYNC_PERIOD_SECONDS=${String(PERIOD_MS / 1_000)}`, ...NODES_ARE_NAMES]);

async function send(method: string, path: string, body: object): Promise<number> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) });
  await response.text();
  return response.status;
}

const report = (node: string): Promise<number> => send("PUT", `${NODES}/${node}/proxy-health`, { IPv4: { appliedAgoMs: 1 } });

/** `a 200`, …: the codes of /healthz, or of /livez. */
async function codes(path = "healthz"): Promise<string[]> {
  return Promise.all(
    ["a", "b", "stopped"].map(async (node) => {
      const response = await fetch(`${server.url}/nodes/${node}/${path}`);
      await response.text();
      return `${node} ${String(response.status)}`;
    }),
  );
}

/** Nodes whose agents report. They go on while the server is away. */
const reporting = new Set<string>();
let isOver = false;
afterAll(() => void (isOver = true));

async function reportOn(): Promise<void> {
  while (!isOver) {
    await Promise.all([...reporting].map((node) => report(node).catch(() => undefined)));
    await sleep(REPORT_EVERY_MS);
  }
}

it(
  "kill -9 for longer than two periods: all nodes have a full period to report, then only those are red that do not",
  { timeout: 180_000 },
  async () => {
    for (const node of ["a", "b", "stopped"]) {
      expect([await send("POST", NODES, { metadata: { name: node } }), await report(node)]).toEqual([201, 200]);
    }
    for (const node of ["a", "b"]) reporting.add(node);
    void reportOn();
    expect(await codes()).toEqual(["a 200", "b 200", "stopped 200"]);
    await server.kill();
    // No report comes in the first period after the start.
    reporting.clear();
    await sleep(SILENCE_MS + ALARM_LATE_MS + 500);
    // The period counts from before the server answers.
    const startedAt = Date.now();
    await server.start();
    const inGrant = new Set<string>();
    do {
      for (const path of ["healthz", "livez"]) for (const seen of await codes(path)) inGrant.add(seen);
      await sleep(100);
    } while (Date.now() < startedAt + PERIOD_MS);
    expect([...inGrant].sort()).toEqual(["a 200", "b 200", "stopped 200"]);

    // The agent of b stops after this report.
    reporting.add("a");
    expect(await report("b")).toBe(200);
    const later = new Set<string>();
    const goesRed = (node: string) =>
      expect
        .poll(async () => {
          const seen = await codes();
          for (const one of seen) later.add(one);
          return seen;
        }, PATIENCE)
        .toContain(`${node} 503`);
    await goesRed("stopped");
    await goesRed("b");
    expect(later.has("a 503")).toBe(false);
    expect(await codes("livez")).toEqual(["a 200", "b 503", "stopped 503"]);
    expect(await report("b")).toBe(200);
    expect(await codes()).toEqual(["a 200", "b 200", "stopped 503"]);
  },
);
