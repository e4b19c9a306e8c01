/** A machine with the endpoint part of the agent in virtual time: the store of Pods is the product's, and so is the way to it. */
import type { EndpointText } from "../../../src/clients/agent/endpoints/machine-ports";
import { EndpointSet } from "../../../src/clients/agent/endpoints/endpoint-set";
import { PodKeeper } from "../../../src/clients/agent/endpoints/pod-keeper";
import type { StateFiles } from "../../../src/clients/agent/ports/agent-ports";
import { SentApi } from "../../../src/clients/agent/ports/api-client";
import type { Pod } from "../../../src/api/meta/kubernetes";
import { podsDefinition } from "../../../src/api/registry/pods/definition";
import { seededRandom } from "../sim/platform/seeded-random";
import { ApiWorld, SimProcess } from "./api-world";

/** As the agent looks at its file. */
const LOOK_MS = 1_000;
const LOOKS_MAX = 10;
const CORE = { group: "" };
export const NODE = "n1";
export const ADDRESS = "10.0.0.1";

export class MachineWorld extends ApiWorld {
  readonly pods = this.store("pods");
  /** the files of --state; they outlive the agent */
  readonly state = new Map<string, string>();
  /** uid of the Node that an agent finds at its start */
  nodeUid = "u";
  /** of the wall clock of an agent that starts */
  aheadMs = 0;
  /** Writes to --state fail. */
  isDiskFull = false;
  /** of --endpoints; undefined = there is no such file */
  text: string | undefined = "[]";
  /** what the next looks find instead, while somebody writes the file */
  readonly unfinished: string[] = [];
  /** `8080` = a process listens there, and all is well with it */
  readonly healthy = new Set<number>();
  /** method, path, body of each write of the agent that arrived */
  readonly writes: string[] = [];
  readonly logged: string[] = [];
  /** what each line says beside its event */
  readonly fields: object[] = [];
  /** Whether this write is never answered. */
  hangs: (write: string) => boolean = () => false;
  /** Whether the connection of the watch carries nothing: what is lost leaves it mute. */
  isWatchMute = false;
  /** Asked before each write is sent, and before its answer arrives: true = the agent dies here. */
  diesAt: (what: "request" | "answer") => boolean = () => false;
  agent: SimProcess | undefined;
  keeper: PodKeeper | undefined;
  readonly #random;

  constructor(seed = 1) {
    super([podsDefinition]);
    this.#random = seededRandom(seed);
  }

  /** The agent starts on the Node. Answers why it does not. */
  async start(flags: readonly string[] = [], addresses: readonly string[] = [ADDRESS]): Promise<string | undefined> {
    const process = new SimProcess(this, {
      aheadMs: this.aheadMs,
      isLost: ({ method = "GET" }, what, path) => {
        if (path.includes("watch=true")) return this.isWatchMute;
        if (method === "GET" || !this.diesAt(what)) return false;
        process.kill();
        return what === "request";
      },
    });
    const isAlive = (): boolean => !process.isDead;
    const recorder = {
      log: (level: string, event: string, fields: object = {}) => {
        if (!isAlive()) return;
        this.logged.push(`${level}: ${event}`);
        this.fields.push(fields);
      },
    };
    const { clock } = process;
    const random = this.#random;
    const sent: typeof process.send = (path, init) => {
      if (init.method === undefined || init.method === "GET") return process.send(path, init);
      const write = `${init.method} ${path} ${init.body ?? ""}`;
      if (isAlive()) this.writes.push(write);
      return this.hangs(write) ? new Promise(() => undefined) : process.send(path, init);
    };
    const ports = {
      ...{ clock, random, recorder, files: this.#files(isAlive), api: new SentApi(sent, clock, random) },
      httpGet: (url: string) => Promise.resolve({ status: this.healthy.has(Number(new URL(url).port)) ? 200 : 503 }),
      tcpConnect: (_: string, port: number) => (this.healthy.has(port) ? Promise.resolve() : Promise.reject(new Error("refused"))),
    };
    const set = await this.#loaded(EndpointSet.load(ports, { flags, file: this.#file }));
    if (!set.ok) return set.error;
    this.agent = process;
    this.keeper = new PodKeeper(ports, set.value);
    this.keeper.start({ name: NODE, uid: this.nodeUid, addresses });
    return undefined;
  }

  /** Time passes while the agent looks at a file that it does not know yet. */
  async #loaded<T>(loading: Promise<T>): Promise<T> {
    let isOver = false;
    void loading.finally(() => (isOver = true));
    for (let looks = 0; looks < LOOKS_MAX && !(await over()); looks++) await this.pass(LOOK_MS);
    return loading;

    async function over(): Promise<boolean> {
      await new Promise((resolve) => setTimeout(resolve, 0));
      return isOver;
    }
  }

  crash(): void {
    this.agent?.kill();
  }

  pass(durationMs: number): Promise<void> {
    return this.scheduler.pass(durationMs);
  }

  pod(name: string, namespace = "default"): Pod | undefined {
    return this.pods.stored<Pod>(name, namespace);
  }

  get all(): Pod[] {
    return [...this.pods.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as Pod);
  }

  /** The Pods in short: `web.n1:8080 ready`; `…` = being deleted. */
  get brief(): string[] {
    return this.all.map(briefOf).sort();
  }

  async userDeletes(name: string, gracePeriodSeconds?: number, namespace = "default"): Promise<void> {
    await this.pods.delete(name, { gracePeriodSeconds }, namespace);
  }

  async userMakes(pod: Pod): Promise<void> {
    const made = await this.pods.create(pod, CORE);
    if (!made.ok) throw new Error(made.status.message);
  }

  async userPatches(name: string, patch: object): Promise<void> {
    const patched = await this.pods.patch(name, "merge", patch, CORE, "default");
    if (!patched.ok) throw new Error(patched.status.message);
  }

  get #file(): EndpointText {
    const read = (): Promise<string> => {
      const text = this.unfinished.shift() ?? this.text;
      return text === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve(text);
    };
    return { name: "endpoints.yaml", read };
  }

  #files(isAlive: () => boolean): StateFiles {
    return {
      read: (name) => Promise.resolve(this.state.get(name)),
      write: (name, text) => {
        if (this.isDiskFull) return Promise.reject(new Error("no space left"));
        if (isAlive()) this.state.set(name, text);
        return Promise.resolve();
      },
    };
  }
}

function briefOf({ metadata, spec, status }: Pod): string {
  const port = spec?.containers[0]?.ports?.[0]?.containerPort ?? "";
  const isReady = status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True");
  const state = status?.phase === "Running" ? (isReady ? "ready" : "not ready") : (status?.phase ?? "");
  return `${metadata?.name ?? ""}:${port} ${state}${metadata?.deletionTimestamp ? " …" : ""}`;
}
