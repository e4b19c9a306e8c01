/** What runs beside the clients of a simulated cluster: repair, the deletion of namespaces, and somebody who follows the stores. */
import type { WordRandom } from "../../../src/core/base/word-random";
import { SLICED_MARK } from "../../../src/addresses/repair/repair-ports";
import type { Service } from "../../../src/api/meta/kubernetes";
import type { RepairWorld } from "../worlds/repair-world";
import { servicesOf } from "./checks";
import { SimInformer } from "./informer";

/** Within so many passes after each other everything is repaired. */
const ROUNDS = 3;
/** How old an orphan has to be before it goes, and a little. */
const ORPHAN_AGE_MS = 70_000;

export class SimControllers {
  readonly #informers: readonly SimInformer[];
  #repairing = false;

  constructor(
    readonly world: RepairWorld,
    private readonly random: WordRandom,
  ) {
    this.#informers = [new SimInformer(world.cluster, "services"), new SimInformer(world.cluster, "ipaddresses")];
    world.cluster.repairPoked = () => this.#repair();
  }

  /** Starts what its turn it is; does not wait for it. */
  act(): void {
    const dice = this.random.below(24);
    if (dice < 2) this.#repair();
    else if (dice < 4) void this.world.cluster.namespaces.pass().catch(() => undefined);
    else if (dice === 4) for (const informer of this.#informers) void informer.follow();
    if (this.world.cluster.network.chance(this.world.cluster.network.faults.crash / 4)) this.world.crash();
  }

  /** Until there is nothing left to do. The network works. */
  async settle(): Promise<void> {
    const { cluster } = this.world;
    for (let round = 0; round < ROUNDS; round++) {
      const { commits } = cluster;
      await this.world.run(cluster.namespaces.pass());
      // Everything is looked at, however short ago that was.
      this.world.storage.markSet(SLICED_MARK, 0);
      await this.world.pass();
      const due = this.world.storage.suspectEarliest();
      // An IPAddress that was written by a clock that was fast is young for longer.
      if (due !== undefined) await this.world.wait(Math.max(ORPHAN_AGE_MS, due - this.world.now + 1_000));
      else await cluster.calm(ORPHAN_AGE_MS);
      if (commits === cluster.commits && this.world.storage.suspectEarliest() === undefined) break;
    }
    await cluster.quiesce();
    for (const informer of this.#informers) await this.world.run(informer.follow());
  }

  /** What has to hold when everything is quiet. */
  check(): string[] {
    const { namespaces } = this.world.cluster;
    const strays = servicesOf(this.world.cluster).filter(({ metadata }) => !namespaces.has(metadata?.namespace ?? ""));
    return [...this.world.harm, ...strays.map(describeStray), ...this.#informers.flatMap((informer) => informer.check())];
  }

  #repair(): void {
    if (this.#repairing) return;
    this.#repairing = true;
    const end = (): void => void (this.#repairing = false);
    void this.world.repairer.run().then(end, end);
  }
}

function describeStray({ metadata }: Service): string {
  return `rule 20: the Service ${metadata?.name ?? ""} is in the namespace ${metadata?.namespace ?? ""}, which does not exist`;
}
