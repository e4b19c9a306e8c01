/** What runs beside the clients of a simulated cluster: cron, which pokes the controllers, and somebody who follows the stores. */
import type { WordRandom } from "../../../src/core/base/word-random";
import type { Service } from "../../../src/api/meta/kubernetes";
import { servicesOf } from "./checks";
import type { SimCluster } from "./cluster";
import { SIMULATED } from "./controllers";
import { SimInformer } from "./informer";
import { pick } from "./seeded-random";

/** Within so many rounds of cron everything is repaired. */
const ROUNDS = 5;
/** How old an orphan has to be before it goes, and a little. */
const ORPHAN_AGE_MS = 70_000;

export class SimCompany {
  readonly #informers: readonly SimInformer[];

  constructor(
    readonly cluster: SimCluster,
    private readonly random: WordRandom,
  ) {
    this.#informers = [new SimInformer(cluster, "services"), new SimInformer(cluster, "ipaddresses")];
  }

  /** Starts what its turn it is; does not wait for it. */
  act(): void {
    const { controllers, network } = this.cluster;
    const dice = this.random.below(24);
    if (dice < 2) controllers.cron("repair");
    else if (dice < 4) controllers.cron("namespaces");
    else if (dice === 4) for (const informer of this.#informers) void informer.follow();
    if (network.chance(network.faults.crash / 4)) controllers.of(pick(this.random, SIMULATED)).node.crash();
  }

  /** Until there is nothing left to do. The network works. */
  async settle(): Promise<void> {
    const { cluster } = this;
    const { controllers, scheduler } = cluster;
    for (let round = 0; round < ROUNDS; round++) {
      const { commits } = cluster;
      for (const name of SIMULATED) controllers.cron(name);
      const due = controllers.repairTables.suspectEarliest() ?? 0;
      // An IPAddress that was written by a clock that was fast is young for longer.
      await scheduler.pass(Math.max(ORPHAN_AGE_MS, due - scheduler.now + 1_000));
      await cluster.calm(ORPHAN_AGE_MS);
      if (commits === cluster.commits && controllers.repairTables.suspectEarliest() === undefined) break;
    }
    await cluster.quiesce();
    for (const informer of this.#informers) await scheduler.run(informer.follow());
  }

  /** What has to hold when everything is quiet. */
  check(): string[] {
    const { namespaces, repairWatch } = this.cluster;
    // A finalizer of a client holds its Service, and the Service its namespace.
    const inhabited = new Set(servicesOf(this.cluster).map(({ metadata }) => metadata?.namespace));
    const empty = namespaces.terminating.filter((name) => !inhabited.has(name));
    const strays = servicesOf(this.cluster).filter(({ metadata }) => !namespaces.has(metadata?.namespace ?? ""));
    return [
      ...repairWatch.harm,
      ...empty.map((name) => `rule 20: the deletion of the namespace ${name} does not end`),
      ...strays.map(describeStray),
      ...this.#informers.flatMap((informer) => informer.check()),
    ];
  }
}

function describeStray({ metadata }: Service): string {
  return `rule 20: the Service ${metadata?.name ?? ""} is in the namespace ${metadata?.namespace ?? ""}, which does not exist`;
}
