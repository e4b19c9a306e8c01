/** One random history of a cluster, from its seed alone: clients write, things break, everything comes to rest, the invariants are checked. */
import { checkQuiet } from "../watches/checks";
import { SimClients } from "../clients";
import { SimCluster } from "../cluster";
import type { Sabotage } from "../platform/platform";
import type { FaultRates } from "../platform/network";
import { NO_FAULTS } from "../platform/network";
import { pick, seededRandom } from "../platform/seeded-random";
import type { WordRandom } from "../../../../src/core/base/word-random";

export interface HistoryReport {
  seed: number;
  violations: string[];
  /** what the seed chose */
  parameters: Record<string, unknown>;
  calls: number;
  crashes: number;
  answers: Record<string, number>;
}

export async function runHistory({ seed, sabotage }: { seed: number; sabotage?: Sabotage }): Promise<HistoryReport> {
  const random = seededRandom(seed ^ 0x0dd5);
  const isDual = random.below(3) === 0;
  const ranges = isDual ? ["10.0.0.0/28", "fd00::/124"] : ["10.0.0.0/28"];
  const faults = drawFaults(random);
  const writes = 20 + random.below(60);
  const gapMs = [2, 20, 400][random.below(3)] ?? 2;
  const cluster = new SimCluster({
    seed,
    ranges,
    families: isDual ? ["IPv4", "IPv6"] : ["IPv4"],
    ...(sabotage ? { sabotage } : {}),
  });
  const clients = new SimClients(cluster, random, namedAddresses(isDual), isDual);
  const { network, scheduler } = cluster;
  if (random.below(2) === 0) await cluster.quiesce();

  network.faults = faults;
  for (let i = 0; i < writes; i++) {
    clients.act();
    await scheduler.pass(random.below(gapMs));
    if (network.chance(faults.crash)) crashSomeone(cluster, random);
  }
  if (random.below(2) === 0) await scheduler.pass(random.below(30_000));
  network.faults = NO_FAULTS;
  await cluster.quiesce();

  const violations = [...(await checkQuiet(cluster, { isUnrepaired: true })), ...clients.check(), ...cluster.momentary];
  violations.push(...cluster.logged.filter((line) => !isExpected(line)));
  return {
    seed,
    violations,
    parameters: { ranges, writes, gapMs, ...faults },
    calls: network.calls,
    crashes: network.crashes,
    answers: Object.fromEntries(clients.answers),
  };
}

/** Each fault is absent in half of the histories: what several of them hide, one alone may show. */
export function drawFaults(random: WordRandom): FaultRates {
  const some = (rate: number): number => (random.below(2) === 0 ? 0 : rate * random.next());
  return {
    lost: some(0.2),
    replyLost: some(0.2),
    repeated: some(0.2),
    slow: some(0.2),
    // Up to beyond what anything waits for.
    slowMaxMs: pick(random, [50, 6_000, 45_000, 90_000]),
    crash: some(0.1),
    lostTransaction: some(0.1),
    clockJump: 0,
    alarmFails: 0,
    messageCrash: some(0.06),
    kv: some(1),
  };
}

export function crashSomeone(cluster: SimCluster, random: WordRandom): void {
  const nodes = [cluster.services, cluster.ipAddresses, cluster.coordinator, ...[...cluster.owners.values()].map(({ node }) => node)];
  nodes[random.below(nodes.length)]?.crash();
}

/** A few addresses of each kind: static band and dynamic, network address, in a range that comes and goes, in none. */
function namedAddresses(isDual: boolean): string[] {
  const all = ["10.0.0.2", "10.0.0.3", "10.0.0.9", "10.0.0.0", "10.0.0.20", "10.0.1.3", "10.0.1.9", "10.9.9.9"];
  return isDual ? [...all, "fd00::3", "fd01::3"] : all;
}

/** Lost transactions are what crashes look like from inside. */
export function isExpected(line: string): boolean {
  return line.includes("SimulatedCrash");
}
