/**
 * One random history of quotas, from its seed alone: quotas come, change and go, clients create as much as they may, the stores and the controller die
 * at their commits, calls get lost, late and repeated, and a store's limits are brought back in time; then everything comes to rest.
 *
 * At no moment a write may exceed a limit that its store has. At rest every store has the limits that there are, every status says what is used, and a
 * limit that a client is told to hold does hold.
 */
import type { KubeObject, ResourceQuota, Service } from "../../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../../src/api/registry/config-maps/definition";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import { resourceQuotasDefinition } from "../../../../src/api/registry/resource-quotas/definition";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import type { WriteOptions, WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { DELETE } from "../../worlds/store-world";
import { checkQuiet } from "../watches/checks";
import { SimCluster } from "../cluster";
import { drawFaults, isExpected } from "./history";
import { CLIENT, NO_FAULTS } from "../platform/network";
import { COUNTED, type QuotaSabotage, SimQuotas } from "../quotas";
import { pick, seededRandom } from "../platform/seeded-random";

export interface QuotaReport {
  seed: number;
  violations: string[];
  crashes: number;
  /** writes that a quota refused */
  refused: number;
  /** how often the limits of a store were brought back in time */
  broughtBack: number;
}

const NAMESPACES = ["default", "other"];
const QUOTAS = 3;
const NAMES = ["configmaps", "count/configmaps", "services", "services.nodeports", "resourcequotas"];
const OBJECTS = 8;
const LIMIT_MAX = 4;
/** What clients ask for at once in the end. */
const CROWD = 8;

export async function runQuotaHistory({ seed, sabotage }: { seed: number; sabotage?: QuotaSabotage }): Promise<QuotaReport> {
  const random = seededRandom(seed ^ 0x900a);
  const cluster = new SimCluster({ seed, ranges: ["10.0.0.0/26"], families: ["IPv4"] });
  const { network, scheduler } = cluster;
  const world = new SimQuotas(cluster, sabotage);
  const clients = new Clients(cluster, world, random);
  await scheduler.run(cluster.namespaces.create("other"));
  await scheduler.pass(10_000);

  const drawn = drawFaults(random);
  const some = (rate: number): number => (random.below(2) === 0 ? 0 : rate * random.next());
  network.faults = { ...drawn, clockJump: some(0.04), alarmFails: some(0.3) };
  const acts = 60 + random.below(60);
  const gapMs = pick(random, [2, 20, 400, 4_000]);
  const past: (() => void)[] = [];
  let broughtBack = 0;
  const bringBack = (): void => {
    if (past.length === 0) return;
    broughtBack++;
    past.splice(random.below(past.length), 1)[0]?.();
  };
  for (let i = 0; i < acts; i++) {
    clients.act();
    await scheduler.pass(random.below(gapMs));
    if (network.chance(drawn.crash)) pick(random, world.nodes).crash();
    if (random.below(30) === 0) world.cron();
    if (random.below(12) === 0) past.push(world.remembered(pick(random, COUNTED)));
    if (random.below(25) === 0) bringBack();
  }
  // What was on its way arrives before the network heals: late messages of limits are nobody's news then.
  await scheduler.pass(random.below(60_000));
  network.faults = NO_FAULTS;
  // Nothing is written after it that would tell a store its limits.
  if (random.below(2) === 0) bringBack();
  for (const node of cluster.nodes) node.clockOffMs = 0;
  await cluster.quiesce();
  for (let minute = 0; minute < 4; minute++) {
    world.cron();
    await scheduler.pass(60_000);
    // A limit that is none any more is found when it refuses.
    if (minute < 3) await clients.crowd();
  }
  const violations = [...(await clients.acknowledged())];
  for (let minute = 0; minute < 2; minute++) {
    world.cron();
    await scheduler.pass(60_000);
  }
  await cluster.quiesce();
  violations.push(...world.atRest(), ...(await checkQuiet(cluster)), ...cluster.momentary);
  violations.push(...cluster.logged.filter((line) => !isExpected(line)));
  return { seed, violations, crashes: network.crashes, refused: clients.refused, broughtBack };
}

class Clients {
  refused = 0;

  constructor(
    private readonly cluster: SimCluster,
    private readonly world: SimQuotas,
    private readonly random: WordRandom,
  ) {}

  /** Starts one random write; does not wait for it. */
  act(): void {
    const dice = this.random.below(20);
    const namespace = pick(this.random, NAMESPACES);
    if (dice < 5) void this.#quota(namespace, `q${this.random.below(QUOTAS)}`, this.#hard());
    else if (dice < 6) this.#removeOne(resourceQuotasDefinition);
    else if (dice < 10) void this.#create(configMapsDefinition, { metadata: { namespace, name: `c${this.random.below(OBJECTS)}` } });
    else if (dice < 12) this.#removeOne(configMapsDefinition);
    else if (dice < 16) void this.#create(servicesDefinition, this.#service(namespace, `s${this.random.below(OBJECTS)}`));
    else if (dice < 18) this.#removeOne(servicesDefinition);
    else this.#retype();
  }

  /** As many creates of each kind at once as no limit allows; what they made goes again. */
  async crowd(): Promise<void> {
    const made: Promise<unknown>[] = [];
    for (const namespace of NAMESPACES) {
      for (let i = 0; i < CROWD; i++) {
        const name = `crowd-${i}`;
        made.push(this.#create(configMapsDefinition, { metadata: { namespace, name } }));
        made.push(this.#create(servicesDefinition, this.#service(namespace, name, "NodePort")));
        made.push(this.#quota(namespace, name, {}));
      }
    }
    await this.cluster.scheduler.run(Promise.all(made));
    const gone = COUNTED.flatMap((definition) =>
      this.world
        .objects(definition)
        .filter(({ metadata }) => metadata?.name?.startsWith("crowd-"))
        .map((object) => this.#remove(definition, object)),
    );
    await this.cluster.scheduler.run(Promise.all(gone));
  }

  /** A quota is acknowledged, then a crowd comes: it gets what the quota leaves, and no more. Answers what did not hold. */
  async acknowledged(): Promise<string[]> {
    const { scheduler } = this.cluster;
    const hard = { "count/configmaps": String(this.random.below(LIMIT_MAX + OBJECTS)) };
    const put = await scheduler.run(this.#quota("default", "q0", hard));
    if (!put?.ok) return put?.status.code === 403 ? [] : [`a quota is refused: ${put?.status.message ?? "no answer"}`];
    const count = (): number => this.world.objects(configMapsDefinition).filter(({ metadata }) => metadata?.namespace === "default").length;
    const max = Math.max(count(), Number(hard["count/configmaps"]));
    const creates = Array.from({ length: CROWD }, (_, i) =>
      this.#create(configMapsDefinition, { metadata: { namespace: "default", name: `late-${i}` } }),
    );
    await scheduler.run(Promise.all(creates));
    return count() > max ? [`${count()} ConfigMaps, although ${max} were the limit before the first create`] : [];
  }

  #hard(): Record<string, string> {
    return Object.fromEntries(NAMES.filter(() => this.random.below(3) === 0).map((name) => [name, String(this.random.below(LIMIT_MAX))]));
  }

  async #quota(namespace: string, name: string, hard: Record<string, string>): Promise<WriteResult | undefined> {
    const isThere = this.world
      .objects<ResourceQuota>(resourceQuotasDefinition)
      .some(({ metadata }) => metadata?.namespace === namespace && metadata.name === name);
    const object = { metadata: { namespace, name }, spec: { hard } } as ResourceQuota;
    if (!isThere) return this.#create(resourceQuotasDefinition, object);
    // A merge patch keeps names that it lacks.
    const spec = { hard: { ...Object.fromEntries(NAMES.map((one) => [one, null])), ...hard } };
    return this.#patch(resourceQuotasDefinition, object, { spec });
  }

  #service(namespace: string, name: string, type = pick(this.random, ["ClusterIP", "NodePort"])): KubeObject {
    return { metadata: { namespace, name }, spec: { type, ports: [{ port: 80 }] } } as Service;
  }

  #retype(): void {
    const all = this.world.objects(servicesDefinition);
    if (all.length > 0)
      void this.#patch(servicesDefinition, pick(this.random, all), { spec: { type: pick(this.random, ["ClusterIP", "NodePort"]) } });
  }

  #removeOne(definition: ResourceDefinition): void {
    const all = this.world.objects(definition);
    if (all.length > 0) void this.#remove(definition, pick(this.random, all));
  }

  #remove(definition: ResourceDefinition, { metadata }: KubeObject): Promise<WriteResult | undefined> {
    const key = { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
    return this.#send(definition, { verb: "delete", key, options: DELETE });
  }

  #create(definition: ResourceDefinition, object: KubeObject): Promise<WriteResult | undefined> {
    const namespace = object.metadata?.namespace ?? "";
    return this.#send(definition, { verb: "create", namespace, object: JSON.stringify(object), options: OPTIONS });
  }

  #patch(definition: ResourceDefinition, { metadata }: KubeObject, patch: object): Promise<WriteResult | undefined> {
    const key = { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
    const text = JSON.stringify(patch);
    return this.#send(definition, { verb: "patch", key, subresource: "", patchType: "merge", patch: text, options: OPTIONS });
  }

  /** undefined = no answer came. */
  async #send(definition: ResourceDefinition, request: WriteRequest): Promise<WriteResult | undefined> {
    try {
      const answer = await this.cluster.network.call(CLIENT, this.world.store(definition), (store) => store.write(request));
      if (!answer.ok && answer.status.message?.includes("exceeded quota")) this.refused++;
      return answer;
    } catch {
      return undefined;
    }
  }
}

const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "sim", fieldValidation: "Strict", force: false, group: "", version: "v1" };
