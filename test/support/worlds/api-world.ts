/**
 * API servers with real stores in virtual time, for clients of the API: a network in front that is slow and loses what it carries, a server that dies,
 * processes that pause, sleep and die, and whose clocks are apart.
 */
import type { FetchAnswer } from "../../../src/api/client/fetch-like";
import { notFound, succeeded } from "../../../src/api/meta/status";
import { apiVersionOf, spliceTypeMeta, typeHead } from "../../../src/api/meta/type-meta";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { DeleteOptionsRequest, GetResult, Subresource, WriteResult } from "../../../src/api/rpc/store";
import { listPage } from "../../../src/api/store/list/list-page";
import { readList } from "../values/list-body";
import { startWatch } from "../../../src/api/store/watch/watch-start";
import type { WatchSink } from "../../../src/api/store/hub/watch-hub";
import type { SendLike, Sent } from "../../../src/clients/elector/send-like";
import type { ElectorClock } from "../../../src/clients/elector/term";
import { parseReport, type Report } from "../../../src/proxy-health/report";
import { SimScheduler } from "../sim/platform/scheduler";
import { collectionRequest, DELETE, StoreWorld, WRITE } from "./store-world";

const PATH = /^\/(?:api|apis\/([^/]+))\/v1(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/;

/** What a path names. */
interface Asked {
  world: StoreWorld;
  group: string;
  namespace: string;
  /** "" = the collection */
  name: string;
  /** or a report */
  subresource: string;
}

export class ApiWorld {
  readonly scheduler = new SimScheduler();
  /** methods of the requests for one object that arrived */
  readonly asked: string[] = [];
  /** what nodes have said about their proxies, oldest first */
  readonly reports: { node: string; report: Report; atMs: number }[] = [];
  /** Answers of a server that refuses, in place of its own; undefined = it does not. */
  refuse: (path: string, method: string) => number | undefined = () => undefined;
  readonly #stores = new Map<string, StoreWorld>();
  #isDown = false;
  readonly #watches = new Set<ServedWatch>();

  constructor(definitions: readonly ResourceDefinition[]) {
    for (const definition of definitions) {
      this.#stores.set(definition.resource, new StoreWorld({ definition, scheduler: this.scheduler }));
    }
  }

  /** The store of a resource of this world. */
  store(resource: string): StoreWorld {
    const world = this.#stores.get(resource);
    if (!world) throw new Error(`no ${resource} here`);
    return world;
  }

  /** kill -9 of the server: what is under way is never answered, watches break. */
  stopServer(): void {
    this.#isDown = true;
    for (const world of this.#stores.values()) world.restart();
    for (const watch of this.#watches) watch.abort();
    this.#watches.clear();
  }

  startServer(): void {
    this.#isDown = false;
  }

  async answer(path: string, init: Sent): Promise<FetchAnswer> {
    if (this.#isDown) throw new Error("connection refused");
    const { method = "GET", body = "" } = init;
    const { pathname, searchParams } = new URL(path, "http://h");
    const refused = this.refuse(path, method);
    if (refused !== undefined) return answerOf(refused, JSON.stringify({ kind: "Status", code: refused, message: "refused" }));
    const asked = this.#askedBy(pathname);
    if (asked.name === "" && method === "GET")
      return searchParams.has("watch") ? this.#watch(asked, searchParams) : this.#list(asked, searchParams);
    this.asked.push(method);
    if (asked.subresource === "proxy-health") return this.#report(asked, body);
    return resultOf(asked.world.definition, method === "GET" ? this.#get(asked) : await this.#write(asked, init, body));
  }

  #askedBy(path: string): Asked {
    const [, group = "", namespace = "", resource = "", name = "", subresource = ""] = PATH.exec(path) ?? [];
    return { world: this.store(resource), group, namespace, name, subresource };
  }

  #get({ world, namespace, name }: Asked): GetResult {
    return world.store.get({ namespace, name }, "");
  }

  #write({ world, group, namespace, name, subresource }: Asked, { method }: Sent, body: string): Promise<WriteResult> {
    const options = { ...WRITE, group };
    const key = { namespace, name };
    const of = subresource as Subresource;
    if (method === "POST") return world.store.write({ verb: "create", namespace, object: body, options });
    if (method === "PUT") return world.store.write({ verb: "update", key, subresource: of, object: body, options });
    if (method === "PATCH") return world.store.write({ verb: "patch", key, subresource: of, patchType: "merge", patch: body, options });
    return world.store.write({
      verb: "delete",
      key,
      options: { ...DELETE, ...(JSON.parse(body || "{}") as Partial<DeleteOptionsRequest>) },
    });
  }

  #report({ world, namespace, name }: Asked, body: string): FetchAnswer {
    const report = parseReport(JSON.parse(body) as never);
    if (!report.ok) return answerOf(422, JSON.stringify(report.error));
    if (!world.store.get({ namespace, name }, "").ok) return answerOf(404, JSON.stringify(notFound(world.definition, name)));
    this.reports.push({ node: name, report: report.value, atMs: this.scheduler.now });
    return answerOf(200, JSON.stringify(succeeded(200, "the report is kept")));
  }

  #list({ world, namespace }: Asked, query: URLSearchParams): FetchAnswer {
    const request = collectionRequest(world.definition, { namespace, fieldSelector: query.get("fieldSelector") ?? "" });
    const page = listPage(world.store, request, world.definition);
    if (!page.ok) return answerOf(page.error.code ?? 500, JSON.stringify(page.error));
    return answerOf(200, JSON.stringify(readList(page.value)));
  }

  #watch({ world, namespace }: Asked, query: URLSearchParams): FetchAnswer {
    const watch = new ServedWatch();
    const request = collectionRequest(world.definition, {
      verb: "watch",
      namespace,
      resourceVersion: query.get("resourceVersion") ?? "",
      fieldSelector: query.get("fieldSelector") ?? "",
      timeoutSeconds: Number(query.get("timeoutSeconds") ?? 0),
      allowWatchBookmarks: query.get("allowWatchBookmarks") === "true",
    });
    const started = startWatch(world.store, request, world.definition, watch);
    if (!started.ok) return answerOf(started.error.code ?? 410, JSON.stringify(started.error));
    this.#watches.add(watch);
    return { status: 200, text: () => Promise.resolve(""), body: watch.body() };
  }
}

function resultOf({ kind, group }: ResourceDefinition, result: GetResult | WriteResult): FetchAnswer {
  if (result.ok) {
    return answerOf("code" in result ? result.code : 200, spliceTypeMeta(typeHead(kind, apiVersionOf(group, "v1")), result.object));
  }
  return answerOf(result.status.code ?? 500, JSON.stringify(result.status));
}

function answerOf(status: number, text: string): FetchAnswer {
  return { status, text: () => Promise.resolve(text), body: null };
}

class ServedWatch implements WatchSink {
  #chunks: string[] = [];
  #state: "open" | "ended" | "aborted" = "open";
  #more: () => void = () => undefined;

  write(bytes: Uint8Array): void {
    this.#chunks.push(new TextDecoder().decode(bytes));
    this.#more();
  }

  backlogBytes(): number {
    return 0;
  }

  end(): void {
    this.#state = "ended";
    this.#more();
  }

  abort(): void {
    this.#state = "aborted";
    this.#more();
  }

  probe(): void {
    // Every client is there.
  }

  async *body(): AsyncGenerator<string> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#state === "ended") return;
      else if (this.#state === "aborted") throw new Error("connection reset");
      else await new Promise<void>((resolve) => (this.#more = resolve));
    }
  }
}

export interface ProcessSetting {
  /** of each way, in milliseconds */
  latencyMs?: number;
  /** of its wall clock */
  aheadMs?: number;
  /** Whether a request, or its answer, is lost on the way. A watch of which something is lost is mute from then on. */
  isLost?: (init: Sent, what: "request" | "answer", path: string) => boolean;
}

/** A process as its operating system sees it: it hears of timers and answers only while it runs. */
export class SimProcess {
  latencyMs: number;
  isLost: NonNullable<ProcessSetting["isLost"]>;
  readonly clock: ElectorClock;
  #state: "running" | "paused" | "dead" = "running";
  /** how long its machine has slept before */
  #sleptMs = 0;
  /** since when its machine sleeps */
  #asleepMs: number | undefined;
  readonly #held: (() => void)[] = [];

  constructor(
    private readonly world: ApiWorld,
    { latencyMs = 1, aheadMs = 0, isLost = () => false }: ProcessSetting = {},
  ) {
    const { scheduler } = world;
    this.latencyMs = latencyMs;
    this.isLost = isLost;
    this.clock = {
      now: () => scheduler.now + aheadMs,
      steady: () => this.#steady(),
      after: (ms, work) => this.#after(ms, work),
    };
  }

  get isDead(): boolean {
    return this.#state === "dead";
  }

  /** SIGSTOP */
  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  /** A laptop that is closed: its steady clock and its timers stand still until `resume`. */
  sleep(): void {
    if (this.#state !== "running") return;
    this.pause();
    this.#asleepMs = this.world.scheduler.now;
  }

  /** SIGCONT, or a laptop that is opened: what was due meanwhile happens now. */
  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    const { now } = this.world.scheduler;
    this.#sleptMs += now - (this.#asleepMs ?? now);
    this.#asleepMs = undefined;
    for (const work of this.#held.splice(0)) work();
  }

  /** kill -9: what it has sent arrives all the same. */
  kill(): void {
    this.#state = "dead";
    this.#held.length = 0;
  }

  readonly send: SendLike = (path, init) =>
    unlessAborted(init.signal, (resolve, reject) => {
      const { scheduler } = this.world;
      if (this.isDead) return;
      scheduler.after(this.latencyMs, () => {
        if (this.isLost(init, "request", path)) return;
        const answered = this.world.answer(path, init);
        answered.then(
          (answer) =>
            scheduler.after(
              this.latencyMs,
              () => !this.isLost(init, "answer", path) && this.#run(() => resolve(this.#heard(answer, path, init))),
            ),
          (error: Error) => scheduler.after(this.latencyMs, () => this.#run(() => reject(error))),
        );
      });
    });

  /** A body whose chunks, and whose end, take their time and reach a process that runs. */
  #heard(answer: FetchAnswer, path: string, init: Sent): FetchAnswer {
    const { body } = answer;
    if (!body || !(Symbol.asyncIterator in body)) return answer;
    const chunks = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
    const next = (): Promise<IteratorResult<string>> =>
      unlessAborted(init.signal, (resolve, reject) => {
        const arrives = (work: () => void): void =>
          void this.world.scheduler.after(this.latencyMs, () => this.isLost(init, "answer", path) || this.#run(work));
        chunks.next().then(
          (chunk) => arrives(() => resolve(chunk)),
          (error: Error) => arrives(() => reject(error)),
        );
      });
    return { ...answer, body: { [Symbol.asyncIterator]: () => ({ next }) } };
  }

  #steady(): number {
    return (this.#asleepMs ?? this.world.scheduler.now) - this.#sleptMs;
  }

  #after(ms: number, work: () => void): () => void {
    const dueMs = this.#steady() + Math.max(0, ms);
    let isCancelled = false;
    const arm = (): void => void this.world.scheduler.after(dueMs - this.#steady(), () => this.#run(ring));
    const ring = (): void => {
      if (isCancelled) return;
      if (this.#steady() < dueMs) arm();
      else work();
    };
    arm();
    return () => (isCancelled = true);
  }

  #run(work: () => void): void {
    if (this.#state === "running") work();
    else if (this.#state === "paused") this.#held.push(work);
  }
}

/** As `new Promise`; an abort rejects as well. One signal serves many requests, so each takes its listener away again. */
function unlessAborted<T>(signal: Sent["signal"], work: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Error("aborted"));
    const settling =
      <A>(settle: (value: A) => void) =>
      (value: A): void => {
        signal.removeEventListener("abort", abort);
        settle(value);
      };
    signal.addEventListener("abort", abort);
    work(settling(resolve), settling(reject));
  });
}
