/**
 * Clients in a process of their own: each creates a Service and deletes its oldest one, over and over, until the time is over. Takes a
 * ChurnLoad on stdin and prints a ChurnResult.
 */
import { Agent, request } from "node:http";
import type { Target } from "../../../cluster/target";
import { givenLoad } from "./load";

export interface ChurnLoad {
  target: Target;
  clients: number;
  durationMs: number;
  /** how many Services a client keeps */
  held: number;
}

export interface ChurnResult {
  /** sorted, of all creates, failed ones included */
  createMs: number[];
  /** sorted, of all deletes */
  deleteMs: number[];
  /** answers other than success, at most a few told */
  failures: number;
  told: string[];
  /** Services that were created and not deleted, as they were answered */
  kept: { name: string; uid: string; clusterIP: string }[];
}

const TOLD_MAX = 5;

const load = givenLoad<ChurnLoad>();
const agent = new Agent({ keepAlive: true, maxSockets: load.clients });
const collection = "/api/v1/namespaces/default/services";
const result: ChurnResult = { createMs: [], deleteMs: [], failures: 0, told: [], kept: [] };
const endAt = performance.now() + load.durationMs;

await Promise.all(Array.from({ length: load.clients }, (_, i) => client(i)));
agent.destroy();
for (const latencies of [result.createMs, result.deleteMs]) latencies.sort((a, b) => a - b);
process.stdout.write(JSON.stringify(result));

async function client(number: number): Promise<void> {
  const held: ChurnResult["kept"] = [];
  for (let i = 0; performance.now() < endAt; i++) {
    const name = `churn-${String(number)}-${String(i)}`;
    const body = JSON.stringify({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { ports: [{ port: 80, protocol: "TCP" }] },
    });
    const created = await timed(result.createMs, () => send("POST", collection, body));
    if (created.status === 201) {
      const { metadata, spec } = JSON.parse(created.text) as { metadata: { uid: string }; spec: { clusterIP: string } };
      held.push({ name, uid: metadata.uid, clusterIP: spec.clusterIP });
    } else failed(`create ${name}`, created);
    const oldest = held.length > load.held ? held.shift() : undefined;
    if (!oldest) continue;
    const deleted = await timed(result.deleteMs, () => send("DELETE", `${collection}/${oldest.name}`));
    if (deleted.status !== 200) failed(`delete ${oldest.name}`, deleted);
  }
  result.kept.push(...held);
}

interface Answer {
  status: number;
  text: string;
}

function failed(what: string, { status, text }: Answer): void {
  result.failures++;
  if (result.told.length < TOLD_MAX) result.told.push(`${what}: ${String(status)} ${text.slice(0, 300)}`);
}

async function timed<T>(latenciesMs: number[], call: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await call();
  } finally {
    latenciesMs.push(performance.now() - startedAt);
  }
}

function send(method: string, path: string, body = ""): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const outgoing = request(load.target.url + path, { method, agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
