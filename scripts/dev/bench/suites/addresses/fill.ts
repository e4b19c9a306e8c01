/** A /20 to its last usable address: the last addresses must not cost more than the first ones. */
import { createServices, withServer } from "../../started";
import type { BenchRow } from "../../row";

const range = "10.0.0.0/20";
/** usable addresses less the one of default/kubernetes */
const count = 2 ** 12 - 2 - 1;
const portion = Math.ceil(count / 100);
const ratioMax = 1.5;
const fullMessage = /^Internal error occurred: failed to allocate a serviceIP for Service "one-more": range is full$/;

export function benchFill(): Promise<BenchRow[]> {
  return withServer(range, async (server) => {
    const part = (prefix: string, services: number) =>
      createServices(server, { cluster: "default", connections: 1, count: services, prefix, addressPrefixes: ["10.0."] });
    // The code is compiled by then and the first per cent is a fair comparison: both portions are created one by one.
    await part("warm", portion);
    const first = await part("first", portion);
    await createServices(server, {
      cluster: "default",
      connections: 50,
      count: count - 3 * portion,
      prefix: "middle",
      addressPrefixes: ["10.0."],
    });
    const last = await part("last", portion);
    const answer = await fetch(`${server.url}/api/v1/namespaces/default/services`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ metadata: { name: "one-more" }, spec: { ports: [{ port: 80 }] } }),
    });
    const status = (await answer.json()) as { message?: string; reason?: string };
    if (answer.status !== 500 || !fullMessage.test(status.message ?? "")) {
      throw new Error(`a create into a full range was answered with ${String(answer.status)} ${JSON.stringify(status)}`);
    }
    const perService = (ms: number) => Math.round((ms / portion) * 1000) / 1000;
    const ratio = last.elapsedMs / first.elapsedMs;
    return [
      {
        name: "fill.firstPercent",
        value: perService(first.elapsedMs),
        unit: "ms/service",
        note: `${String(portion)} Services one by one, ${range} nearly empty`,
      },
      {
        name: "fill.lastPercent",
        value: perService(last.elapsedMs),
        unit: "ms/service",
        note: "the last addresses; the next create answers that the range is full",
      },
      { name: "fill.ratio", value: Math.round(ratio * 100) / 100, unit: "x", target: `<= ${String(ratioMax)}`, ok: ratio <= ratioMax },
    ];
  });
}
