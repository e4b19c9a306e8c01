/**
 * Two releases in one simulated cluster, as during a deployment and behind a rollback: each object runs the one or the other, and so does the Worker whose
 * cron comes. An object changes its release by a new life, forward and back, in the middle of whatever it does.
 */
import type { ControllerBrain } from "../../../durable-objects/platform/controllers";
import { OLDER_CRON_AT } from "../../../src/addresses/repair/repair-ports";
import type { WordRandom } from "../../../src/core/base/word-random";
import type { EarlierRelease, Lacking } from "./platform/earlier-release";
import type { SimNode } from "./platform/network";
import { pick } from "./platform/seeded-random";
import { SIMULATED } from "./platform/platform";
import type { SimCluster } from "./cluster";
import type { SimShards } from "./shards";

/** Of so many turns one changes the release of an object, and of as many more one that of all, within ALL_MS. */
const ONE_EACH = 30;
const ALL_EACH = 100;
const ALL_MS = 3_000;
/** A deployment is over after so long. */
const LAST_MS = 30_000;

type AnyNode = SimNode<object>;

export class SimReleases {
  constructor(
    private readonly cluster: SimCluster,
    private readonly shards: SimShards,
    private readonly random: WordRandom,
  ) {
    // The cluster is of the release before, a deployment is under way, or is over.
    const [share, of] = pick(random, [
      [1, 1],
      [1, 2],
      [0, 1],
    ]) as [number, number];
    for (const node of this.#nodes) if (random.below(of) < share) this.#deploy(node, true);
    shards.isCronEarlier = () => this.#isMixed && random.below(2) === 0;
  }

  /** Does what its turn it is; does not wait for it. */
  act(): void {
    const { random } = this;
    const { scheduler } = this.cluster;
    if (random.below(ONE_EACH) === 0) {
      const node = this.#nodes[random.below(this.#nodes.length)];
      if (node) this.#deploy(node, !node.isEarlier);
    }
    if (random.below(ALL_EACH) > 0) return;
    const isEarlier = random.below(2) === 0;
    for (const node of this.#nodes) scheduler.after(random.below(ALL_MS), () => this.#deploy(node, isEarlier));
  }

  /** The deployment comes to its end: everybody runs this release. */
  async settle(): Promise<void> {
    const { scheduler } = this.cluster;
    await scheduler.pass(ALL_MS);
    for (const node of this.#nodes) scheduler.after(this.random.below(LAST_MS), () => this.#deploy(node, false));
    await scheduler.pass(LAST_MS);
  }

  get #isMixed(): boolean {
    return this.#nodes.some(({ isEarlier }) => isEarlier);
  }

  #deploy(node: AnyNode, isEarlier: boolean): void {
    if (node.isEarlier === isEarlier) return;
    this.cluster.network.occurred(isEarlier ? "object rolled back" : "object brought forward");
    node.deploy(isEarlier ? this.#releaseOf(node) : undefined);
  }

  get #nodes(): AnyNode[] {
    const { controllerNodes, nodes } = this.cluster;
    return [...nodes, ...Object.values(controllerNodes), this.shards.node] as unknown as AnyNode[];
  }

  #releaseOf(node: AnyNode): EarlierRelease<object> {
    const { cluster, shards } = this;
    const { controllerNodes, services, coordinator, ipAddresses, plain } = cluster;
    const kinds = new Map<unknown, Lacking>([
      [services, "the services store"],
      [coordinator, "the Coordinator"],
      ...[ipAddresses, plain.namespaces, plain.leases].map((store) => [store, "a store"] as const),
      ...SIMULATED.map((name) => [controllerNodes[name], name === "repair" ? "repair" : "a controller"] as const),
      [shards.node, "a shard"],
    ]);
    const kind = kinds.get(node) ?? "an owner";
    return kind === "repair" || kind === "a controller"
      ? { kind, methods: (brain) => this.#asController(brain as ControllerBrain) }
      : { kind };
  }

  /** A controller of the release before waits for no pass, and takes each of cron's calls for a full visit. */
  #asController(brain: ControllerBrain): Partial<ControllerBrain> {
    const { scheduler, tables } = this.cluster;
    return {
      poke: () => brain.poke(),
      pokeFrom: async (settings, who) => {
        if (who === "cron") tables.controllers.repair.numberSet(OLDER_CRON_AT, scheduler.now);
        await brain.pokeFrom?.(settings);
        return undefined;
      },
    };
  }
}
