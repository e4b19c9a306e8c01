/** Many clients that watch one collection, each on a connection of its own. They count events by the ends of their lines and read nothing else. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "../../cluster/target";
import { open, requestHeads } from "./connection";

const OPEN_MS_MAX = 60_000;
const POLL_MS = 5;
/** No JSON text of an event holds a line's end, and those of chunks follow another character. */
const LINE_END = Buffer.from("}\n");

export interface Watcher {
  readonly socket: Socket;
  events: number;
  /** when the last event was whole, by `performance.now()` */
  lastAt: number;
  /** The server ended the watch, or the connection is gone. */
  isOver: boolean;
}

/** Opens as many watches; resolves when each has the head of its answer. `path` with its query. */
export function watchersOf(target: Target, path: string, count: number): Promise<Watcher[]> {
  const late = sleep(OPEN_MS_MAX, undefined, { ref: false }).then(() => {
    throw new Error("the watches did not open");
  });
  return Promise.race([Promise.all(Array.from({ length: count }, () => watcherOf(target, path))), late]);
}

async function watcherOf(target: Target, path: string): Promise<Watcher> {
  const socket = await open(target);
  const watcher: Watcher = { socket, events: 0, lastAt: NaN, isOver: false };
  const count = new EventCount();
  await new Promise<void>((resolve, reject) => {
    const over = (): void => void (watcher.isOver = true);
    socket.on("error", over).on("close", over);
    socket.once("data", (piece) => {
      const [line = ""] = piece.toString("latin1").split("\r\n", 1);
      if (line.startsWith("HTTP/1.1 200 ")) resolve();
      else reject(new Error(`a watch was answered with ${line}`));
    });
    socket.on("data", (piece) => {
      const events = count.take(piece);
      if (events > 0) watcher.lastAt = performance.now();
      watcher.events += events;
      // the last chunk: a proper end
      if (piece.length === 5 && piece.toString("latin1") === "0\r\n\r\n") watcher.isOver = true;
    });
    socket.write(`${requestHeads(target)("GET", path)}\r\n`);
  });
  return watcher;
}

/** Counts the events in the pieces of one answer. */
export class EventCount {
  /** of the piece before */
  #last = 0;

  /** Answers how many events end in the piece. */
  take(piece: Buffer): number {
    let events = this.#last === LINE_END[0] && piece[0] === LINE_END[1] ? 1 : 0;
    for (let at = piece.indexOf(LINE_END); at >= 0; at = piece.indexOf(LINE_END, at + LINE_END.length)) events++;
    this.#last = piece.at(-1) ?? this.#last;
    return events;
  }
}

/** Resolves when each watcher has so many events or is over; throws when that takes too long. */
export async function haveEvents(watchers: readonly Watcher[], events: number, msMax: number): Promise<void> {
  const deadline = performance.now() + msMax;
  while (watchers.some((watcher) => watcher.events < events && !watcher.isOver)) {
    if (performance.now() > deadline) {
      const without = watchers.filter((watcher) => watcher.events < events);
      throw new Error(`${String(without.length)} watchers are without all of ${String(events)} events`);
    }
    await sleep(POLL_MS);
  }
}

/** Resolves when nothing has come for so long. */
export async function quiet(watcher: Watcher, ms: number): Promise<void> {
  for (let before = -1; before !== watcher.events;) {
    before = watcher.events;
    await sleep(ms);
  }
}

export function closeAll(watchers: readonly Watcher[]): void {
  for (const { socket } of watchers) socket.destroy();
}
