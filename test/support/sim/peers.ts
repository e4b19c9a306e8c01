/** How the objects of a simulated cluster call each other: every call goes over the network, and is a step of the protocol. */
import type { IPAddressesStore } from "../../../src/addresses/clusterip/ip-addresses-store";
import type { CoordinatorStore } from "../../../src/addresses/coordinator/coordinator-store";
import type { CoordinatorRpc } from "../../../src/addresses/rpc/topology";
import type { IPAddressesRpc } from "../../../src/addresses/rpc/ip-addresses";
import type { RepairedAddresses, RepairedOwner } from "../../../src/addresses/rpc/repair";
import type { OwnerConfig, ServiceCIDRRpc } from "../../../src/addresses/rpc/service-cidr";
import { type ControllerRpc, type GetResult, type MaintainedStore, READ } from "../../../src/api/rpc/store";
import { qualifiedResource } from "../../../src/api/meta/status";
import type { VisitedStore, VisitListRpc, VisitOutcome } from "../../../src/api/rpc/visits";
import type { Caller, SimNode } from "./platform/network";
import { plainCopy } from "./platform/plain-copy";
import { type SimPlatform, type Simulated, SIMULATED } from "./platform/platform";
import { type ProtocolStep, stepOfConfigure, stepOfReceive } from "./protocol-steps";

const POKES: Readonly<Record<Simulated, ProtocolStep>> = {
  "garbage-collection": "pokeCollector",
  namespaces: "pokeNamespaces",
  repair: "pokeRepair",
};

/** The step of a poke of this controller. */
export function pokeStepOf(name: Simulated): ProtocolStep {
  return POKES[name];
}

/** A controller as whoever calls it does. */
export function controllerOf({ network, controllerNodes }: SimPlatform, caller: Caller, name: Simulated): ControllerRpc {
  return {
    poke: (news, untilRead) =>
      network.call(
        caller,
        controllerNodes[name],
        // The release before tells nothing, and waits for nothing.
        (brain) => (caller.isEarlier ? brain.poke() : brain.poke(plainCopy(news), untilRead)),
        () => POKES[name],
      ),
  };
}

/** Where objects ask for cron's visits; with repair off nobody visits. Whoever dies without an answer may have left work that only a full visit finds. */
export function visitListOf({ network, controllerNodes, unlisted }: SimPlatform, caller: Caller): VisitListRpc {
  return {
    async askVisits(name) {
      unlisted.add(caller);
      const wasListed = await network.call(
        caller,
        controllerNodes.repair,
        (brain) => brain.askVisits?.(name) ?? Promise.resolve(false),
        () => "askVisits",
      );
      unlisted.delete(caller);
      return wasListed;
    },
    enter: (name) =>
      network.call(
        caller,
        controllerNodes.repair,
        (brain) => brain.enter?.(name) ?? Promise.resolve(),
        () => "askVisits",
      ),
    entered: () =>
      network.call(
        caller,
        controllerNodes.repair,
        (brain) => brain.entered?.() ?? Promise.resolve(null),
        () => "askVisits",
      ),
    doubt: () =>
      network.call(
        caller,
        controllerNodes.repair,
        (brain) => brain.doubt?.() ?? Promise.resolve(),
        () => "askVisits",
      ),
  };
}

/** A visit to an object that has asked for it. */
export function visitTo(cluster: SimPlatform, caller: Caller, name: string): Promise<VisitOutcome> | undefined {
  const controller = SIMULATED.find((one) => `controllers/${one}` === name);
  if (controller)
    return controllerOf(cluster, caller, controller)
      .poke(undefined, true)
      .then((answer) => (answer === READ ? "settled" : "left"));
  const stores: Readonly<Record<string, SimNode<never>>> = {
    services: cluster.services,
    "ipaddresses.networking.k8s.io": cluster.ipAddresses,
    "servicecidrs.networking.k8s.io": cluster.coordinator,
    namespaces: cluster.plain.namespaces,
    "leases.coordination.k8s.io": cluster.plain.leases,
  } as unknown as Readonly<Record<string, SimNode<never>>>;
  const further = cluster.moreDependents.find(({ definition }) => qualifiedResource(definition) === name);
  const node = (stores[name] ?? further?.node) as SimNode<VisitedStore> | undefined;
  return (
    node &&
    cluster.network.call(
      caller,
      node,
      (store) => store.visit(),
      () => "visit",
    )
  );
}

/** What a store asks before it creates something in the namespace. */
export function lookUpNamespace({ network, plain }: SimPlatform, caller: Caller, name: string): Promise<GetResult> {
  return network.call(
    caller,
    plain.namespaces,
    (store) => store.get({ namespace: "", name }, ""),
    () => "learnNamespace",
  );
}

/** A store of namespaced objects as the end of a namespace calls it. */
export function contentOf(
  { network }: SimPlatform,
  caller: Caller,
  node: SimNode<Content>,
): Pick<MaintainedStore, "closeNamespace" | "emptyNamespace"> {
  return {
    closeNamespace: (name, uid) =>
      network.call(
        caller,
        node,
        (brain) => brain.closeNamespace(name, uid),
        () => "closeNamespace",
      ),
    emptyNamespace: (name, uid) =>
      network.call(
        caller,
        node,
        (brain) => brain.emptyNamespace(name, uid),
        () => "emptyNamespace",
      ),
  };
}

/** The stores of namespaced objects; those that hold nothing in a simulated cluster are left out. */
export function contentNodes({ services, plain }: SimPlatform): readonly SimNode<Content>[] {
  return [services as unknown as SimNode<Content>, plain.leases as unknown as SimNode<Content>];
}

type Content = Pick<MaintainedStore, "closeNamespace" | "emptyNamespace">;

/** The owner of this uid, as `caller` reaches it over the network. */
export function ownerOf(cluster: SimPlatform, caller: Caller, uid: string): ServiceCIDRRpc & Pick<RepairedOwner, "rowsOf"> {
  const { node, storage } = cluster.owner(uid);
  const { sabotage } = cluster;
  const call = <T>(effect: (owner: ServiceCIDRRpc) => Promise<T>, step?: () => ProtocolStep | undefined): Promise<T> =>
    cluster.network.call(caller, node, (owner) => effect(sabotage.owner?.(owner, uid) ?? owner), step);
  const config = (): Omit<OwnerConfig, "epoch"> | undefined => {
    const stored = storage.configLoad();
    return stored && (JSON.parse(stored.content) as Omit<OwnerConfig, "epoch">);
  };
  return {
    configure: (next) =>
      call(
        (owner) => owner.configure(plainCopy(next)),
        () => stepOfConfigure(config(), next),
      ),
    allocate: (items) =>
      call(
        (owner) => owner.allocate(plainCopy(items)),
        () => "allocate",
      ),
    release: (items) =>
      call(
        (owner) => owner.release(plainCopy(items)),
        () => "release",
      ),
    seed: (epoch, items) =>
      call(
        (owner) => owner.seed(epoch, plainCopy(items)),
        () => "seed",
      ),
    rowsSince: (after, limit) =>
      call(
        (owner) => owner.rowsSince(after, limit),
        () => "audit",
      ),
    countTaken: (intervals) =>
      call(
        (owner) => owner.countTaken(plainCopy(intervals)),
        () => "countTaken",
      ),
    free: () =>
      call(
        (owner) => owner.free(),
        () => "countFree",
      ),
    partition: (prefixes, rowsMax) =>
      call(
        (owner) => owner.partition([...prefixes], rowsMax),
        () => "cut",
      ),
    rowsOf: (addresses) =>
      cluster.network.call(
        caller,
        node,
        (owner) => owner.rowsOf(addresses),
        () => "rowsOf",
      ),
    copyOut: (handoff, after) =>
      call(
        (owner) => owner.copyOut(plainCopy(handoff), after),
        () => "copyOut",
      ),
    receive: (handoff, chunk) =>
      call(
        (owner) => owner.receive(handoff, plainCopy(chunk)),
        () => stepOfReceive(chunk),
      ),
  };
}

/** The Coordinator as stores call it. */
export function coordinatorOf(cluster: SimPlatform, life: Caller): Pick<CoordinatorRpc, "topology" | "countedTopology" | "readyTopology"> {
  const call = <T>(step: ProtocolStep, effect: (coordinator: CoordinatorStore) => Promise<T>): Promise<T> =>
    cluster.network.call(life, cluster.coordinator, effect, () => step);
  return {
    topology: () => call("topology", (coordinator) => coordinator.topology()),
    countedTopology: () => call("countedTopology", (coordinator) => coordinator.countedTopology()),
    readyTopology: (waitMs) => call("readyTopology", (coordinator) => coordinator.readyTopology(waitMs)),
  };
}

/** The ipaddresses store as the services store calls it. */
export function ipAddressesOf(
  cluster: SimPlatform,
  life: Caller,
): Pick<IPAddressesRpc & RepairedAddresses, "createMany" | "deleteMany" | "pendingReleases" | "restoreMany"> {
  const call = <T>(step: ProtocolStep, effect: (store: IPAddressesStore) => Promise<T>): Promise<T> =>
    cluster.network.call(life, cluster.ipAddresses, effect, () => step);
  return {
    restoreMany: (writes) => call("restore", (store) => store.restoreMany(plainCopy(writes))),
    pendingReleases: (asked) => call("pendingReleases", (store) => store.pendingReleases(plainCopy(asked))),
    createMany: (writes) => call("createAddresses", (store) => store.createMany(plainCopy(writes))),
    deleteMany: (items) => call("deleteAddresses", (store) => store.deleteMany(plainCopy(items))),
  };
}
