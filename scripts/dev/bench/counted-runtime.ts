/** What requests cost in the runtime itself: what the platform counts as written, and calls of objects, with everything that follows an answer. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Log, LogLevel, Miniflare, type WorkerOptions } from "miniflare";
import { bundle } from "../../serve/bundle";
import { readRuntimeConfig } from "../../serve/runtime";
import { type Admin, newAdmin } from "../../token/new-admin";

export interface Cost {
  rows: number;
  /** of the values in these rows */
  bytes: number;
  /** that objects keep beside their tables */
  values: number;
  /** that are set */
  alarms: number;
  /** of objects */
  calls: number;
  /** reads of the key-value store */
  keysRead: number;
  /** its writes, deletions and lists */
  keysWritten: number;
}

/** The sums since the start of the runtime. */
interface Counted extends Cost {
  /** calls that have not ended */
  underWay: number;
  /** that were called since the last question */
  objects: number;
}

const COUNTED: readonly (keyof Cost)[] = ["rows", "bytes", "values", "alarms", "calls", "keysRead", "keysWritten"];
/** What follows an answer has ended when nothing has moved for so many looks. */
const QUIET_LOOKS = 8;
const LOOK_MS = 50;
const LOOKS_MAX = 400;

/** Answers the JSON of the answer; throws unless the request succeeds. */
export type Send = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

const CONTENT_TYPES: Readonly<Record<string, string>> = { PATCH: "application/merge-patch+json" };

/** A Worker of its own that counts (test/support/objects/counted-writes-worker.ts). */
export class CountedRuntime {
  private constructor(
    private readonly runtime: Miniflare,
    private readonly admin: Admin | undefined,
    /** of workerd; undefined where the system does not show it */
    readonly pid: number | undefined,
  ) {}

  /** Runs `body` with an empty cluster. `hasAccess`: requests are an administrator's, and the controllers of access run. */
  static async with<T>(body: (runtime: CountedRuntime) => Promise<T>, { hasAccess = false } = {}): Promise<T> {
    const config = readRuntimeConfig("wrangler.toml", { AUTHORIZATION_MODE: hasAccess ? "Node,RBAC" : "AlwaysAllow" });
    const contents = bundle({ ...config, main: resolve("test/support/objects/counted-writes-worker.ts") }).text;
    const admin = hasAccess ? await newAdmin() : undefined;
    const { worker, name } = config;
    const bindings = {
      ...worker.bindings,
      AUDIT_POLICY: "writes=None,reads=None",
      LOG_LEVEL: "error",
      ...(admin && { ADMIN_TOKEN_HASHES: admin.hash }),
    };
    const before = workerdProcesses();
    const runtime = new Miniflare({
      cf: false,
      log: new Log(LogLevel.ERROR),
      workers: [{ ...worker, name, bindings, modules: [{ type: "ESModule", path: "index.js", contents }] } as WorkerOptions],
    });
    try {
      await runtime.ready;
      const pid = workerdProcesses().find((one) => !before.includes(one));
      const counted = new CountedRuntime(runtime, admin, pid);
      await counted.send("PUT", "/clusters/default", {});
      return await body(counted);
    } finally {
      await runtime.dispose();
    }
  }

  readonly send: Send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = {
      ...(this.admin && { Authorization: `Bearer ${this.admin.token}` }),
      ...(body && { "Content-Type": CONTENT_TYPES[method] ?? "application/json" }),
    };
    const answer = await this.runtime.dispatchFetch(`http://bench${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
    return (await answer.json()) as T;
  };

  /** One run of cron. */
  async tick(cron: string): Promise<void> {
    const worker = await this.runtime.getWorker();
    await worker.scheduled({ cron });
  }

  /** The cost of one of `times` calls of `work`, one after the other, and how many objects all of them called. */
  readonly costOf = async (times: number, work: (i: number) => Promise<unknown>): Promise<Cost & { objects: number }> => {
    const before = await this.quiet();
    for (let i = 0; i < times; i++) await work(i);
    const after = await this.quiet();
    const each = Object.fromEntries(COUNTED.map((of) => [of, (after[of] - before[of]) / times])) as Record<keyof Cost, number>;
    return { ...each, objects: after.objects };
  };

  /** How many calls of objects wait for one another before `work` is over: each begins later by `delayMs`, which `work` alone takes much less than. */
  async hopsOf(work: () => Promise<unknown>, delayMs = 250): Promise<number> {
    await this.quiet();
    await this.#counted(delayMs);
    const startedAt = performance.now();
    await work();
    const tookMs = performance.now() - startedAt;
    await this.#counted(0);
    await this.quiet();
    return Math.floor(tookMs / delayMs);
  }

  /** The sums, once everything has ended. Objects are those since the last call of this. */
  async quiet(): Promise<Counted> {
    let last = await this.#counted();
    let { objects } = last;
    for (let looks = 0, quietLooks = 0; quietLooks < QUIET_LOOKS; looks++) {
      if (looks > LOOKS_MAX) throw new Error("the objects do not come to rest");
      await new Promise((done) => setTimeout(done, LOOK_MS));
      const now = await this.#counted();
      quietLooks = now.underWay === 0 && COUNTED.every((of) => now[of] === last[of]) ? quietLooks + 1 : 0;
      objects = Math.max(objects, now.objects);
      last = now;
    }
    return { ...last, objects };
  }

  #counted(delayMs?: number): Promise<Counted> {
    return this.send("GET", `/counted${delayMs === undefined ? "" : `?delay=${String(delayMs)}`}`);
  }
}

/** Processes of workerd that this process has started. Linux only: elsewhere there are none. */
function workerdProcesses(): number[] {
  try {
    const children = readdirSync("/proc/self/task").flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
    );
    return children.filter((pid) => readFileSync(`/proc/${String(pid)}/comm`, "utf8").startsWith("workerd"));
  } catch {
    return [];
  }
}
