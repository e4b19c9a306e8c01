/** What the suites about watchers share: a Service that changes, and clients that watch it, each on a connection of its own. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../cluster/send";
import type { Target } from "../../cluster/target";
import { open, requestHeads } from "./connection";

const openMsMax = 30_000;
const NAME = "watched";
const CHANGE = '{"type":"MODIFIED"';
/** A piece of the response's body begins with the first event of a chunk. */
const CHUNK = `\r\n${CHANGE}`;

/**
 * Called for each change that a client sees.
 *
 * @param change its number, from 0
 * @param at when it came, by `performance.now()`
 * @param beginsChunk whether it is the first event of a chunk of the response
 */
export type Arrival = (change: number, at: number, beginsChunk: boolean) => void;

export class WatchedService {
  /** `collection`: path of the Services of a namespace that has no others, or few */
  constructor(
    private readonly target: Target,
    private readonly collection: string,
  ) {}

  create(): Promise<void> {
    return this.#send("POST", "", { metadata: { name: NAME }, spec: { ports: [{ port: 80 }] } });
  }

  /** Changes the Service to one of at least `chars` characters. `number`: another one each time. */
  change(number: number, chars: number): Promise<void> {
    return this.#send("PATCH", `/${NAME}`, { metadata: { annotations: { pad: `${String(number)} `.padEnd(chars, "x") } } });
  }

  delete(): Promise<void> {
    return this.#send("DELETE", `/${NAME}`);
  }

  /** Opens as many watches; resolves when each has its first bytes. `arrivals` makes what hears of the changes of the i-th. */
  watch(count: number, arrivals: (i: number) => Arrival): Promise<Socket[]> {
    const late = sleep(openMsMax, undefined, { ref: false }).then(() => {
      throw new Error("the watches did not open");
    });
    return Promise.race([Promise.all(Array.from({ length: count }, (_, i) => this.#watchOnce(arrivals(i)))), late]);
  }

  async #watchOnce(arrived: Arrival): Promise<Socket> {
    const socket = await open(this.target);
    let change = 0;
    let tail = "";
    await new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.once("data", (piece) => {
        const line = piece.toString("latin1").split("\r\n", 1)[0] ?? "";
        if (line.startsWith("HTTP/1.1 200 ")) resolve();
        else reject(new Error(`a watch was answered with ${line}`));
      });
      socket.on("data", (piece) => {
        const now = performance.now();
        const text = tail + piece.toString("latin1");
        for (let at = text.indexOf(CHANGE); at >= 0; at = text.indexOf(CHANGE, at + 1)) {
          arrived(change++, now, text.startsWith("\r\n", at - 2));
        }
        tail = text.slice(-(CHUNK.length - 1));
        const counted = tail.indexOf(CHANGE);
        if (counted >= 0) tail = tail.slice(counted + 1);
      });
      socket.write(`${requestHeads(this.target)("GET", `${this.collection}?watch=true`)}\r\n`);
    });
    return socket;
  }

  async #send(method: string, path: string, body?: object): Promise<void> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const { status, text } = await send(this.target, method, this.collection + path, body, type);
    if (status >= 300) throw new Error(`${method} ${this.collection}${path}: ${String(status)} ${text}`);
  }
}
