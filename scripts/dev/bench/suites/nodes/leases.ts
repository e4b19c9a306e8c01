/** A plain resource: create, update and delete of Leases by 100 clients, each verb timed by itself. */
import { quantile } from "../../figures";
import type { BenchRow } from "../../row";
import { withServer, writeLeases } from "../../started";

const connections = 100;
const count = 10_000;
/** before the clock starts: the machine code of a server that has been up for seconds */
const warmUpCount = 3_000;
const ratePerSecondMin = 2_000;
const collection = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

export function benchLeases(): Promise<BenchRow[]> {
  return withServer("10.96.0.0/16", async (server) => {
    const run = (size: number) => writeLeases(server, { connections, count: size, collection });
    await run(warmUpCount);
    const { POST, PUT, DELETE } = await run(count);
    return Object.entries({ create: POST, update: PUT, delete: DELETE }).map(([verb, { elapsedMs, latenciesMs }]) => {
      const rate = count / (elapsedMs / 1000);
      return {
        name: `leases.${verb}Rate`,
        value: Math.round(rate),
        unit: "leases/s",
        target: `>= ${String(ratePerSecondMin)}`,
        ok: rate >= ratePerSecondMin,
        note: `${String(count)} Leases, ${String(connections)} connections; p99 ${quantile(latenciesMs, 0.99).toFixed(0)} ms`,
      };
    });
  });
}
