/**
 * The loads of the suites on another server and on a Servicenet of this run, in turn, so that both see the same machine. The other one is any Kubernetes
 * API server, or that of another checkout. The loads use the API alone: nothing that only Servicenet answers.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../cluster/send";
import type { Target } from "../../cluster/target";
import { UserError } from "../../terminal/user-error";
import type { Server } from "../../../test/support/server/server";
import { PROTOBUF, readList } from "./read-list";
import { targetOf, withServer, writeLeases, writeServices } from "./started";
import { deliveryTimes } from "./suites/watchers";
import { measureBurst } from "./suites/watchers-burst";
import { WatchedService } from "./watched-service";
import { type ComparedFigure, compared, type Figure } from "./compared-figures";
import { median, quantile } from "./figures";

const RANGE = "10.0.0.0/12";
const LIST_ROUNDS = 5;
/** What follows the creates has the server for itself first: beside it lists take twice the time or half of it, by chance. */
const REST_MS = 5_000;
/** The part of each load that runs before the clock starts: the machine code of a server that has been up for seconds. */
const WARM_UP = 0.1;
const GONE_MS_MAX = 30_000;
/** Exit code after Ctrl-C. */
const INTERRUPTED = 130;

export interface Sizes {
  services: number;
  leases: number;
  /** connections that create, update and delete */
  clients: number;
  watchers: number;
  /** how long the burst of changes lasts */
  seconds: number;
}

/** A server with a namespace of this run. */
interface Side {
  target: Target;
  namespace: string;
}

type Suite = (side: Side, sizes: Sizes) => Promise<Figure[]>;

const suites: Readonly<Record<string, Suite>> = { services, leases, watchers, "watchers-burst": watchersBurst };

export interface Comparison {
  sizes: Sizes;
  /** how often each suite runs on both sides; who begins changes from round to round */
  rounds: number;
  /** hears of each round of a suite before it runs, with its number and how many there are */
  begun(suite: string, done: number, total: number): void;
  /** hears what the rounds of a suite say together, also when a later suite fails */
  measured(figures: readonly ComparedFigure[]): void;
}

/**
 * Runs all suites against a server that is somebody's, and removes what they made. Throws UserError when the other server lets nobody make a namespace.
 */
export function compare(against: Target, comparison: Comparison): Promise<void> {
  const namespace = namespaceOfRun();
  const there: Side = { target: against, namespace };
  return inNamespace(there, () => withServer(RANGE, (server) => compareWith(there, server, comparison)));
}

/** The same beside the server of another checkout, on data of its own that goes afterwards. */
export function compareCheckouts(checkout: string, comparison: Comparison): Promise<void> {
  const other = (server: Server): Side => ({ target: targetOf(server), namespace: namespaceOfRun() });
  return withServer(
    RANGE,
    async (beside) => {
      const there = other(beside);
      await make(there);
      return withServer(RANGE, (server) => compareWith(there, server, comparison));
    },
    [],
    { checkout },
  );
}

async function compareWith(there: Side, server: Server, { sizes, rounds, begun, measured }: Comparison): Promise<void> {
  const here: Side = { target: targetOf(server), namespace: there.namespace };
  await make(here);
  const total = Object.keys(suites).length * rounds;
  let done = 0;
  for (const [name, suite] of Object.entries(suites)) {
    const theirs: Figure[][] = [];
    const ours: Figure[][] = [];
    for (let round = 0; round < rounds; round++) {
      begun(name, done++, total);
      const first = round % 2 === 0 ? theirs : ours;
      for (const side of first === theirs ? [theirs, ours] : [ours, theirs]) side.push(await suite(side === theirs ? there : here, sizes));
    }
    measured(compared(theirs, ours));
  }
}

const namespaceOfRun = (): string => `servicenet-bench-${randomBytes(4).toString("hex")}`;

/** Runs `body` with a namespace on that side, which is deleted afterwards, also when the user interrupts. */
async function inNamespace<T>(side: Side, body: () => Promise<T>): Promise<T> {
  await make(side);
  const removed = () =>
    remove(side).catch((error: unknown) => console.error(`bench: namespace ${side.namespace} is left: ${String(error)}`));
  const interrupted = (): void => void removed().finally(() => process.exit(INTERRUPTED));
  process.once("SIGINT", interrupted);
  try {
    return await body();
  } finally {
    process.off("SIGINT", interrupted);
    await removed();
  }
}

async function make({ target, namespace }: Side): Promise<void> {
  const metadata = { name: namespace };
  const { status, text } = await send(target, "POST", "/api/v1/namespaces", { metadata }, "application/json").catch((error: unknown) => {
    throw new UserError(`${target.url}: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (status !== 201) throw new UserError(`${target.url}: a namespace for the loads was answered with ${String(status)} ${text.trim()}`);
}

/** What a suite left when it failed goes first: where no controller runs, the namespace stays in Terminating. */
async function remove(side: Side): Promise<void> {
  const { target, namespace } = side;
  const path = `/api/v1/namespaces/${namespace}`;
  for (const collection of [servicesOf(side), leasesOf(side), path]) await send(target, "DELETE", collection);
  for (const deadline = performance.now() + GONE_MS_MAX; performance.now() < deadline; await sleep(200)) {
    if ((await send(target, "GET", path)).status === 404) return;
  }
  console.error(`bench: ${target.url} has not finished the deletion of namespace ${namespace}`);
}

const servicesOf = ({ namespace }: Side): string => `/api/v1/namespaces/${namespace}/services`;
const leasesOf = ({ namespace }: Side): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const warmUp = (count: number): number => Math.ceil(count * WARM_UP);

async function services(side: Side, sizes: Sizes): Promise<Figure[]> {
  const write = (verb: "create" | "delete", prefix: string, count: number) =>
    writeServices(side.target, { verb, connections: sizes.clients, count, collection: servicesOf(side), prefix, addressPrefixes: [] });
  for (const verb of ["create", "delete"] as const) await write(verb, "warm", warmUp(sizes.services));
  const created = await write("create", "bench", sizes.services);
  await sleep(REST_MS);
  const lists = await readLists(side, sizes.services);
  const deleted = await write("delete", "bench", sizes.services);
  return [
    rate("services.createRate", "services/s", sizes.services, created),
    time("services.createP99", quantile(created.latenciesMs, 0.99)),
    ...lists,
    rate("services.deleteRate", "services/s", sizes.services, deleted),
    time("services.deleteP99", quantile(deleted.latenciesMs, 0.99)),
  ];
}

async function readLists(side: Side, count: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, accept] of [
    ["lists.json", "application/json"],
    ["lists.protobuf", PROTOBUF],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < LIST_ROUNDS; round++) times.push((await readList(side.target, servicesOf(side), accept)).ms);
    figures.push(rate(name, "objects/s", count, { elapsedMs: median(times) }));
  }
  return figures;
}

async function leases(side: Side, sizes: Sizes): Promise<Figure[]> {
  const write = (count: number) => writeLeases(side.target, { connections: sizes.clients, count, collection: leasesOf(side) });
  await write(warmUp(sizes.leases));
  const { POST, PUT, DELETE } = await write(sizes.leases);
  return Object.entries({ create: POST, update: PUT, delete: DELETE }).map(([verb, result]) =>
    rate(`leases.${verb}Rate`, "leases/s", sizes.leases, result),
  );
}

async function watchers(side: Side, sizes: Sizes): Promise<Figure[]> {
  const latencies = await withWatched(side, (service) => deliveryTimes(service, sizes.watchers));
  return [time("watchers.deliveryP50", quantile(latencies, 0.5)), time("watchers.deliveryP99", quantile(latencies, 0.99))];
}

async function watchersBurst(side: Side, sizes: Sizes): Promise<Figure[]> {
  const load = { count: sizes.watchers, durationMs: sizes.seconds * 1000 };
  const { seen, seconds } = await withWatched(side, (service) => measureBurst(service, load));
  return [
    rate("watchers-burst.deliveries", "events/s", seen.events, { elapsedMs: seconds * 1000 }),
    time("watchers-burst.deliveryP50", seen.latencyMs(0.5)),
    time("watchers-burst.deliveryP99", seen.latencyMs(0.99)),
  ];
}

async function withWatched<T>(side: Side, body: (service: WatchedService) => Promise<T>): Promise<T> {
  const service = new WatchedService(side.target, servicesOf(side));
  await service.create();
  const result = await body(service);
  await service.delete();
  return result;
}

function rate(name: string, unit: string, count: number, { elapsedMs }: { elapsedMs: number }): Figure {
  return { name, value: count / (elapsedMs / 1000), unit, better: "more" };
}

function time(name: string, ms: number): Figure {
  return { name, value: ms, unit: "ms", better: "less" };
}
