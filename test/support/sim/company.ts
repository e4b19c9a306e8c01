/** What runs beside the clients of a simulated cluster: cron, which pokes the controllers, and somebody who follows the stores. */
import type { WordRandom } from "../../../src/core/base/word-random";
import type { SimCluster } from "./cluster";
import type { Relative } from "./watches/collector-watch";
import type { SimFamilies } from "./families";
import { SimInformer } from "./informer";
import { SIMULATED } from "./platform/platform";
import { pick } from "./platform/seeded-random";

/** Within so many rounds of cron everything is repaired. */
const ROUNDS = 5;
/** How old an orphan has to be before it goes, and a little. */
const ORPHAN_AGE_MS = 70_000;

export class SimCompany {
  readonly #informers: readonly SimInformer[];

  constructor(
    readonly cluster: SimCluster,
    private readonly random: WordRandom,
    private readonly families: SimFamilies,
  ) {
    this.#informers = [new SimInformer(cluster, "services"), new SimInformer(cluster, "ipaddresses")];
  }

  /** Starts what its turn it is; does not wait for it. */
  act(): void {
    const { controllers, network } = this.cluster;
    const dice = this.random.below(24);
    if (dice < 2) controllers.cron("repair");
    else if (dice < 4) this.#endNamespaces();
    else if (dice < 6) controllers.cron("garbage-collection");
    else if (dice < 11) this.families.act();
    else if (dice === 11) for (const informer of this.#informers) void informer.follow();
    if (network.chance(network.faults.crash / 4)) controllers.of(pick(this.random, SIMULATED)).crash();
  }

  /** Until there is nothing left to do. The network works. */
  async settle(): Promise<void> {
    const { cluster } = this;
    const { controllers, scheduler } = cluster;
    for (let round = 0; round < ROUNDS; round++) {
      const { commits } = cluster;
      for (const name of ["garbage-collection", "repair"] as const) controllers.cron(name);
      this.#endNamespaces();
      const due = cluster.tables.controllers.repair.suspectEarliest() ?? 0;
      // An IPAddress that was written by a clock that was fast is young for longer.
      await scheduler.pass(Math.max(ORPHAN_AGE_MS, due - scheduler.now + 1_000));
      await cluster.calm(ORPHAN_AGE_MS);
      if (commits === cluster.commits && cluster.tables.controllers.repair.suspectEarliest() === undefined) break;
    }
    await cluster.quiesce();
    for (const informer of this.#informers) await scheduler.run(informer.follow());
  }

  /** The namespace controller, or that of somebody else where it is off. */
  #endNamespaces(): void {
    const { controllers, namespaces, off } = this.cluster;
    if (off.has("namespaces")) void namespaces.endAsSomebodyElse();
    else controllers.cron("namespaces");
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
