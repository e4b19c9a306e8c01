/**
 * Electors against the real stores of Leases and ConfigMaps in virtual time: an API server with a network in front that is slow, loses what it
 * carries, and dies; processes that pause, die, and whose clocks are apart.
 */
import type { Answer } from "../../../src/api/client/fetch-like";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../src/api/registry/config-maps/definition";
import { leasesDefinition } from "../../../src/api/registry/leases/definition";
import { startWatch } from "../../../src/api/store/watch-start";
import type { WatchSink } from "../../../src/api/store/watch-hub";
import type { SendLike, Sent } from "../../../src/leases/client/send-like";
import type { ElectorClock } from "../../../src/leases/client/term";
import { SimScheduler } from "../sim/scheduler";
import { collectionRequest, StoreWorld, WRITE } from "./store-world";

const CONFIG_MAP = { ...WRITE, group: "" };

export class ElectionWorld {
  readonly scheduler = new SimScheduler();
  readonly leases = new StoreWorld({ definition: leasesDefinition, scheduler: this.scheduler });
  readonly configMaps = new StoreWorld({ definition: configMapsDefinition, scheduler: this.scheduler });
  /** method and path of the requests that arrived, lists and watches left out */
  readonly asked: string[] = [];
  #isDown = false;
  readonly #watches = new Set<ServedWatch>();

  /** kill -9 of the server: what is under way is never answered, watches break. */
  stopServer(): void {
    this.#isDown = true;
    for (const world of [this.leases, this.configMaps]) world.restart();
    for (const watch of this.#watches) watch.abort();
    this.#watches.clear();
  }

  startServer(): void {
    this.#isDown = false;
  }

  async answer(path: string, init: Sent): Promise<Answer> {
    if (this.#isDown) throw new Error("connection refused");
    const world = path.includes("/leases") ? this.leases : this.configMaps;
    const { pathname, searchParams } = new URL(path, "http://h");
    const [collection = "", name] = pathname.split(/(?<=\/(?:leases|configmaps))\/?/);
    if (name === undefined || name === "") {
      if (init.method === "POST") return this.#write(world, "POST", collection, init.body ?? "");
      return searchParams.has("watch") ? this.#watch(world, searchParams) : this.#list(world, searchParams);
    }
    if (init.method === "PUT") return this.#write(world, "PUT", name, init.body ?? "");
    this.asked.push("GET");
    const found = world.store.get({ namespace: "ns", name }, "");
    return found.ok ? answerOf(200, found.object) : answerOf(found.status.code ?? 404, JSON.stringify(found.status));
  }

  async #write(world: StoreWorld, method: "POST" | "PUT", name: string, object: string): Promise<Answer> {
    this.asked.push(method);
    const options = world === this.leases ? WRITE : CONFIG_MAP;
    const result = await world.store.write(
      method === "POST"
        ? { verb: "create", namespace: "ns", object, options }
        : { verb: "update", key: { namespace: "ns", name }, subresource: "", object, options },
    );
    return result.ok ? answerOf(result.code, result.object) : answerOf(result.status.code ?? 500, JSON.stringify(result.status));
  }

  #list(world: StoreWorld, query: URLSearchParams): Answer {
    const name = (query.get("fieldSelector") ?? "").replace("metadata.name=", "");
    const object = world.stored<KubeObject>(name);
    const metadata = { resourceVersion: String(world.store.revision) };
    return answerOf(200, JSON.stringify({ metadata, items: object ? [object] : [] }));
  }

  #watch(world: StoreWorld, query: URLSearchParams): Answer {
    const watch = new ServedWatch();
    const request = collectionRequest(world.definition, {
      verb: "watch",
      resourceVersion: query.get("resourceVersion") ?? "",
      fieldSelector: query.get("fieldSelector") ?? "",
      timeoutSeconds: Number(query.get("timeoutSeconds") ?? 0),
    });
    const started = startWatch(world.store, request, world.definition, watch);
    if (!started.ok) return answerOf(started.error.code ?? 410, JSON.stringify(started.error));
    this.#watches.add(watch);
    return { status: 200, text: () => Promise.resolve(""), body: watch.body() };
  }
}

function answerOf(status: number, text: string): Answer {
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
  /** Whether a request, or its answer, is lost on the way. */
  isLost?: (init: Sent, what: "request" | "answer") => boolean;
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
    private readonly world: ElectionWorld,
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
    new Promise((resolve, reject) => {
      const { scheduler } = this.world;
      const isWatch = path.includes("watch=true");
      init.signal.addEventListener("abort", () => reject(new Error("aborted")));
      if (this.isDead) return;
      scheduler.after(this.latencyMs, () => {
        if (!isWatch && this.isLost(init, "request")) return;
        const answered = this.world.answer(path, init);
        answered.then(
          (answer) =>
            scheduler.after(
              this.latencyMs,
              () => (isWatch || !this.isLost(init, "answer")) && this.#run(() => resolve(this.#heard(answer))),
            ),
          (error: Error) => scheduler.after(this.latencyMs, () => this.#run(() => reject(error))),
        );
      });
    });

  /** A body whose chunks take their time and reach a process that runs. */
  #heard(answer: Answer): Answer {
    const { body } = answer;
    if (!body || !(Symbol.asyncIterator in body)) return answer;
    const arrives = (): Promise<void> =>
      new Promise((resolve) => void this.world.scheduler.after(this.latencyMs, () => this.#run(() => resolve())));
    async function* late() {
      for await (const chunk of body as AsyncIterable<string>) {
        await arrives();
        yield chunk;
      }
    }
    return { ...answer, body: late() };
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
