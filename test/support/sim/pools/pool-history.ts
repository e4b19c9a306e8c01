/**
 * One random history of pools, from its seed alone: pools come, overlap, grow, shrink, change their NAT domain and go; ranges of Services come where pools
 * are; claims and addresses come and go; calls get lost, late and repeated, and every object dies at its commits and between claim and answer. Then everything
 * comes to rest.
 *
 * At no moment may anything be held twice. At rest nothing is leaked, and every claim has its address or the reason why it has none.
 */
import type { KubeObject, ServiceCIDR } from "../../../../src/api/meta/kubernetes";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../../../../src/api/registry/ipam/definitions";
import {
  type AddressClaim,
  type AddressPool,
  CLAIM_VERSION,
  IPAM_GROUP,
  isNamespacedPool,
  isPrefixPool,
  type PoolAddress,
  POOL_VERSION,
  type PoolKind,
  type PoolSpec,
  PREFIX_LENGTH,
} from "../../../../src/api/registry/ipam/ipam";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { DELETE, WRITE } from "../../worlds/store-world";
import { SimCluster } from "../cluster";
import { drawFaults, isExpected } from "../histories/history";
import { CLIENT, NO_FAULTS } from "../platform/network";
import { pick, seededRandom } from "../platform/seeded-random";
import { checkQuiet } from "../watches/checks";
import { type PoolMark, type PoolSabotage, SimPools } from "./sim-pools";

export interface PoolReport {
  seed: number;
  violations: string[];
  crashes: number;
  /** claims that had an address in the end */
  served: number;
  marks: PoolMark[];
}

const NAMESPACE = "default";
const CLAIMS = 10;
/** They overlap each other, and RANGES. */
const ADDRESSES = ["10.8.0.1-10.8.0.3", "10.8.0.2-10.8.0.5", "10.8.0.6", "10.8.0.6-10.8.0.9", "10.8.0.9-10.8.0.10"] as const;
const RANGES = ["10.8.0.0/29", "10.8.0.8/29"] as const;
const DOMAINS = ["", "", "", "x", "y"] as const;
/** The same place, in prefixes. */
const PREFIXES = ["10.8.0.0/29", "10.8.0.4/30", "10.8.0.8/29", "10.8.0.0/28"] as const;
const UNIT = 31;
/** Lengths that claims ask for; of the last one no pool has prefixes. */
const LENGTHS = ["", "", "30", "29", "32"] as const;
const POOLS: readonly (readonly [PoolKind, string])[] = [
  ["InClusterIPPool", "p0"],
  ["InClusterIPPool", "p1"],
  ["GlobalInClusterIPPool", "p0"],
];
/** Every other history has these, too. */
const PREFIX_POOLS: typeof POOLS = [
  ["InClusterPrefixPool", "p0"],
  ["GlobalInClusterPrefixPool", "p0"],
];
const NAT = "servicenet.dev/nat-domain";
const KEEP = "servicenet.dev/keep-out-of-range";
const SKIP = "ipam.cluster.x-k8s.io/skip-validate-delete-webhook";

export async function runPoolHistory({ seed, sabotage }: { seed: number; sabotage?: PoolSabotage }): Promise<PoolReport> {
  const random = seededRandom(seed ^ 0x9001);
  const cluster = new SimCluster({ seed, ranges: ["10.0.0.0/26"], families: ["IPv4"] });
  const { network, scheduler } = cluster;
  const world = new SimPools(cluster, sabotage);
  const clients = new Clients(cluster, world, random, seed % 2 === 0 ? [...POOLS, ...PREFIX_POOLS] : POOLS);
  await scheduler.pass(10_000);
  const drawn = drawFaults(random);
  const some = (rate: number): number => (random.below(2) === 0 ? 0 : rate * random.next());
  network.faults = { ...drawn, alarmFails: some(0.3) };
  const acts = 60 + random.below(60);
  const gapMs = pick(random, [2, 20, 400, 4_000]);
  for (let i = 0; i < acts; i++) {
    clients.act();
    await scheduler.pass(random.below(gapMs));
    if (network.chance(drawn.crash)) pick(random, world.nodes).crash();
    if (random.below(30) === 0) world.cron();
  }
  await scheduler.pass(random.below(60_000));
  network.faults = NO_FAULTS;
  await cluster.quiesce();
  await clients.last();
  // A claim of a lost write is settled ten minutes later at the latest, unless somebody meets it before.
  for (let minute = 0; minute < 14; minute++) {
    world.cron();
    await scheduler.pass(60_000);
  }
  const violations = [...world.atRest(), ...(await checkQuiet(cluster)), ...cluster.momentary];
  violations.push(...cluster.logged.filter((line) => !isExpected(line)));
  const served = world.objects<AddressClaim>(addressClaimsDefinition).filter(({ status }) => status?.addressRef).length;
  return { seed, violations, crashes: network.crashes, served, marks: [...world.marks].sort() };
}

class Clients {
  constructor(
    private readonly cluster: SimCluster,
    private readonly world: SimPools,
    private readonly random: WordRandom,
    private readonly pools: typeof POOLS,
  ) {}

  /** Starts one random write; does not wait for it. */
  act(): void {
    const dice = this.random.below(30);
    if (dice < 3) void this.#makePool();
    else if (dice < 6) void this.#changePool();
    else if (dice < 7) void this.#remove(poolDefinitions[pick(this.random, this.pools)[0]]);
    else if (dice < 20) void this.#makeClaim();
    else if (dice < 24) void this.#remove(addressClaimsDefinition);
    else if (dice < 26) void this.#remove(poolAddressesDefinition);
    else if (dice < 27) void this.#makeAddress();
    else if (dice < 29) void this.#makeRange();
    else void this.#removeRange();
  }

  /** A pool that nothing overlaps: the book looks at all others when it is settled. */
  async last(): Promise<void> {
    const object: AddressPool = { metadata: { name: "last", namespace: NAMESPACE }, spec: { addresses: ["10.9.0.1"], prefix: 24 } };
    await this.cluster.scheduler.run(this.#send(poolDefinitions.InClusterIPPool, create(NAMESPACE, object, POOL_VERSION)));
  }

  #makePool(): Promise<unknown> {
    const [kind, name] = pick(this.random, this.pools);
    const namespace = isNamespacedPool(kind) ? NAMESPACE : "";
    const fixed = isPrefixPool(kind) ? { allocationPrefixLength: UNIT } : { prefix: 24 };
    const object: AddressPool = {
      metadata: { name, ...(namespace && { namespace }), annotations: this.#annotations() },
      spec: { ...this.#entries(kind, 1), ...fixed, addressReuseGracePeriodSeconds: pick(this.random, [0, 0, 5]) },
    };
    return this.#send(poolDefinitions[kind], create(namespace, object, POOL_VERSION));
  }

  #entries(kind: PoolKind, count: number): PoolSpec {
    const some = <T>(values: readonly T[]): T[] => Array.from({ length: count }, () => pick(this.random, values));
    return isPrefixPool(kind) ? { prefixes: some(PREFIXES) } : { addresses: some(ADDRESSES) };
  }

  #annotations(): Record<string, string> {
    const domain = pick(this.random, DOMAINS);
    return {
      ...(domain && { [NAT]: domain }),
      ...(this.random.below(3) === 0 && { [KEEP]: "true" }),
      ...(this.random.below(3) === 0 && { [SKIP]: "" }),
    };
  }

  #changePool(): Promise<unknown> | undefined {
    const [kind] = pick(this.random, this.pools);
    const all = this.world.objects<AddressPool>(poolDefinitions[kind]);
    if (all.length === 0) return undefined;
    const { metadata } = pick(this.random, all);
    const entries = this.#entries(kind, 1 + this.random.below(2));
    const annotations = { [NAT]: null, [KEEP]: null, [SKIP]: null, ...this.#annotations() };
    const patch = JSON.stringify({ metadata: { annotations }, spec: entries });
    const key = { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
    const options = optionsOf(POOL_VERSION);
    return this.#send(poolDefinitions[kind], { verb: "patch", key, subresource: "", patchType: "merge", patch, options });
  }

  #makeClaim(): Promise<unknown> {
    const [kind, name] = pick(this.random, this.pools);
    const length = isPrefixPool(kind) ? pick(this.random, LENGTHS) : "";
    const object: AddressClaim = {
      metadata: {
        namespace: NAMESPACE,
        name: `c${this.random.below(CLAIMS)}`,
        ...(length && { annotations: { [PREFIX_LENGTH]: length } }),
      },
      spec: { poolRef: { apiGroup: IPAM_GROUP, kind, name } },
    };
    return this.#send(addressClaimsDefinition, create(NAMESPACE, object, CLAIM_VERSION));
  }

  /** An address that a client makes for a claim that may come. */
  #makeAddress(): Promise<unknown> {
    const [kind, name] = pick(this.random, this.pools);
    const of = `c${this.random.below(CLAIMS)}`;
    const object: PoolAddress = {
      metadata: { namespace: NAMESPACE, name: of },
      spec: {
        claimRef: { name: of },
        poolRef: { apiGroup: IPAM_GROUP, kind, name },
        ...(isPrefixPool(kind)
          ? { address: `10.8.0.${4 * this.random.below(4)}`, prefix: 30 + this.random.below(2) }
          : { address: `10.8.0.${1 + this.random.below(10)}`, prefix: 24 }),
      },
    };
    return this.#send(poolAddressesDefinition, create(NAMESPACE, object, CLAIM_VERSION));
  }

  async #makeRange(): Promise<void> {
    const object: ServiceCIDR = { metadata: { name: `r${this.random.below(2)}` }, spec: { cidrs: [pick(this.random, RANGES)] } };
    const options = { ...WRITE, group: "networking.k8s.io" };
    const request: WriteRequest = { verb: "create", namespace: "", object: JSON.stringify(object), options };
    const { network, coordinator } = this.cluster;
    const answer = await network.call(CLIENT, coordinator, (store) => store.write(request)).catch(() => undefined);
    if (answer && !answer.ok && answer.status.message?.match(/InCluster(IP|Prefix)Pool/)) this.world.marks.add("range overlaps a pool");
  }

  async #removeRange(): Promise<void> {
    const key = { namespace: "", name: `r${this.random.below(2)}` };
    const { network, coordinator } = this.cluster;
    await network.call(CLIENT, coordinator, (store) => store.write({ verb: "delete", key, options: DELETE })).catch(() => undefined);
  }

  #remove(definition: ResourceDefinition): Promise<unknown> | undefined {
    const all = this.world.objects(definition);
    if (all.length === 0) return undefined;
    const { metadata } = pick(this.random, all);
    const key = { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
    return this.#send(definition, { verb: "delete", key, options: DELETE });
  }

  /** undefined = no answer came. */
  async #send(definition: ResourceDefinition, request: WriteRequest): Promise<WriteResult | undefined> {
    try {
      const answer = await this.cluster.network.call(CLIENT, this.world.store(definition), (store) => store.write(request));
      this.#note(answer);
      return answer;
    } catch {
      return undefined;
    }
  }

  #note(answer: WriteResult): void {
    const message = answer.ok ? "" : (answer.status.message ?? "");
    const { marks } = this.world;
    if (/overlaps with \w*IPPool/.test(message)) marks.add("pools overlap");
    if (message.includes("overlaps with ServiceCIDR")) marks.add("pool overlaps a range");
    if (message.startsWith("pool addresses do not contain")) marks.add("shrink refused");
    if (message.startsWith("Pool has IPAddresses allocated")) marks.add("deletion refused");
  }
}

function optionsOf(version: string) {
  return { ...WRITE, group: IPAM_GROUP, version };
}

function create(namespace: string, object: KubeObject, version: string): WriteRequest {
  return { verb: "create", namespace, object: JSON.stringify(object), options: optionsOf(version) };
}
