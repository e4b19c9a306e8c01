/** The node lifecycle controller of a cluster in virtual time, beside the controller of slices. Stores, loop and pass are the product's. */
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { Lease, Node, Pod, Taint } from "../../../src/api/meta/kubernetes";
import { rfc3339Micros, rfc3339Seconds } from "../../../src/api/meta/time";
import type { StoreNews, WriteResult } from "../../../src/api/rpc/store";
import { objectValuesSince } from "../../../src/api/store/feeds/object-values-reader";
import { Controller } from "../../../src/controllers/frame/controller";
import { lifecyclePass } from "../../../src/nodes/lifecycle/lifecycle-pass";
import { NODE_LEASES } from "../../../src/nodes/lifecycle/node-looks";
import { MemoryRowStorage } from "../memory/row-storage";
import { EndpointWorld } from "./endpoint-world";
import { aPod, aService, ipv4 } from "./slice-world";
import { StoreWorld } from "./store-world";

const PERIOD_MS = 5_000;
const RENEWED_EVERY_MS = 10_000;

export type Ready = "True" | "False" | "Unknown";

export interface NodeOptions {
  labels?: Record<string, string>;
  taints?: Taint[];
  unschedulable?: boolean;
  conditions?: { type: string; status: string }[];
}

export class NodeWorld extends EndpointWorld {
  readonly leases: StoreWorld;
  readonly lifecycleRows = new MemoryRowStorage();
  /** events about Nodes, and of Nodes on their Pods */
  readonly told: EventReport[] = [];
  /** times at which the controller's alarm is set to ring, in order */
  alarm: number | undefined;
  /** looks at the Leases */
  looks = 0;
  leasesFault: "down" | undefined;
  /** False: the store runs the release before. */
  leasesTellTimes = true;
  /** when the object of their store began */
  leasesSince = 0;
  /** not yet there when the first pokes come, in the constructor */
  private lifecycle: Controller | undefined;
  #nodeLife = 0;
  #cancelAlarm = (): void => undefined;
  /** The alarm went off, and its work is not over. */
  #isRinging = false;

  constructor() {
    super();
    // Renewals end the history all the time.
    const historyBounds = { entriesMax: 5, sizeMax: 1e9, trimEntries: 1 };
    this.leases = new StoreWorld({ scheduler: this.scheduler, historyBounds, seed: 77 });
    this.leasesSince = this.scheduler.now;
    this.startLifecycle();
  }

  /** The store of Leases begins anew, with what is on disk. */
  restartLeases(): void {
    this.leases.restart();
    this.leasesSince = this.scheduler.now;
  }

  override poke(news?: StoreNews[]): void {
    super.poke(news);
    void this.lifecycle?.poke(news);
  }

  /** Cron asks for a pass. */
  ask(): void {
    void this.lifecycle?.ask();
  }

  /**
   * The controller's object begins anew: its rows and its alarm are left. An alarm that the former object did not end goes off again: the platform has
   * each of them done at least once.
   */
  startLifecycle(): void {
    this.stopLifecycle();
    this.lifecycle = this.#made(++this.#nodeLife);
    const { now } = this.scheduler;
    if (this.alarm !== undefined || this.#isRinging) this.#ringAt(Math.max(this.alarm ?? now, now));
  }

  stopLifecycle(): void {
    this.#nodeLife++;
    this.#cancelAlarm();
    this.lifecycle = undefined;
  }

  /** A Node with the conditions of a kubelet, or without any: Ready as given. Its creation is now. */
  async addNode(name: string, ready?: Ready, { labels = {}, taints, unschedulable, conditions = [] }: NodeOptions = {}): Promise<void> {
    const all = ready ? [{ type: "Ready", status: ready, ...this.#times() }, ...conditions] : conditions;
    await must(
      this.stores.nodes.create(
        {
          metadata: { name, labels },
          spec: { ...(taints && { taints }), ...(unschedulable && { unschedulable }) },
          status: { conditions: all },
        } as Node,
        { group: "" },
      ),
    );
  }

  /** What the status writer of a Node says. */
  async setReady(name: string, status: Ready, isHeartbeat = true): Promise<void> {
    const node = this.node(name);
    const others = node.status?.conditions?.filter(({ type }) => type !== "Ready") ?? [];
    const ready = {
      ...node.status?.conditions?.find(({ type }) => type === "Ready"),
      type: "Ready",
      status,
      ...(isHeartbeat ? this.#times() : {}),
    };
    const { resourceVersion: _, ...metadata } = node.metadata ?? {};
    await must(
      this.stores.nodes.update(
        { ...node, metadata, status: { ...node.status, conditions: [ready, ...others] } } as Node,
        { group: "" },
        "status",
      ),
    );
  }

  /** Its Lease is made with the first renewal. */
  async renew(...names: string[]): Promise<void> {
    for (const name of names) {
      const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: rfc3339Micros(this.scheduler.now) };
      const stored = this.leases.stored(name, NODE_LEASES);
      const lease: Lease = { metadata: { ...stored?.metadata, name, namespace: NODE_LEASES }, spec };
      await must(stored ? this.leases.update(lease) : this.leases.create(lease));
    }
  }

  /** Time passes, and these Nodes renew their Leases meanwhile. */
  async passRenewing(durationMs: number, ...names: string[]): Promise<void> {
    const end = this.scheduler.now + durationMs;
    while (this.scheduler.now < end) {
      await this.renew(...names);
      await this.settle(Math.min(RENEWED_EVERY_MS, end - this.scheduler.now));
    }
  }

  /** So many Nodes with a Pod each behind one Service; answers their names. */
  async crowd(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, i) => `n${String(i)}`);
    await this.putService(aService());
    for (const [i, name] of names.entries()) {
      await this.addNode(name, "True");
      await this.putPod(aPod({ name: `p${String(i)}`, ips: [ipv4(i)], nodeName: name }));
    }
    await this.passRenewing(2 * RENEWED_EVERY_MS, ...names);
    return names;
  }

  async addPod(name: string, nodeName: string): Promise<void> {
    await this.putPod({
      metadata: { name, namespace: "ns" },
      spec: { nodeName, containers: [{ name: "c", image: "i" }] },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    } as Pod);
  }

  node(name: string): Node {
    const node = this.stores.nodes.stored<Node>(name);
    if (!node) throw new Error(`no Node ${name}`);
    return node;
  }

  ready(name: string): string | undefined {
    return this.node(name).status?.conditions?.find(({ type }) => type === "Ready")?.status;
  }

  /** Type, status and reason of each condition. */
  conditions(name: string): string[] {
    return this.node(name).status?.conditions?.map(({ type, status, reason = "" }) => `${type} ${status} ${reason}`.trim()) ?? [];
  }

  /** `key:effect` of each taint, without the prefix of Kubernetes, sorted. */
  taints(name: string): string[] {
    const all = this.node(name).spec?.taints ?? [];
    return all.map(({ key, effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`).sort();
  }

  podReady(name: string): string | undefined {
    return this.stores.pods.stored<Pod>(name)?.status?.conditions?.find(({ type }) => type === "Ready")?.status;
  }

  /** Reasons and names of what the controller told. */
  get toldReasons(): string[] {
    return this.told.map(({ reason, regarding }) => `${reason} ${regarding.name ?? ""}`);
  }

  #times(): { lastHeartbeatTime: string; lastTransitionTime: string } {
    const now = rfc3339Seconds(this.scheduler.now);
    return { lastHeartbeatTime: now, lastTransitionTime: now };
  }

  #ringAt(atMs: number): void {
    this.#cancelAlarm();
    this.alarm = atMs;
    this.#cancelAlarm = this.scheduler.after(atMs - this.scheduler.now, () => {
      this.alarm = undefined;
      void this.#ring();
    });
  }

  /** Of an object that dies the work never ends. */
  async #ring(): Promise<void> {
    const life = this.#nodeLife;
    this.#isRinging = true;
    await this.lifecycle?.alarm();
    if (life === this.#nodeLife) this.#isRinging = false;
  }

  #made(life: number): Controller {
    const isAlive = (): boolean => life === this.#nodeLife;
    const clock = this.scheduler.clock(isAlive);
    const recorder = { log: (level: string, event: string) => void this.logged.push(`${level} ${event}`) };
    const pass = lifecyclePass({
      clock,
      recorder,
      storage: this.lifecycleRows,
      events: { report: (event) => void this.told.push(event), flush: () => Promise.resolve() },
      nodes: this.followed("nodes", isAlive),
      pods: this.followed("pods", isAlive),
      leases: {
        valuesSince: async (question, cursor) => {
          await clock.sleep(1);
          this.looks++;
          if (this.leasesFault) throw new Error(this.leasesFault);
          const values = await objectValuesSince(this.leases.store, clock, question, cursor);
          if (!this.leasesTellTimes) return { ...values, values: values.values.map(([key, value, revision]) => [key, value, revision]) };
          return { ...values, servingMs: this.scheduler.now - this.leasesSince };
        },
      },
      graceMs: 50_000,
      startupGraceMs: 60_000,
      periodMs: PERIOD_MS,
    });
    return new Controller(
      {
        clock,
        recorder,
        wakeAt: (atMs) => Promise.resolve(this.#ringAt(atMs)),
        cancelAlarm: () => Promise.resolve(this.#cancelAlarm()),
        isOn: isAlive,
        background: (work) => void work,
        restart: () => this.startLifecycle(),
      },
      pass,
    );
  }
}

async function must(written: Promise<WriteResult>): Promise<void> {
  const result = await written;
  if (!result.ok) throw new Error(result.status.message);
}
