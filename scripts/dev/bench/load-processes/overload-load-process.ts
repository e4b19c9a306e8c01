/**
 * The load generator of the overload figures, in a process of its own: creates Services as a TimedLoad on stdin says. Prints a
 * TimedLoadResult. Unlike the other generators it accepts refusals (429).
 */
import type { Socket } from "node:net";
import type { Target } from "../../../cluster/target";
import { open, requestHeads, RESTING_MS_MAX } from "../connection";
import { AnswerReader, givenLoad } from "./load";

export interface TimedLoad {
  target: Target;
  /** the cluster whose namespace `default` they go to */
  cluster: string;
  /** names are `<prefix>-<number>` */
  prefix: string;
  connections: number;
  seconds: number;
  /**
   * requests arrive at this rate, whatever the answers; a request without a free connection is not sent. Without a rate each connection sends its
   * next request after the answer, and a refused one again after Retry-After
   */
  arrivalsPerSecond?: number;
}

export interface TimedLoadResult {
  /** created Services by second */
  created: number[];
  /** requests answered with 429, by second */
  refused: number[];
  /** arrivals that found no connection free */
  unsent: number;
  /** requests whose connection ended before their answer */
  cut: number;
  /** of the created ones, sorted */
  latenciesMs: number[];
}

const ARRIVAL_INTERVAL_MS = 5;

const load = givenLoad<TimedLoad>();
const head = requestHeads(load.target)("POST", `/clusters/${load.cluster}/api/v1/namespaces/default/services`, "application/json");
const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.target)));
const result: TimedLoadResult = { created: [], refused: [], unsent: 0, cut: 0, latenciesMs: [] };
const startedAt = performance.now();
const endsAt = startedAt + load.seconds * 1000;
let serial = 0;
let underWay = 0;
let finish: () => void = () => undefined;
const finished = new Promise<void>((resolve) => (finish = resolve));

/**
 * One connection: sends requests and calls back with the seconds to wait (0 = created, or unknown). It is opened anew for a request that comes after a
 * long rest.
 */
class Client {
  readonly #reader = new AnswerReader();
  #socket: Socket | undefined;
  #restsSince = startedAt;
  #sentAt = 0;
  #answered: ((waitSeconds: number) => void) | undefined;

  constructor(socket: Socket) {
    this.#use(socket);
  }

  create(answered: (waitSeconds: number) => void): void {
    underWay++;
    this.#answered = answered;
    if (performance.now() - this.#restsSince > RESTING_MS_MAX) this.#leave();
    if (this.#socket) this.#send(this.#socket);
    else open(load.target).then((socket) => this.#send(this.#use(socket)), fail);
  }

  #use(socket: Socket): Socket {
    this.#socket = socket;
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (this.#socket === socket) this.#closed();
    });
    socket.on("data", (chunk) => {
      if (this.#reader.push(chunk)) this.#take();
    });
    return socket;
  }

  #leave(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #send(socket: Socket): void {
    this.#sentAt = performance.now();
    const name = `${load.prefix}-${String(serial++)}`;
    const body = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}"},"spec":{"selector":{"app":"${name}"},"ports":[{"port":80,"protocol":"TCP"}]}}`;
    socket.write(`${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`, "latin1");
  }

  #closed(): void {
    this.#socket = undefined;
    this.#reader.reset();
    if (!this.#answered) return;
    result.cut++;
    this.#end(0);
  }

  #take(): void {
    const { status, body } = this.#reader;
    this.#reader.reset();
    const now = (this.#restsSince = performance.now());
    const second = Math.floor((now - startedAt) / 1000);
    const by = status === 201 ? result.created : result.refused;
    by[second] = (by[second] ?? 0) + 1;
    if (status === 201) result.latenciesMs.push(now - this.#sentAt);
    else if (status !== 429 || !body.includes('"retryAfterSeconds":1}')) fail(new Error(`${String(status)} ${body}`));
    this.#end(status === 201 ? 0 : 1);
  }

  #end(waitSeconds: number): void {
    const answered = this.#answered;
    this.#answered = undefined;
    underWay--;
    answered?.(waitSeconds);
    if (underWay === 0 && performance.now() >= endsAt) finish();
  }
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}

function closedLoop(clients: readonly Client[]): void {
  for (const client of clients) {
    const next = (waitSeconds: number): void => {
      if (performance.now() >= endsAt) return;
      if (waitSeconds > 0) setTimeout(() => next(0), waitSeconds * 1000);
      else client.create(next);
    };
    next(0);
  }
}

function openArrivals(clients: readonly Client[], perSecond: number): void {
  const free = [...clients];
  let arrived = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const due = Math.floor(((Math.min(now, endsAt) - startedAt) / 1000) * perSecond);
    for (; arrived < due; arrived++) {
      const client = free.shift();
      if (client) client.create(() => free.push(client));
      else result.unsent++;
    }
    if (now >= endsAt) clearInterval(timer);
  }, ARRIVAL_INTERVAL_MS);
}

const clients = sockets.map((socket) => new Client(socket));
if (load.arrivalsPerSecond === undefined) closedLoop(clients);
else openArrivals(clients, load.arrivalsPerSecond);
// Clients that wait at the end of the time send nothing more.
setTimeout(
  () => {
    if (underWay === 0) finish();
  },
  load.seconds * 1000 + ARRIVAL_INTERVAL_MS * 2,
);
await finished;
const filled = (counts: number[]) => Array.from({ length: Math.max(load.seconds, counts.length) }, (_, second) => counts[second] ?? 0);
result.created = filled(result.created);
result.refused = filled(result.refused);
result.latenciesMs.sort((a, b) => a - b);
process.stdout.write(JSON.stringify(result), () => process.exit(0));
