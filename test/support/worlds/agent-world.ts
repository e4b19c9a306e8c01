/** Agents against the real stores of Nodes and Leases in virtual time. */
import { type AgentSetting, type Ending, runAgent, type Stop } from "../../../src/clients/agent/agent";
import type { AskProxy } from "../../../src/clients/agent/node/proxy-reporter";
import type { AgentPorts, EndpointKeeper } from "../../../src/clients/agent/ports/agent-ports";
import { type ApiClient, SentApi } from "../../../src/clients/agent/ports/api-client";
import type { FetchAnswer } from "../../../src/api/client/fetch-like";
import type { Lease, Node } from "../../../src/api/meta/kubernetes";
import { leasesDefinition } from "../../../src/api/registry/leases/definition";
import { nodesDefinition } from "../../../src/api/registry/nodes/definition";
import type { WordRandom } from "../../../src/core/base/word-random";
import type { SendLike, Sent } from "../../../src/clients/elector/send-like";
import { ApiWorld, type ProcessSetting, SimProcess } from "./api-world";
import { DELETE, WRITE } from "./store-world";

export const NODE = "n1";
const NODE_PATH = `/api/v1/nodes/${NODE}`;
/** of the part that keeps endpoints */
const BEAT_MS = 3_000;
const WRITER = /"writer":"(?<writer>[^"]+)"/;

export class AgentWorld extends ApiWorld {
  readonly nodes = this.store("nodes");
  readonly leases = this.store("leases");
  /** the folders of agents by name: what outlives a process */
  readonly folders = new Map<string, Map<string, string>>();
  /** Whether the state folders, and the file of the token, fail. */
  fileFault: (what: "read" | "write" | "token", name: string) => boolean = () => false;
  /**
   * Processes whose endpoint part has written something, in the server's order; one that goes on stands there once. What a process had sent when it was
   * killed may arrive after the next one of its folder has begun, which waits for nobody: that does not count.
   */
  readonly writers: string[] = [];
  /** processes by name */
  readonly agents = new Map<string, SimAgent>();

  constructor() {
    super([nodesDefinition, leasesDefinition]);
  }

  override async answer(path: string, init: Sent): Promise<FetchAnswer> {
    const answer = await super.answer(path, init);
    const { writer } = WRITER.exec(init.method === "PATCH" && answer.status === 200 ? (init.body ?? "") : "")?.groups ?? {};
    const last = this.writers.at(-1);
    if (writer !== undefined && last !== writer && !this.#isFollowed(writer, last)) this.writers.push(writer);
    return answer;
  }

  /** Whether the process was killed, and the last writer is one of the same folder. */
  #isFollowed(writer: string, last: string | undefined): boolean {
    const [agent, next] = [this.agents.get(writer), last === undefined ? undefined : this.agents.get(last)];
    return agent !== undefined && agent.process.isDead && agent.folder === next?.folder && this.writers.includes(writer);
  }

  get node(): Node | undefined {
    return this.nodes.stored<Node>(NODE);
  }

  get lease(): Lease | undefined {
    return this.leases.stored<Lease>(NODE, "kube-node-lease");
  }

  /** Status of the condition Ready. */
  get ready(): string | undefined {
    return this.node?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  }

  async deleteNode(): Promise<void> {
    await this.nodes.write({ verb: "delete", key: { namespace: "", name: NODE }, options: DELETE });
  }

  /** What the node lifecycle controller does with a silent Node. */
  async becomeUnknown(): Promise<void> {
    const conditions = this.node?.status?.conditions?.map((condition) => ({ ...condition, status: "Unknown" }));
    await this.nodes.write({
      verb: "patch",
      key: { namespace: "", name: NODE },
      subresource: "status",
      patchType: "merge",
      patch: JSON.stringify({ status: { conditions } }),
      options: { ...WRITE, group: "" },
    });
  }
}

export interface AgentOfTest extends ProcessSetting {
  folder?: string;
  drainMs?: number;
  leaveAfterMs?: number;
  askProxy?: AskProxy;
  syncPeriodMs?: number;
  labels?: Record<string, string>;
  addresses?: string[];
}

let processes = 0;

/** One process of an agent. */
export class SimAgent {
  readonly process: SimProcess;
  readonly folder: string;
  readonly name = `process-${++processes}`;
  /** what the part that keeps endpoints was told */
  readonly told: string[] = [];
  readonly logged: string[] = [];
  isReady = false;
  ending: Ending | undefined;
  ask: (how: Stop) => void = () => undefined;

  constructor(
    private readonly world: AgentWorld,
    random: WordRandom,
    of: AgentOfTest = {},
  ) {
    this.folder = of.folder ?? "a";
    this.process = new SimProcess(world, of);
    world.agents.set(this.name, this);
    const { clock } = this.process;
    const send: SendLike = (path, init) =>
      world.fileFault("token", "") ? Promise.reject(new Error("ENOENT: token")) : this.process.send(path, init);
    const ports: AgentPorts = {
      clock,
      random,
      api: new SentApi(send, clock, random),
      recorder: { log: (_, event, fields = {}) => void this.logged.push(`${event} ${JSON.stringify(fields)}`) },
      files: this.#files(),
    };
    const { labels = {}, addresses = ["192.0.2.1"], drainMs = 0, leaveAfterMs = 0, askProxy, syncPeriodMs = 30_000 } = of;
    const setting: AgentSetting = {
      machine: {
        name: NODE,
        hostname: "host",
        addresses,
        labels: { "kubernetes.io/hostname": NODE, ...labels },
        nodeInfo: {
          ...{ architecture: "amd64", operatingSystem: "linux", kernelVersion: "6", osImage: "test", machineID: "m", systemUUID: "s" },
          ...{ bootID: "b", kubeletVersion: "v1", kubeProxyVersion: "", containerRuntimeVersion: "" },
        },
        capacity: { pods: "0" },
      },
      syncPeriodMs,
      askProxy,
      leaveAfterMs,
      endpoints: ({ api }) => this.#endpoints(api, drainMs),
      onReady: () => (this.isReady = true),
    };
    const asked = new Promise<Stop>((resolve) => (this.ask = resolve));
    const ended = runAgent(ports, setting, asked).catch((error: unknown): Ending => ({ code: 1, message: String(error) }));
    void ended.then((ending) => void (this.process.isDead || (this.ending = ending)));
  }

  /** It works: it is neither dead nor over. */
  get isAlive(): boolean {
    return !this.process.isDead && !this.ending;
  }

  #files(): AgentPorts["files"] {
    const { world } = this;
    const kept = world.folders.get(this.folder) ?? new Map<string, string>();
    world.folders.set(this.folder, kept);
    const orFault = async (what: "read" | "write", name: string): Promise<void> => {
      await Promise.resolve();
      if (world.fileFault(what, name)) throw new Error(`EIO: ${what} ${name}`);
    };
    return {
      read: (name) => orFault("read", name).then(() => kept.get(name)),
      write: (name, text) => orFault("write", name).then(() => void kept.set(name, text)),
    };
  }

  /** Writes to the Node every few seconds, as long as it may. */
  #endpoints(api: ApiClient, drainMs: number): EndpointKeeper {
    const { told, world, process } = this;
    let isOver = false;
    const beat = async (): Promise<void> => {
      if (isOver) return;
      await api.request("PATCH", NODE_PATH, { metadata: { annotations: { writer: this.name } } });
      process.clock.after(BEAT_MS, () => void beat());
    };
    return {
      start: ({ name, uid, addresses }) => {
        told.push(`start ${name} ${uid === world.node?.metadata?.uid ? "of its uid" : "of another uid"} ${addresses.join()}`);
        void beat();
      },
      stop: () => {
        told.push("stop");
        return new Promise((resolve) => {
          process.clock.after(drainMs, () => {
            isOver = true;
            told.push("drained");
            resolve();
          });
        });
      },
      abandon: () => {
        isOver = true;
        told.push("abandon");
      },
    };
  }
}
