/**
 * Agents that report and load balancers that check, as a process. It makes a Node for each agent, sends reports, and sends checks at their time. Or
 * it gives some Nodes the taint of the autoscaler, and checks them until each says so. Takes a HealthLoad on stdin and prints a HealthResult.
 */
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, type Load, runLoad } from "./load";

export interface HealthLoad {
  target: Target;
  connections: number;
  nodes: number;
  /** `taint`: `count` Nodes from `first` on */
  work:
    | { kind: "makeNodes" }
    | { kind: "report"; count: number; perSecond?: number }
    | { kind: "check"; count: number; perSecond: number }
    | { kind: "taint"; first: number; count: number };
}

export interface HealthResult {
  /** sorted, each since it was due */
  latenciesMs: number[];
  /** checks that were not answered with 200 */
  wrong: number;
  /** from the first taint sent to the first answer 503 of the last node; 0 = nothing was tainted */
  visibleMs: number;
}

const { target, connections, nodes, work } = givenLoad<HealthLoad>();
const head = requestHeads(target);
const nodeOf = (i: number): string => `node-${String(i % nodes)}`;
const run = (load: Omit<Load, "target" | "connections">) => runLoad({ target, connections, ...load });

function request(method: string, path: string, object: object, type = "application/json"): string {
  const body = JSON.stringify(object);
  return `${head(method, path, type)}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

function must(code: number): Load["onAnswer"] {
  return (i, status, body) => {
    if (status !== code) throw new Error(`${work.kind} of ${nodeOf(i)} was answered with ${String(status)} ${body}`);
  };
}

const checkOf = (i: number): string => `${head("GET", `/nodes/${nodeOf(i)}/healthz`)}\r\n`;

async function tainted(first: number, count: number): Promise<number> {
  const spec = { taints: [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }] };
  const startedAt = performance.now();
  await run({
    count,
    requestOf: (i) => request("PATCH", `/api/v1/nodes/${nodeOf(first + i)}`, { spec }, "application/merge-patch+json"),
    onAnswer: must(200),
  });
  let waiting = Array.from({ length: count }, (_, i) => first + i);
  while (waiting.length > 0) {
    const asked = waiting;
    const left: number[] = [];
    await run({
      count: asked.length,
      requestOf: (i) => checkOf(asked[i] ?? 0),
      onAnswer: (i, status) => {
        if (status !== 503) left.push(asked[i] ?? 0);
      },
    });
    waiting = left;
  }
  return performance.now() - startedAt;
}

let wrong = 0;

async function latencies(): Promise<Float64Array> {
  switch (work.kind) {
    case "makeNodes": {
      const requestOf = (i: number): string => request("POST", "/api/v1/nodes", { metadata: { name: nodeOf(i) } });
      return (await run({ count: nodes, requestOf, onAnswer: must(201) })).latenciesMs;
    }
    case "report": {
      const { count, perSecond } = work;
      const report = { IPv4: { appliedAgoMs: 1_000 }, IPv6: { appliedAgoMs: 1_000 } };
      const requestOf = (i: number): string => request("PUT", `/api/v1/nodes/${nodeOf(i)}/proxy-health`, report);
      return (await run({ count, perSecond, requestOf, onAnswer: must(200) })).latenciesMs;
    }
    case "check": {
      const { count, perSecond } = work;
      return (await run({ count, perSecond, requestOf: checkOf, onAnswer: (_, status) => (wrong += Number(status !== 200)) })).latenciesMs;
    }
    case "taint":
      return new Float64Array();
  }
}

const result: HealthResult = {
  latenciesMs: Array.from(await latencies()).sort((a, b) => a - b),
  wrong,
  visibleMs: work.kind === "taint" ? await tainted(work.first, work.count) : 0,
};
process.stdout.write(JSON.stringify(result));
