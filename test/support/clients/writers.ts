/** Many clients that create Services at once, each over a connection of its own, until they are done or the server is gone. */
import { Agent, request } from "node:http";
import type { ObservedService } from "../../../src/tools/check/observed";

export interface Writers {
  /** Resolves after this many answers 201. */
  acknowledgedAtLeast(count: number): Promise<void>;
  /** the Services of all 201 answers that arrived whole */
  finished: Promise<ObservedService[]>;
}

/** `total` bounds the creates (unbounded: until the connection breaks). An answer other than 201 is an error. */
export function createUntilCut(
  url: string,
  { concurrent, prefix, total = Infinity }: { concurrent: number; prefix: string; total?: number },
): Writers {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrent });
  const acknowledged: ObservedService[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let next = 0;
  let failure: Error | undefined;
  const write = async () => {
    while (next < total && !failure) {
      const answer = await create(agent, url, `${prefix}-${String(next++)}`);
      if (answer === undefined) return;
      if (answer.code !== 201) failure = new Error(`create: ${String(answer.code)} ${answer.body}`);
      else acknowledged.push(JSON.parse(answer.body) as ObservedService);
      for (const waiter of waiting) if (acknowledged.length >= waiter.count || failure) waiter.resolve();
    }
  };
  const finished = Promise.all(Array.from({ length: concurrent }, write)).then(() => {
    agent.destroy();
    for (const waiter of waiting) waiter.resolve();
    if (failure) throw failure;
    return acknowledged;
  });
  finished.catch(() => undefined);
  return {
    finished,
    acknowledgedAtLeast: (count) => new Promise((resolve) => waiting.push({ count, resolve })),
  };
}

/** Code and body of a create; undefined: the connection broke before the whole answer came. */
function create(agent: Agent, url: string, name: string): Promise<{ code: number; body: string } | undefined> {
  const body = JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, protocol: "TCP" }] },
  });
  return new Promise((resolve) => {
    const outgoing = request(
      `${url}/api/v1/namespaces/default/services`,
      { method: "POST", agent, headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve(response.complete ? { code: response.statusCode ?? 0, body: text } : undefined));
        response.on("error", () => resolve(undefined));
      },
    );
    outgoing.on("error", () => resolve(undefined));
    outgoing.end(body);
  });
}
