/**
 * A proxy for one node: follows the cluster, keeps the listeners as its table says, and tells of its health. While the API server cannot be reached,
 * it goes on with what it knows.
 */
import type { RequestListener, ServerResponse } from "node:http";
import { followCollection, type FollowStep } from "../../src/api/client/follow-collection";
import type { Node } from "../../src/api/meta/kubernetes";
import type { HealthAnswer } from "../../src/proxy-health/rules/health-answer";
import { FAMILIES, familyOfText } from "../../src/core/net/family";
import { type FollowedServices, followServices } from "../../src/clients/services/index";
import {
  addressWithin,
  type HealthCheck,
  HealthReports,
  type Listener,
  type ListenerChanges,
  ProxyHealth,
  ProxyMetrics,
  type ProxyReport,
  ProxyTable,
  TriggerTimes,
} from "../../src/clients/proxy/index";
import { serviceHealthAnswer } from "../../src/proxy-health/rules/health-answer";
import { begin, read } from "../cluster/send";
import { targetFetch } from "../cluster/target-fetch";
import { serveHttp, type WantedServer } from "./health-servers";
import { Listeners } from "./listeners";
import type { Direction, Opened } from "./opened";
import type { BindAddress, ProxyOptions } from "./options";
import { openTcp } from "./tcp";
import { openUdp } from "./udp";

/** Changes that come together are served together. */
const TOGETHER_MS = 5;
/** A report that is not answered for so long has failed. */
const REPORT_SILENCE_MS_MAX = 10_000;
const ZONE = "topology.kubernetes.io/zone";

export interface RunningProxy {
  readonly healthzUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  /** at the first sync, in numbers */
  readonly first: Promise<{ services: number; listeners: number }>;
  stop(): void;
}

/** Begins to serve. `log` gets a line for each thing that an operator should know. */
export async function startProxy(options: ProxyOptions, log: (line: string) => void): Promise<RunningProxy> {
  const proxy = new NodeProxy(options, log);
  await proxy.start();
  return proxy;
}

const clock = {
  now: () => Date.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
/** Ages are counted by it: the wall clock may be set. */
const steadyClock = { ...clock, now: () => performance.now() };
const random = { next: () => Math.random(), below: (bound: number) => Math.floor(Math.random() * bound) };

class NodeProxy implements RunningProxy {
  readonly #options: ProxyOptions;
  readonly #log: (line: string) => void;
  readonly #table: ProxyTable;
  readonly #listeners: Listeners;
  readonly #health: ProxyHealth;
  readonly #reports: HealthReports | undefined;
  readonly #metrics = new ProxyMetrics();
  readonly #triggers = new TriggerTimes(Date.now());
  readonly #checks = new Map<string, { check: HealthCheck; servers: Promise<WantedServer>[] }>();
  readonly #stops: (() => void)[] = [];
  #services: FollowedServices | undefined;
  /** undefined = not yet asked for; then the zone, which may be none */
  #zone: { name: string | undefined } | undefined;
  #hasServices = false;
  /** Changes wait for the sync that is under way, or for the next one. */
  #isPending = false;
  #isSyncing = false;
  #isStopped = false;
  /** of what is followed, since it was last heard of */
  readonly #errors = new Map<"services" | "node", string>();
  #healthz: WantedServer | undefined;
  #metricsServer: WantedServer | undefined;
  #tellFirst: (first: { services: number; listeners: number }) => void = () => undefined;
  readonly first = new Promise<{ services: number; listeners: number }>((resolve) => (this.#tellFirst = resolve));

  constructor(options: ProxyOptions, log: (line: string) => void) {
    this.#options = options;
    this.#log = log;
    this.#health = new ProxyHealth(2 * options.syncPeriodMs);
    this.#reports = options.reports ? this.#reportsTo(options) : undefined;
    this.#table = new ProxyTable(options.places, options.node, random);
    this.#listeners = new Listeners({
      open: (listener, at) => this.#open(listener, at),
      lowPortOffset: options.lowPortOffset,
      log,
    });
  }

  get healthzUrl(): string | undefined {
    return this.#healthz?.url;
  }

  get metricsUrl(): string | undefined {
    return this.#metricsServer?.url;
  }

  async start(): Promise<void> {
    const { healthz, metrics, target, node } = this.#options;
    for (const family of FAMILIES) this.#health.updated(family, steadyClock.now());
    this.#healthz = await this.#serve("healthz", healthz, (path, response) => this.#answerHealth(path, response));
    this.#metricsServer = await this.#serve("metrics", metrics, (path, response) => this.#answerMetrics(path, response));
    const ports = { fetch: targetFetch(target), clock, random };
    this.#services = followServices({
      ...ports,
      onPending: () => {
        this.#hasServices = true;
        this.#request();
      },
      onServices: (step) => {
        this.#errors.delete("services");
        this.#metrics.noteChanges("service", sizeOf(step));
      },
      onSlices: (step) => {
        this.#metrics.noteChanges("endpoint", sizeOf(step));
        if (step.kind === "changes") for (const { type, object } of step.changes) if (type !== "DELETED") this.#triggers.note(object);
      },
      onError: (error) => this.#tellError("services", error),
    });
    const services = this.#services;
    const stopNode = followCollection<Node>({
      ...ports,
      path: "/api/v1/nodes",
      fieldSelector: `metadata.name=${node}`,
      onStep: (step) => this.#takeNode(step),
      onError: (error) => {
        this.#tellError("node", error);
        // A proxy that may not read its Node serves all the same.
        this.#place(this.#zone?.name);
      },
    });
    this.#stops.push(() => services.stop(), stopNode);
    this.#reports?.start();
  }

  #reportsTo({ target, node, syncPeriodMs }: ProxyOptions): HealthReports {
    const path = `/api/v1/nodes/${encodeURIComponent(node)}/proxy-health`;
    const silenceMs = Math.min(syncPeriodMs, REPORT_SILENCE_MS_MAX);
    const ports = {
      clock: steadyClock,
      report: () => this.#health.report(steadyClock.now()),
      send: async (body: ProxyReport) => read(await begin(target, "PUT", path, { body, type: "application/json", silenceMs })),
      log: (line: string) => this.#log(`${target.url}: ${line}`),
    };
    return new HealthReports(ports, { node, syncPeriodMs });
  }

  stop(): void {
    this.#isStopped = true;
    this.#reports?.stop();
    for (const stop of this.#stops) stop();
    this.#listeners.stop();
    this.#healthz?.close();
    this.#metricsServer?.close();
    for (const { servers } of this.#checks.values()) closeAll(servers);
  }

  /** A Node that is gone stays as it was seen last. */
  #takeNode(step: FollowStep<Node>): void {
    this.#errors.delete("node");
    const nodes = step.kind === "list" ? step.objects : step.changes.flatMap(({ type, object }) => (type === "DELETED" ? [] : [object]));
    const node = nodes.at(-1);
    if (node) this.#health.node = node;
    this.#place(node ? node.metadata?.labels?.[ZONE] : this.#zone?.name);
  }

  #place(zone: string | undefined): void {
    if (this.#zone && this.#zone.name === zone) return;
    this.#zone = { name: zone };
    this.#request();
  }

  /** Asks for a sync. The first one waits until Services, slices and the Node are known. */
  #request(): void {
    if (!this.#hasServices || !this.#zone || this.#isStopped) return;
    for (const family of FAMILIES) this.#health.queued(family, steadyClock.now());
    this.#metrics.noteQueued(Date.now());
    if (this.#isPending) return;
    this.#isPending = true;
    if (!this.#isSyncing) setTimeout(() => void this.#sync(), TOGETHER_MS);
  }

  async #sync(): Promise<void> {
    this.#isSyncing = true;
    while (this.#isPending && !this.#isStopped) {
      this.#isPending = false;
      const startedAt = Date.now();
      const triggers = this.#triggers.take();
      const moved = this.#table.move(this.#zone?.name);
      await this.#apply(moved);
      if (this.#services) await this.#apply(this.#table.apply(this.#services.sync()));
      await this.#applyChecks();
      this.#metrics.noteSync(startedAt, Date.now(), triggers);
      for (const family of FAMILIES) this.#health.updated(family, steadyClock.now());
      this.#reports?.applied();
      this.#tellFirst({ services: this.#table.serviceCount, listeners: this.#table.listeners.length });
    }
    this.#isSyncing = false;
  }

  async #apply(changes: ListenerChanges): Promise<void> {
    for (const { service, where, reason } of changes.unserved) this.#log(`${service}: ${where} is not served: ${reason}`);
    await this.#listeners.apply(changes);
  }

  #open({ key, protocol }: Listener, at: { address: string; port: number }): Promise<Opened> {
    const { dialPrefix, udpTimeoutMs } = this.#options;
    const direction: Direction = {
      choose: (client, refused) => this.#table.choose(key, { client, refused, now: Date.now() }),
      keepsFlow: (endpointKey) => this.#table.keepsFlow(key, endpointKey),
      dialAddress: ({ ip }) => (dialPrefix ? addressWithin(dialPrefix, ip) : ip),
    };
    return protocol === "TCP" ? openTcp(at, direction) : openUdp(at, direction, udpTimeoutMs);
  }

  /** One server for each health check and address of its family. A check that only has another count keeps its servers. */
  async #applyChecks(): Promise<void> {
    const wanted = new Map(
      this.#table.healthChecks.map((check) => [`${check.namespace}/${check.name} ${check.family} ${check.port}`, check]),
    );
    for (const [key, { servers }] of this.#checks) {
      if (wanted.has(key)) continue;
      closeAll(servers);
      this.#checks.delete(key);
    }
    for (const [key, check] of wanted) {
      const known = this.#checks.get(key);
      if (known) known.check = check;
      else this.#checks.set(key, { check, servers: this.#serveCheck(key, check) });
    }
    await Promise.all([...this.#checks.values()].flatMap(({ servers }) => servers));
  }

  #serveCheck(key: string, { family, port, namespace, name }: HealthCheck): Promise<WantedServer>[] {
    const addresses = this.#options.places.nodePorts.filter((address) => familyOfText(address) === family);
    const answer: RequestListener = (_, response) => {
      const check = this.#checks.get(key)?.check;
      if (check) send(response, serviceHealthAnswer(check, this.#health.isHealthy(steadyClock.now())));
      else response.end();
    };
    return addresses.map((address) => serveHttp(`the health check of ${namespace}/${name}`, { address, port }, answer, this.#log));
  }

  async #serve(
    what: string,
    at: BindAddress | undefined,
    answer: (path: string, response: ServerResponse) => void,
  ): Promise<WantedServer | undefined> {
    if (!at) return undefined;
    return serveHttp(what, at, ({ url = "" }, response) => answer(new URL(url, "http://proxy").pathname, response), this.#log);
  }

  #answerHealth(path: string, response: ServerResponse): void {
    if (path !== "/healthz" && path !== "/livez") {
      sendText(response, 404, "404 page not found\n");
      return;
    }
    const answer = this.#health.answer(path, steadyClock.now(), Date.now());
    this.#metrics.noteAnswer(path, answer.code);
    send(response, answer);
  }

  #answerMetrics(path: string, response: ServerResponse): void {
    if (path === "/metrics") sendText(response, 200, this.#metrics.text(this.#table), "text/plain; version=0.0.4; charset=utf-8");
    else if (path === "/healthz") sendText(response, 200, "ok");
    else if (path === "/proxyMode") sendText(response, 200, "userspace");
    else sendText(response, 404, "404 page not found\n");
  }

  /** The same trouble is told once, until it is over or there is another one. */
  #tellError(of: "services" | "node", { message }: Error): void {
    if (message === this.#errors.get(of)) return;
    this.#errors.set(of, message);
    this.#log(`${this.#options.target.url}: ${message}; what is known stays served`);
  }
}

function sizeOf(step: FollowStep<unknown>): number {
  return step.kind === "list" ? step.objects.length : step.changes.length;
}

function closeAll(servers: readonly Promise<WantedServer>[]): void {
  for (const server of servers) void server.then((open) => open.close());
}

function send(response: ServerResponse, { code, headers, body }: HealthAnswer): void {
  response.writeHead(code, headers).end(body);
}

function sendText(response: ServerResponse, code: number, text: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(code, { "Content-Type": type, "X-Content-Type-Options": "nosniff" }).end(text);
}
