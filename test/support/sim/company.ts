/** What runs beside the clients of a simulated cluster: cron, which pokes the controllers, and somebody who follows the stores. */
import type { WordRandom } from "../../../src/core/base/word-random";
import type { SimCluster } from "./cluster";
import type { Relative } from "./watches/collector-watch";
import type { SimFamilies } from "./families";
import type { SimShards } from "./shards";
import { FULL_AT } from "../../../src/addresses/repair/repair-ports";
import { SimInformer } from "./informer";
import { SIMULATED } from "./platform/platform";
import { pick } from "./platform/seeded-random";

/** Within so many rounds of cron everything is repaired. */
const ROUNDS = 8;
/** The same for full visits: a deletion goes on from one controller to the next. */
const FULL_VISITS = 4;
/** How old an orphan has to be before it goes, and a little. */
const ORPHAN_AGE_MS = 70_000;

export class SimCompany {
  readonly #informers: readonly SimInformer[];
  /** what did not hold behind the ticks at rest */
  #atTicks: readonly string[] = [];

  constructor(
    readonly cluster: SimCluster,
    private readonly random: WordRandom,
    private readonly families: SimFamilies,
    private readonly shards: SimShards,
  ) {
    this.#informers = [new SimInformer(cluster, "services"), new SimInformer(cluster, "ipaddresses")];
  }

  /** Starts what its turn it is; does not wait for it. */
  act(): void {
    const { controllers, network } = this.cluster;
    this.shards.act();
    const dice = this.random.below(24);
    if (dice < 2 || dice === 4 || dice === 5) this.shards.tick();
    else if (dice < 4) this.#endNamespaces();
    else if (dice < 11) this.families.act();
    else if (dice === 11) for (const informer of this.#informers) void informer.follow();
    if (network.chance(network.faults.crash / 4)) controllers.of(pick(this.random, SIMULATED)).crash();
  }

  /** Until there is nothing left to do. The network works. */
  async settle(): Promise<void> {
    const { cluster } = this;
    const { controllers, scheduler } = cluster;
    this.shards.letGo();
    for (let round = 0; round < ROUNDS; round++) {
      const { commits } = cluster;
      this.shards.tick();
      this.#endNamespaces();
      const due = cluster.tables.controllers.repair.suspectEarliest() ?? 0;
      // An IPAddress that was written by a clock that was fast is young for longer.
      await scheduler.pass(Math.max(ORPHAN_AGE_MS, due - scheduler.now + 1_000));
      await cluster.calm(ORPHAN_AGE_MS);
      const isQuiet =
        cluster.tables.controllers.repair.suspectEarliest() === undefined && !controllers.awaitsVisits && !this.shards.owesVisit;
      if (commits === cluster.commits && isQuiet) break;
    }
    this.#atTicks = this.shards.checkTicks();
    await this.#visitInFull();
    await this.shards.forgetOther();
    await cluster.quiesce();
    for (const informer of this.#informers) await scheduler.run(informer.follow());
  }

  /**
   * The full visits of the days that follow, where somebody has died before the list of visits had answered, or no note of the last writes has reached the
   * shard. Else the visits of ticks have to be enough, and a full one would hide what they miss.
   */
  async #visitInFull(): Promise<void> {
    const { controllers, unlisted, scheduler, tables } = this.cluster;
    const isForgotten = controllers.awaitsVisits && !this.shards.isBusy;
    if (!isForgotten && ![...unlisted].some((caller) => !caller.isAlive())) return;
    for (let round = 0; round < FULL_VISITS; round++) {
      tables.controllers.repair.numberSet(FULL_AT, 0);
      await this.shards.dayLater();
      this.shards.tick();
      await scheduler.pass(ORPHAN_AGE_MS);
      await this.cluster.calm(ORPHAN_AGE_MS);
    }
  }

  /** The namespace controller of somebody else, where the cluster's own is off. */
  #endNamespaces(): void {
    const { namespaces, off } = this.cluster;
    if (off.has("namespaces")) void namespaces.endAsSomebodyElse();
  }

  /** What has to hold when everything is quiet. */
  check(): string[] {
    const { controllers, namespaces, repairWatch } = this.cluster;
    const { collectorWatch } = controllers;
    // A finalizer of a client holds its object, and the object its namespace.
    const inhabited = new Set(collectorWatch.relatives().map(({ object }) => object.metadata?.namespace));
    const empty = namespaces.terminating.filter((name) => !inhabited.has(name));
    const strays = collectorWatch.relatives().filter(({ object }) => !namespaces.has(object.metadata?.namespace ?? ""));
    return [
      ...this.#atTicks,
      ...this.shards.check(),
      ...repairWatch.harm,
      ...collectorWatch.harm,
      ...collectorWatch.atRest(),
      ...empty.map((name) => `rule 20: the deletion of the namespace ${name} does not end`),
      ...strays.map(describeStray),
      ...this.#informers.flatMap((informer) => informer.check()),
    ];
  }
}

function describeStray({ kind, key }: Relative): string {
  return `rule 20: the ${kind} ${key} is in a namespace that does not exist`;
}
