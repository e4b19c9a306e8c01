/**
 * One random history of everything at once, from its seed alone: clients write Services and IPAddresses, an operator changes the ServiceCIDRs
 * under them, calls get lost, late and repeated, objects die at any commit, clocks jump; then everything comes to rest.
 */
import type { WordRandom } from "../../../../src/core/base/word-random";
import { checkQuiet } from "../watches/checks";
import { PASSING_NAMESPACE, SimClients } from "../clients";
import { SimCompany } from "../company";
import { SimFamilies } from "../families";
import { SimCluster } from "../cluster";
import type { Sabotage } from "../platform/platform";
import { crashSomeone, drawFaults, isExpected } from "./history";
import { CLIENT, type FaultRates, NO_FAULTS } from "../platform/network";
import { SimWatchers } from "../relay/sim-watchers";
import { SimOperator } from "../operator";
import { SimReleases } from "../releases";
import { SimShards } from "../shards";
import { pick, seededRandom } from "../platform/seeded-random";

export interface WholeReport {
  seed: number;
  violations: string[];
  /** what the seed chose */
  parameters: Record<string, unknown>;
  operations: number;
  faults: number;
  /** which faults met which steps */
  marks: string[];
}

const OPERATIONS_MIN = 200;
/** A client deletes an object and makes another, unless its answers are late. */
const TAKE_OVER_MS = 5_000;
/** Longer than a hand-off rests after failures in a row. */
const HANDOFF_REST_MS = 400_000;
/** In one of so many histories clients watch. They draw from a stream of their own, so the others stay as they were. */
const WATCHED_EACH = 5;
const WATCHES = 0xaaee;
/** In one of so many two releases run, by draws of their own, too. */
const RELEASED_EACH = 6;
const RELEASES = 0x2e1ea;
/** Nested, equal and side by side, so that every one of them may be source and target of a hand-off. */
const V4 = ["10.0.1.0/28", "10.0.1.0/28", "10.0.1.0/29", "10.0.1.8/29", "10.0.0.0/27", "10.0.0.0/23", "10.0.1.0/24"] as const;
const V6 = ["fd01::/124", "fd01::/125", "fd00::/120", "fd00::/64"] as const;
const NAMED_V4 = ["10.0.0.3", "10.0.0.9", "10.0.0.20", "10.0.1.2", "10.0.1.3", "10.0.1.7", "10.0.1.8", "10.0.1.9", "10.9.9.9"] as const;
const NAMED_V6 = ["fd00::3", "fd01::3", "fd01::9"] as const;

/** What a history may do many times as often: relatives come and go, clients meddle with IPAddresses, a namespace begins and ends, clients watch, two releases run. */
export type Often = "families" | "meddling" | "namespaces" | "watches" | "releases";

/** `commitMs`: see SimOptions. `often`: for what few of the usual histories meet. */
export async function runWholeHistory({
  seed,
  sabotage,
  commitMs,
  often,
}: {
  seed: number;
  sabotage?: Sabotage;
  commitMs?: number;
  often?: Often | undefined;
}): Promise<WholeReport> {
  const random = seededRandom(seed ^ 0x3a11);
  const isDual = random.below(3) === 0;
  const ranges = isDual ? ["10.0.0.0/29", "fd00::/124"] : ["10.0.0.0/29"];
  const drawn = drawFaults(random);
  const flips = random.below(5) === 0;
  const some = (rate: number): number => (random.below(2) === 0 ? 0 : rate * random.next());
  const faults = { ...drawn, lostTransaction: 2 * drawn.lostTransaction, clockJump: some(0.04), alarmFails: some(0.3) };
  const gapMs = pick(random, [2, 20, 400, 4_000]);
  const operations = OPERATIONS_MIN + random.below(5);
  // In part of the histories the ranges change all the time, in part nearly never.
  const changes = pick(random, [2, 5, 12]);
  const cluster = new SimCluster({
    seed,
    ranges,
    families: isDual ? ["IPv4", "IPv6"] : ["IPv4"],
    apiServerServiceIP: "10.0.0.1",
    handoff: { rowsMax: 3, chunkRowsMax: 2 },
    ...(sabotage ? { sabotage } : {}),
    ...(commitMs === undefined ? {} : { commitMs }),
  });
  // A stream of its own: the other choices of the seed stay as they are.
  const isOff = seededRandom(seed ^ 0x0ff).below(3) === 0;
  if (isOff) cluster.off.add("namespaces");
  const clients = new SimClients(cluster, random, isDual ? [...NAMED_V4, ...NAMED_V6] : NAMED_V4, isDual, { passing: true });
  const families = new SimFamilies(cluster, cluster.controllers.collectorWatch, random, PASSING_NAMESPACE);
  const shards = new SimShards(cluster, seededRandom(seed ^ 0x5a2d));
  const company = new SimCompany(cluster, random, families, shards);
  const operator = new SimOperator(cluster, random, { v4: V4, v6: isDual ? V6 : [] }, flips ? ranges : undefined);
  const draws = seededRandom(seed ^ WATCHES);
  const isWatched = draws.below(WATCHED_EACH) === 0 || often === "watches";
  const watchers = isWatched ? new SimWatchers(cluster, draws, ["default", PASSING_NAMESPACE]) : undefined;
  const released = seededRandom(seed ^ RELEASES);
  const isReleased = released.below(RELEASED_EACH) === 0 || often === "releases";
  const releases = isReleased ? new SimReleases(cluster, shards, released) : undefined;
  const { network, scheduler } = cluster;
  if (random.below(2) === 0) await scheduler.pass(10_000);

  cluster.repairWatch.proposing = async ([address]) => {
    if (address === undefined || random.below(8) === 0) return;
    await Promise.race([clients.takeOver(address), scheduler.clock().sleep(TAKE_OVER_MS)]);
  };
  network.faults = faults;
  const outage = random.below(2 * operations);
  for (let i = 0; i < operations; i++) {
    if (i === outage) await outlast(cluster, faults);
    if (flips && random.below(50) === 0) cluster.setGate(cluster.onlyRanges !== undefined);
    // In virtual time nobody is waited for long. With the gate off the API of ServiceCIDRs and IPAddresses is not served.
    if (random.below(100) < changes && !cluster.onlyRanges) operator.act();
    else if (random.below(often === "meddling" ? 3 : 12) === 0) clients.meddle();
    else if (random.below(often === "namespaces" ? 6 : 50) === 0) cluster.namespaces.toggle(PASSING_NAMESPACE);
    else while (!clients.act()) await scheduler.pass(100);
    company.act();
    watchers?.act();
    releases?.act();
    if (often === "families") families.act();
    // The Worker does so before the first request that it has for a cluster.
    if (random.below(20) === 0) void network.call(CLIENT, cluster.services, (store) => store.ensureBootstrapped()).catch(() => undefined);
    await scheduler.pass(random.below(gapMs));
    if (network.chance(faults.crash)) crashSomeone(cluster, random);
  }
  cluster.repairWatch.proposing = () => Promise.resolve();
  await settle({ clients, company, families, releases, shards, watchers, random });
  const violations = [...(await checkQuiet(cluster)), ...clients.check(), ...company.check(), ...cluster.momentary, ...checkOver(cluster)];
  violations.push(...(watchers?.check() ?? []));
  violations.push(...cluster.logged.filter((line) => !isExpected(line)));
  return {
    seed,
    violations,
    parameters: {
      ranges,
      gapMs,
      changes,
      namespaceControllerOff: isOff,
      ...(isWatched ? { isWatched } : {}),
      ...(isReleased ? { isReleased } : {}),
      ...faults,
    },
    operations,
    faults: network.faulted,
    marks: [...network.marks],
  };
}

/** Who acts upon a cluster. */
interface Acting {
  clients: SimClients;
  company: SimCompany;
  families: SimFamilies;
  shards: SimShards;
  watchers: SimWatchers | undefined;
  releases: SimReleases | undefined;
  random: WordRandom;
}

/** Longer than a hand-off may take, most calls are lost: what is under way is given up. */
async function outlast(cluster: SimCluster, faults: FaultRates): Promise<void> {
  cluster.network.faults = { ...faults, lost: 0.8 };
  await cluster.scheduler.pass(70_000);
  cluster.network.faults = faults;
}

async function settle({ clients, company, families, releases, shards, watchers, random }: Acting): Promise<void> {
  const { cluster } = company;
  const { network, scheduler } = cluster;
  await scheduler.pass(random.below(60_000));
  await releases?.settle();
  network.faults = NO_FAULTS;
  if (cluster.onlyRanges) cluster.setGate(true);
  // What was put off by a clock that was fast is due only when the right time gets there.
  const nodes = [...cluster.nodes, shards.node];
  const offMs = Math.max(0, ...nodes.map(({ clockOffMs }) => clockOffMs));
  for (const node of nodes) node.clockOffMs = 0;
  await scheduler.pass(offMs);
  await cluster.quiesce();
  // Not before what was late has arrived.
  clients.letGo();
  families.letGo();
  const isHandingOver = (): boolean => Object.keys(cluster.coordinatorStorage.contents.handoffs).length > 0;
  for (const end = scheduler.now + HANDOFF_REST_MS; isHandingOver() && scheduler.now < end;) await scheduler.pass(10_000);
  await watchers?.rest();
  await company.settle();
}

/** No hand-off is under way for ever. */
function checkOver(cluster: SimCluster): string[] {
  return Object.values(cluster.coordinatorStorage.contents.handoffs).flatMap((row) =>
    row.phase === "resting" ? [] : [`leak: a hand-off is not over: ${JSON.stringify(row)}`],
  );
}
