/** Writes of JSON objects over connections that are kept: what `fetch` of a hundred clients would take of the machine goes to the server. */
import { requestHeads } from "./connection";
import { runLoad } from "./load-processes/load";
import { type LoadedServer, targetOf } from "./started";

export interface JsonWrites {
  method: string;
  count: number;
  connections: number;
  /** that each is answered with */
  code: number;
}

/** How many a second are answered. Rejects at the first other answer. */
export async function writesPerSecond(
  server: LoadedServer,
  { method, count, connections, code }: JsonWrites,
  requestOf: (i: number) => [path: string, body: object],
): Promise<number> {
  const target = targetOf(server);
  const heads = requestHeads(target);
  const { elapsedMs } = await runLoad({
    ...{ target, count, connections },
    requestOf(i) {
      const [path, body] = requestOf(i);
      const text = JSON.stringify(body);
      return `${heads(method, path, "application/json")}Content-Length: ${String(text.length)}\r\n\r\n${text}`;
    },
    onAnswer(i, status, body) {
      if (status !== code) throw new Error(`${method} ${requestOf(i)[0]}: ${String(status)} ${body}`);
    },
  });
  return count / (elapsedMs / 1_000);
}
