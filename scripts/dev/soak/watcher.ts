/**
 * One client that watches a collection over HTTP for as long as the run lasts. It goes on from its last revision whenever a watch ends, and reads its events
 * no further than the ledger needs. It may take nothing for a while, or begin with all objects again and again.
 */
import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { WordRandom } from "../../../src/core/base/word-random";
import { type Ledger, Objects, type SeenChange, type Selection, type Stretch } from "./ledger";

/** Between two watches, in milliseconds; up to twice as long. */
const REOPEN_MS = 100;
/** A watcher that rests takes nothing for so long, in milliseconds; up to twice as long. */
const REST_MS = 2_000;
/** So often, in milliseconds; up to twice as often. */
const REST_EVERY_MS = 8_000;
/** In front of it stand the members that the ledger needs. */
const HEAD_CHARS = 1_000;

export interface WatcherSetting {
  name: string;
  path: string;
  ledger: Ledger;
  selection: Selection;
  random: WordRandom;
  /** asked for at each watch: the server may have been started again */
  url(): string;
  /** Each watch ends after this time, up to twice as long. */
  lifetimeSeconds: number;
  /** Each watch begins with all objects. */
  anew: boolean;
  /** It takes nothing from time to time. */
  rests: boolean;
}

export interface WatcherCounts {
  events: number;
  watches: number;
  /** the history was lost: 410 */
  expired: number;
  /** answers of 429 and 5xx */
  refused: number;
  /** connections that broke off */
  broken: number;
}

interface Line {
  type: SeenChange["type"] | "BOOKMARK" | "ERROR";
  object: { code?: number; metadata?: { name?: string; uid?: string; resourceVersion?: string; annotations?: Record<string, string> } };
}

export class Watcher {
  readonly counts: WatcherCounts = { events: 0, watches: 0, expired: 0, refused: 0, broken: 0 };
  readonly problems: string[] = [];
  /** undefined = it has to begin with all objects */
  stretch: Stretch | undefined;
  readonly #setting: WatcherSetting;
  readonly #stopped = new AbortController();
  #isStopped = false;
  #objects: Objects | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(setting: WatcherSetting) {
    this.#setting = setting;
  }

  /** Its first watch goes on from there. */
  beginAfter(revision: number): void {
    const { name: watcher, selection } = this.#setting;
    this.stretch = { watcher, selection, after: revision, through: revision, count: 0 };
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { random } = this.#setting;
    while (!this.#isStopped) {
      try {
        await this.#watch();
      } catch {
        if (!this.#isStopped) this.counts.broken++;
      }
      if (this.#setting.anew) this.#leave();
      if (!this.#isStopped)
        await sleep(REOPEN_MS * (1 + random.next()), undefined, { signal: this.#stopped.signal }).catch(() => undefined);
    }
  }

  async #watch(): Promise<void> {
    const { name, path, ledger, selection, random, lifetimeSeconds } = this.#setting;
    this.counts.watches++;
    this.#objects = this.stretch ? undefined : new Objects();
    if (this.#objects) ledger.begins(name);
    const query = new URLSearchParams({
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(Math.ceil(lifetimeSeconds * (1 + random.next()))),
      ...(selection.labelSelector === "" ? {} : { labelSelector: selection.labelSelector }),
      ...(this.stretch
        ? { resourceVersion: String(this.stretch.through) }
        : { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" }),
    });
    const response = await this.#ask(`${path}?${query.toString()}`);
    const { statusCode = 0 } = response;
    if (statusCode !== 200) {
      response.resume();
      return this.#refused(statusCode);
    }
    response.setEncoding("utf8");
    let rest = "";
    let restsAt = Date.now() + REST_EVERY_MS * (1 + random.next());
    for await (const piece of response) {
      const lines = (rest + (piece as string)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (!this.#take(line)) return void response.destroy();
      if (!this.#setting.rests || Date.now() < restsAt) continue;
      await sleep(REST_MS * (1 + random.next()), undefined, { signal: this.#stopped.signal });
      restsAt = Date.now() + REST_EVERY_MS * (1 + random.next());
    }
    // Blanks are the server's probes.
    if (rest.trim() !== "") this.#wrong(`a watch ended within an event: ${rest.slice(0, HEAD_CHARS)}`);
  }

  #ask(path: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(this.#setting.url() + path, { agent: false, signal: this.#stopped.signal }, resolve).on("error", reject);
    });
  }

  /** False: the watch is of no use any more. */
  #take(line: string): boolean {
    const { ledger, name: watcher, selection } = this.#setting;
    const { type, object } = readLine(line);
    if (type === "ERROR") {
      this.#refused(object.code ?? 0);
      return false;
    }
    const { name = "", uid = "", resourceVersion = "", annotations } = object.metadata ?? {};
    const revision = Number(resourceVersion);
    if (this.#objects) {
      if (type === "ADDED") this.#objects.add(revision);
      else if (type !== "BOOKMARK" || annotations?.["k8s.io/initial-events-end"] !== "true") this.#wrong(`${type} among the first objects`);
      else {
        ledger.told({ watcher, selection, revision, objects: this.#objects });
        this.#objects = undefined;
        this.beginAfter(revision);
      }
      return true;
    }
    const { stretch } = this;
    if (!stretch) return false;
    if (type === "BOOKMARK" ? revision < stretch.through : revision <= stretch.through) {
      this.#wrong(`${type} ${name}@${resourceVersion} after ${String(stretch.through)}`);
      return true;
    }
    if (type !== "BOOKMARK") {
      this.counts.events++;
      stretch.count++;
      if (!selection.matches(name)) this.#wrong(`it was told of ${name}, which it did not ask for`);
      ledger.note(watcher, { type, name, uid, revision });
    }
    stretch.through = revision;
    if (selection.labelSelector === "") ledger.reached(revision);
    return true;
  }

  #refused(code: number): void {
    if (code === 410) {
      this.counts.expired++;
      this.#leave();
    } else if (code === 429 || code >= 500) this.counts.refused++;
    else this.#wrong(`a watch was refused with ${String(code)}`);
  }

  /** Its next watch begins with all objects. */
  #leave(): void {
    if (this.stretch) this.#setting.ledger.ended(this.stretch);
    this.stretch = undefined;
  }

  #wrong(problem: string): void {
    this.problems.push(`${this.#setting.name}: ${problem}`);
  }
}

const CHANGE =
  /^ *\{"type":"(ADDED|MODIFIED|DELETED)","object":\{[^{}]*"metadata":\{"name":"([^"]*)",(?:"generateName":"[^"]*",)?(?:"namespace":"[^"]*",)?"uid":"([^"]*)","resourceVersion":"(\d+)"/;

/** Of a change the first members, which say enough; whatever has another form is parsed. */
function readLine(line: string): Line {
  const [, type, name = "", uid = "", resourceVersion = ""] = CHANGE.exec(line.slice(0, HEAD_CHARS)) ?? [];
  if (type === undefined) return JSON.parse(line) as Line;
  return { type: type as SeenChange["type"], object: { metadata: { name, uid, resourceVersion } } };
}
