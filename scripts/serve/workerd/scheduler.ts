/**
 * How the runner reaches the scheduled events of the Worker: a small Worker beside it, on a Unix socket in a folder of the server's user. Nothing else
 * answers there.
 */
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { ConfigValue } from "./config-text";

/** also of the socket */
export const SCHEDULER = "scheduler";

const PATH = "/scheduled";

const CODE = `export default {
  async fetch(request, { WORKER }) {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method !== "POST" || pathname !== "${PATH}") return new Response(null, { status: 404 });
    const [cron, time] = [searchParams.get("cron"), Number(searchParams.get("time") ?? NaN)];
    if (cron === null || !(time >= 0)) return new Response(null, { status: 400 });
    const { outcome } = await WORKER.scheduled({ cron, scheduledTime: new Date(time) });
    return new Response(outcome);
  },
};`;

/** `worker`: the service that gets the events. */
export function schedulerService(worker: string): ConfigValue {
  return {
    name: SCHEDULER,
    worker: {
      modules: [{ name: "scheduler.js", esModule: CODE }],
      compatibilityDate: "2026-04-26",
      compatibilityFlags: ["service_binding_extra_handlers"],
      bindings: [{ name: "WORKER", service: worker }],
    },
  };
}

export function schedulerSocket(path: string): ConfigValue {
  return { name: SCHEDULER, address: `unix:${path}`, http: {}, service: SCHEDULER };
}

/** Fires one event and waits for its end. Resolves to "ok", or to what went wrong; rejects when the runtime is gone. */
export async function fireScheduled(socketPath: string, cron: string, scheduledTime: number): Promise<string> {
  const path = `${PATH}?${String(new URLSearchParams({ cron, time: String(scheduledTime) }))}`;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // A connection of its own: one that is kept would hold up the end of the runtime.
    request({ socketPath, path, method: "POST", agent: false }, resolve).on("error", reject).end();
  });
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`the runtime answers ${String(response.statusCode)} ${answer}`);
  return answer;
}
