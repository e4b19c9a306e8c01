/** Health checks of nodes that have reported, while the disk is full for longer than a node may be silent. */
import { expect, it } from "vitest";
import { silenceMs } from "../../../../src/proxy-health/judgement";
import { fullDisk } from "../../../support/server/disk-faults";
import { startServer } from "../../../support/server/server";

const NODES = "/api/v1/nodes";
const PERIOD_MS = 5_000;
const PATIENCE_MS = 120_000;

it(
  "a full disk until after the alarm: checks go on with the last state, before and after the alarm",
  async () => {
    const disk = fullDisk();
    const server = await startServer(disk.folder, ["--var", `PROXY_SYNC_PERIOD_SECONDS=${String(PERIOD_MS / 1_000)}`]);
    const send = async (method: string, path: string, body?: object): Promise<number> => {
      const init = body && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(server.url + path, { method, ...init });
      await response.text();
      return response.status;
    };
    const report = (name: string, body: object) => send("PUT", `${NODES}/${name}/proxy-health`, body);
    const codes = async () =>
      (await Promise.all(["good/healthz", "good/livez", "late/healthz"].map((path) => send("GET", `/nodes/${path}`)))).join(" ");
    try {
      for (const name of ["good", "late"]) expect(await send("POST", NODES, { metadata: { name } })).toBe(201);
      expect([await report("good", { IPv4: { appliedAgoMs: 1 } }), await report("late", { IPv4: { healthy: false } })]).toEqual([200, 200]);
      const until = Date.now() + silenceMs(PERIOD_MS) + 20_000;
      disk.break(server);
      expect(await report("good", { IPv4: { appliedAgoMs: 1 } })).toBe(503);
      const seen = new Set<string>();
      // Some checks in each second, across the alarm and its repetitions.
      await expect
        .poll(
          async () => {
            seen.add(await codes());
            return Date.now() > until;
          },
          { timeout: PATIENCE_MS, interval: 300 },
        )
        .toBe(true);
      expect([...seen]).toEqual(["200 200 503"]);
    } finally {
      await server.kill();
      disk.remove();
    }
  },
  2 * PATIENCE_MS,
);
