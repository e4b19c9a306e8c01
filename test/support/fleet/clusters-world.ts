/** The controller of Clusters on the frame, with records of clusters as a map. Each call to a record is a place where the controller may die. */
import type { Cluster } from "../../../src/api/registry/clusters/cluster";
import { clustersDefinition } from "../../../src/api/registry/clusters/definition";
import { addressClaimsDefinition, poolAddressesDefinition } from "../../../src/api/registry/ipam/definitions";
import {
  ADDRESS_FINALIZER,
  type AddressClaim,
  CLUSTER_RANGE_FINALIZER,
  IPAM_GROUP,
  type PoolAddress,
} from "../../../src/api/registry/ipam/ipam";
import type { QuotaAmounts } from "../../../src/api/rpc/namespace-quotas";
import type { ControllerList } from "../../../src/core/config/controllers";
import type { Location } from "../../../src/core/config/location";
import { ClusterRanges } from "../../../src/fleet/cluster-ranges";
import { clustersPass } from "../../../src/fleet/clusters-pass";
import type { FleetPorts } from "../../../src/fleet/ports";
import { clusterId, lifeIn } from "../../../src/tenancy/cluster-id";
import type { ClusterSource, ClusterState, ListedCluster } from "../../../src/tenancy/rpc";
import { ControllerWorld, type ControllerWorldPorts } from "../worlds/controller-world";

type Kind = "clusters" | "claims" | "addresses";

/** Parts of a cluster; each look at a deletion finds some more of them empty. */
const PARTS = 3;

const SERVED_MS = 500;

interface Made {
  id: string;
  life: number;
  phase: "active" | "deleting" | "absent";
  controllers: ControllerList | null;
  serviceRanges?: readonly string[];
  quotas?: QuotaAmounts | null;
  wiped: number;
  bootstrapped: boolean;
  /** beginnings, so that nothing begins twice unnoticed */
  begun: number;
}

export class ClustersWorld {
  readonly world: ControllerWorld<Kind>;
  readonly made = new Map<string, Made>();
  /** the list of all clusters does not answer */
  isListSilent = false;
  /** objects of clusters hear of their controllers */
  isTold = true;
  /** the record has heard of a later generation than the controller has read */
  isLater = false;
  /** ranges with which objects of an earlier release begin clusters, whatever they were told */
  beginsWith: readonly string[] | undefined;
  /** deletions go on */
  wipes = true;
  /** the list of all clusters has been told of the lives */
  tellsLives = false;
  /** every call that changes a record, to be made once more: it comes late then */
  readonly sent: (() => unknown)[] = [];
  /** uids of objects that have ended, as records know them */
  readonly #ended = new Set<string>();

  /** @param dieAt the number of the place where the controller dies; 0 = it does not */
  constructor(dieAt = 0) {
    this.world = new ControllerWorld<Kind>({
      definitions: { clusters: clustersDefinition, claims: addressClaimsDefinition, addresses: poolAddressesDefinition },
      follows: ["clusters"],
      dieAt,
      make: ({ stores: { clusters, ...stores }, ...ports }) =>
        clustersPass({ ...ports, clusters, ranges: new ClusterRanges(stores), fleet: this.#fleet(ports) }),
    });
  }

  pass(ms: number): Promise<void> {
    return this.world.pass(ms);
  }

  /** Time passes, and the controller of pools does what there is to do between. */
  async served(ms: number, free: readonly string[]): Promise<void> {
    for (let passed = 0; passed < ms; passed += SERVED_MS) {
      await this.pass(SERVED_MS);
      await this.serve(free);
    }
  }

  /** As the controller of pools does: claims get the first of these ranges that no claim has, those that are deleted give theirs back. */
  async serve(free: readonly string[]): Promise<void> {
    const { claims, addresses } = this.world.stores;
    const options = { group: IPAM_GROUP };
    for (const claim of this.world.objects<AddressClaim>("claims")) {
      const { name = "", namespace = "", uid = "", finalizers = [], deletionTimestamp } = claim.metadata ?? {};
      const address = this.world.objects<PoolAddress>("addresses").find(({ metadata }) => metadata?.name === name);
      if (deletionTimestamp) {
        if (finalizers.includes(CLUSTER_RANGE_FINALIZER)) continue;
        if (address) {
          await addresses.delete(name, {}, namespace);
          const going = addresses.stored<PoolAddress>(name, namespace);
          if (going) await addresses.update({ ...going, metadata: { ...going.metadata, finalizers: [] } }, options);
        }
        await claims.update({ ...claim, metadata: { ...claim.metadata, finalizers: [] } }, options);
      } else if (!claim.status?.addressRef) {
        const taken = this.ranges;
        const [base = "", prefix] = free.find((range) => !taken.includes(range))?.split("/") ?? [];
        if (!address && base === "") continue;
        const owner = { apiVersion: `${IPAM_GROUP}/v1beta2`, kind: "IPAddressClaim", name, uid, controller: true };
        const metadata = { name, namespace, ownerReferences: [owner], finalizers: [ADDRESS_FINALIZER] };
        const spec = {
          claimRef: { name },
          ...(claim.spec?.poolRef && { poolRef: claim.spec.poolRef }),
          address: base,
          prefix: Number(prefix),
        };
        if (!address) await addresses.create({ metadata, spec } as PoolAddress, options);
        await claims.update({ ...claim, status: { ...claim.status, addressRef: { name } } } as AddressClaim, options, "status");
      }
    }
  }

  /** what claims have */
  get ranges(): string[] {
    return this.world.objects<PoolAddress>("addresses").map(({ spec }) => `${spec?.address}/${spec?.prefix}`);
  }

  get objects(): Cluster[] {
    return this.world.objects<Cluster>("clusters");
  }

  object(name: string): Cluster | undefined {
    return this.objects.find(({ metadata }) => metadata?.name === name);
  }

  /** `name phase ready[=reason]` of each object. */
  get shown(): string[] {
    return this.objects.map(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return `${metadata?.name ?? ""} ${status?.phase ?? ""} ${ready ? (ready.status === "True" ? "True" : ready.reason) : "-"}`;
    });
  }

  /** Creates an object, as a client does. */
  async create(name: string, spec: Cluster["spec"] = {}, metadata: Cluster["metadata"] = {}): Promise<void> {
    const answer = await this.world.stores.clusters.create({ metadata: { ...metadata, name }, spec } as Cluster, {
      group: clustersDefinition.group,
    });
    if (!answer.ok) throw new Error(answer.status.message);
  }

  async update(object: Cluster): Promise<void> {
    const answer = await this.world.stores.clusters.update(object, { group: clustersDefinition.group });
    if (!answer.ok) throw new Error(answer.status.message);
  }

  /** Deletes an object, as a client does. */
  async remove(name: string): Promise<void> {
    const answer = await this.world.stores.clusters.delete(name, {}, "");
    if (!answer.ok) throw new Error(answer.status.message);
  }

  /** A cluster that no object began. */
  begin(
    name: string,
    location: Location | undefined = undefined,
    controllers: ControllerList | null = null,
    serviceRanges?: readonly string[],
  ): void {
    const life = lifeIn(location, (this.made.get(name)?.life ?? 0) + 1);
    const begun = (this.made.get(name)?.begun ?? 0) + 1;
    const id = clusterId(name, life);
    const ranges = serviceRanges && { serviceRanges };
    this.made.set(name, { id, life, phase: "active", controllers, wiped: 0, bootstrapped: false, begun, ...ranges });
  }

  /** A call to the record that was sent long ago. */
  lateRemoval(name: string, id: string): Made {
    const made = this.made.get(name);
    if (!made) throw new Error(`no cluster ${name}`);
    if (made.phase === "active" && made.id === id) made.phase = "deleting";
    return made;
  }

  #state(name: string): ClusterState {
    const made = this.made.get(name);
    if (!made || made.phase === "absent") return { phase: "absent" };
    const { id, controllers, wiped, serviceRanges, quotas } = made;
    const more = { ...(serviceRanges && { serviceRanges }), ...(quotas && { quotas }), ...(!this.isTold && { isTold: false as const }) };
    if (made.phase === "active") return { phase: "active", id, createdAt: 1, controllers, ...more };
    return { phase: "deleting", id, createdAt: 1, deletedAt: 2, objects: PARTS, wiped };
  }

  /** Whether a record takes the call: its object is there, and means this life. */
  #takes(name: string, { uid, life }: ClusterSource): boolean {
    if (uid === undefined) throw new Error(`a call to ${name} names no object`);
    return !this.#ended.has(uid) && (life ?? this.made.get(name)?.id) === this.made.get(name)?.id;
  }

  #fleet({ called: once }: Pick<ControllerWorldPorts<Kind>, "called">): FleetPorts {
    const called: typeof once = (name, effect) => {
      if (!/^(look|listed|page|firstRanges|ended)/.test(name)) this.sent.push(effect);
      return once(name, effect);
    };
    const progress = (name: string): void => {
      const made = this.made.get(name);
      if (this.wipes && made?.phase === "deleting" && ++made.wiped > PARTS) made.phase = "absent";
    };
    return {
      look: (name) => called(`look ${name}`, () => (progress(name), this.#state(name))),
      open: (name, location, { serviceRanges, quotas }, source) =>
        called(`open ${name}`, () => {
          progress(name);
          if (this.#state(name).phase === "absent" && this.#takes(name, source)) {
            this.begin(name, location, null, serviceRanges);
            Object.assign(this.made.get(name) ?? {}, quotas && { quotas });
          }
          return this.#state(name);
        }),
      setControllers: (name, _, list, source) =>
        called(`setControllers ${name}`, () => {
          const made = this.made.get(name);
          if (made && !this.isLater && this.#takes(name, source)) made.controllers = list;
          return { state: this.#state(name), isTold: this.isTold };
        }),
      setQuotas: (name, _, hard, source) =>
        called(`setQuotas ${name}`, () => {
          const made = this.made.get(name);
          if (made && this.#takes(name, source)) made.quotas = hard;
          return { state: this.#state(name), isTold: this.isTold };
        }),
      bootstrap: (id) =>
        called(`bootstrap ${id}`, () => {
          for (const made of this.made.values()) if (made.id === id) made.bootstrapped = true;
        }),
      ended: (id) => called(`ended ${id}`, () => undefined),
      firstRanges: (id) =>
        called(`firstRanges ${id}`, () => {
          const made = [...this.made.values()].find((one) => one.id === id);
          return this.beginsWith ?? made?.serviceRanges;
        }),
      remove: (name, _, id, { uid = "" }) =>
        called(`remove ${name}`, () => {
          this.#ended.add(uid);
          if (this.made.has(name)) this.lateRemoval(name, id);
          return this.#state(name);
        }),
      page: (after, limit) =>
        called("page", () => {
          if (this.isListSilent) return null;
          const names = [...this.made].filter(([name, { phase }]) => phase !== "absent" && name > after).map(([name]) => name);
          const clusters = names.sort().map((name): ListedCluster => {
            const { id, phase } = this.made.get(name) ?? {};
            const facts = this.tellsLives && id !== undefined && { facts: { id, createdAt: 1, deletedAt: phase === "active" ? 0 : 2 } };
            return { name, stamp: "s", ...facts };
          });
          return { clusters: clusters.slice(0, limit), isLast: clusters.length <= limit };
        }),
      defaultRanges: ["10.96.0.0/16"],
      listed: (name) => called(`listed ${name}`, () => this.#state(name)),
    };
  }
}
