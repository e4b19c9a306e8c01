/**
 * One random history of hand-offs, from its seed alone: a ServiceCIDR with addresses goes while others cover it, clients create and delete all
 * the while, things break, everything comes to rest.
 */
import type { Status } from "../../../../src/api/meta/status";
import type { WriteOptions, WriteRequest } from "../../../../src/api/rpc/store";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { checkQuiet } from "../watches/checks";
import { SimClients } from "../clients";
import { SimCluster } from "../cluster";
import type { Sabotage } from "../platform/platform";
import { crashSomeone, drawFaults, isExpected } from "./history";
import { CLIENT, type FaultRates, NO_FAULTS } from "../platform/network";
import { seededRandom } from "../platform/seeded-random";
import { DELETE } from "../../worlds/store-world";

export interface HandoffReport {
  seed: number;
  violations: string[];
  parameters: Record<string, unknown>;
  /** attempts that reached a target */
  received: number;
}

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "sim",
  fieldValidation: "Strict",
  force: false,
  group: "networking.k8s.io",
  version: "v1",
};

/** What goes, and what covers it: the same, around it, and in parts. */
const SHAPES = [
  { old: "10.0.1.0/28", covers: ["10.0.1.0/28"] },
  { old: "10.0.1.0/28", covers: ["10.0.0.0/23"] },
  { old: "10.0.1.0/28", covers: ["10.0.1.0/29", "10.0.1.8/29"] },
  { old: "10.0.0.0/23", covers: ["10.0.1.0/28", "10.0.1.0/24"] },
] as const;

export async function runHandoffHistory({ seed, sabotage }: { seed: number; sabotage?: Sabotage }): Promise<HandoffReport> {
  const random = seededRandom(seed ^ 0x4a0d);
  const shape = SHAPES[random.below(SHAPES.length)] ?? SHAPES[0];
  const drawn = drawFaults(random);
  // Hand-offs have few commits beside those of the clients.
  const faults = { ...drawn, crash: 3 * drawn.crash, lostTransaction: 3 * drawn.lostTransaction };
  const cluster = new SimCluster({
    seed,
    // Full at once with what the clients ask for, so that most of what they get lies in what is on the move.
    ranges: ["10.0.0.0/29"],
    families: ["IPv4"],
    handoff: { rowsMax: 3, chunkRowsMax: 2 },
    ...(sabotage ? { sabotage } : {}),
  });
  const { network, scheduler } = cluster;
  const named = ["10.0.1.3", "10.0.1.9", "10.0.1.2", "10.0.0.3", "10.0.1.7", "10.0.1.8"];
  const clients = new SimClients(cluster, random, named, false);
  await scheduler.pass(10_000);
  await write(cluster, creation("old", shape.old));
  await scheduler.pass(3_000);
  for (let i = 0; i < 12; i++) {
    clients.act();
    await scheduler.pass(20);
  }
  for (const [i, prefix] of shape.covers.entries()) await write(cluster, creation(`new-${i}`, prefix));
  await scheduler.pass(3_000);

  network.faults = faults;
  const prefixes = [shape.old, ...shape.covers];
  const acts = 20 + random.below(30);
  const gapMs = [20, 400, 8_000][random.below(3)] ?? 20;
  const outage = random.below(acts);
  for (let i = 0; i < acts; i++) {
    if (i === outage) await outlast(cluster, faults);
    if (i === 0) void send(cluster, removal("old"));
    else if (random.below(4) === 0) actOnRanges(cluster, random, prefixes);
    else clients.act();
    await scheduler.pass(random.below(gapMs));
    if (network.chance(drawn.crash)) crashSomeone(cluster, random);
  }
  await scheduler.pass(random.below(150_000));
  network.faults = NO_FAULTS;
  await cluster.quiesce();
  // The longest rest after some failures in a row.
  await scheduler.pass(300_000);

  const violations = [...(await checkQuiet(cluster)), ...clients.check(), ...cluster.momentary, ...checkOver(cluster)];
  violations.push(...cluster.logged.filter((line) => !isExpected(line)));
  return {
    seed,
    violations,
    parameters: { shape, acts, gapMs, ...faults },
    received: [...cluster.owners.values()].filter(({ storage }) =>
      storage.rowsSince(0, 1_000).some(({ position, gen }) => position !== gen.counter),
    ).length,
  };
}

/** Longer than a hand-off may take, most calls are lost: what is under way is given up. */
async function outlast(cluster: SimCluster, faults: FaultRates): Promise<void> {
  cluster.network.faults = { ...faults, lost: 0.8 };
  await cluster.scheduler.pass(70_000);
  cluster.network.faults = faults;
  await cluster.scheduler.pass(2_000);
}

/** One of the ServiceCIDRs comes or goes, so that every one of them is source and target in turn. */
function actOnRanges(cluster: SimCluster, random: WordRandom, prefixes: readonly string[]): void {
  const index = random.below(prefixes.length);
  const name = index === 0 ? "old" : `new-${index - 1}`;
  void send(cluster, random.below(2) === 0 ? removal(name) : creation(name, prefixes[index] ?? ""));
}

/** No hand-off is under way for ever, and what an owner without object has left is what somebody's address lives in. */
function checkOver(cluster: SimCluster): string[] {
  const { handoffs } = cluster.coordinatorStorage.contents;
  return Object.values(handoffs).flatMap((row) =>
    row.phase === "resting" ? [] : [`leak: a hand-off is not over: ${JSON.stringify(row)}`],
  );
}

function creation(name: string, prefix: string): WriteRequest {
  const object = JSON.stringify({ metadata: { name }, spec: { cidrs: [prefix] } });
  return { verb: "create", namespace: "", object, options: OPTIONS };
}

function removal(name: string): WriteRequest {
  return { verb: "delete", key: { namespace: "", name }, options: DELETE };
}

async function write(cluster: SimCluster, request: WriteRequest): Promise<void> {
  const problem = await cluster.scheduler.run(send(cluster, request));
  if (problem) throw new Error(problem.message);
}

/** The Status of a refusal; a call that is lost says nothing. */
async function send(cluster: SimCluster, request: WriteRequest): Promise<Status | undefined> {
  const call = cluster.network.call(CLIENT, cluster.coordinator, (store) => store.write(request));
  return call.then(
    (result) => (result.ok ? undefined : result.status),
    () => undefined,
  );
}
