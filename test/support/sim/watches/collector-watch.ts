/** What the garbage collector does to a simulated cluster: the stores as it calls them, and a judge of each of its writes. */
import type { KubeObject, OwnerReference } from "../../../../src/api/meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../../../src/api/meta/object-meta";
import { definitionOf } from "../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import type { LinkedStore } from "../../../../src/api/rpc/object-links";
import type { BatchedStore, MaintainedStore, StoreRpc, WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import { COLLECTOR_FINALIZERS, waits } from "../kin";
import type { Caller, SimNode } from "../platform/network";
import { plainCopy } from "../platform/plain-copy";
import type { SimPlatform } from "../platform/platform";
import type { ProtocolStep } from "../protocol-steps";
import type { StoreTables } from "../tables";

type Collected = LinkedStore & Pick<StoreRpc, "write"> & Pick<MaintainedStore, "counters">;
/** A store as the collector calls it, and as repair asks whether it was ever used. */
type Called = LinkedStore & BatchedStore & Pick<MaintainedStore, "counters">;

interface CollectedNode {
  definition: ResourceDefinition;
  node: SimNode<Collected>;
  tables: StoreTables;
}

/** An object that is an owner or a dependent, and where it is. */
export interface Relative {
  kind: string;
  /** as it is stored: `namespace/name` */
  key: string;
  object: KubeObject;
}

export class CollectorWatch {
  /** writes of the collector that take what has to stay */
  readonly harm: string[] = [];

  constructor(private readonly cluster: SimPlatform) {}

  /** The stores as the collector calls them in one of its lives. */
  stores(caller: Caller): { definition: ResourceDefinition; store(): Called }[] {
    const { network, sabotage } = this.cluster;
    return this.#nodes().map(({ definition, node }) => {
      const call = <T>(step: ProtocolStep, work: (store: Collected) => Promise<T>): Promise<T> =>
        network.call(caller, node, work, () => step);
      // Writes of one call may arrive apart: more orders than on one call.
      const write = (asked: WriteRequest): Promise<WriteResult> => {
        const request = sabotage.collectorWrite?.(asked) ?? asked;
        return call(stepOf(request), (brain) => {
          this.#judge(definition.kind, request);
          return brain.write(plainCopy(request));
        });
      };
      const store: Called = {
        changesSince: async (cursor, limit) => {
          const changes = await call("linkChanges", (brain) => brain.changesSince(cursor, limit));
          return sabotage.linkChanges?.(changes) ?? changes;
        },
        listMetadata: (after, limit) => call("listLinks", (brain) => brain.listMetadata(after, limit)),
        metadataOf: (keys) => call("readLinks", (brain) => brain.metadataOf(plainCopy(keys))),
        whereabouts: (sought, after) => call("readLinks", (brain) => brain.whereabouts(plainCopy(sought), after)),
        write,
        writeAll: (requests) => Promise.all(requests.map(write)),
        counters: () => network.call(caller, node, (brain) => brain.counters()),
      };
      return { definition, store: () => store };
    });
  }

  /** Owners and dependents: the Services and Leases. */
  relatives(): Relative[] {
    return this.#nodes().flatMap(({ definition: { kind }, tables }) =>
      kind === "Service" || kind === "Lease"
        ? tables.store.objectScan("", "").map(({ key, data }) => ({ kind, key, object: JSON.parse(data) as KubeObject }))
        : [],
    );
  }

  /** What has to hold when everything is quiet: no object refers to an owner that is gone, and no deletion waits for nobody. */
  atRest(): string[] {
    const all = this.relatives();
    return all.flatMap((relative) => {
      const { metadata } = relative.object;
      const found: string[] = [];
      const gone = metadata?.deletionTimestamp ? [] : (metadata?.ownerReferences ?? []).filter((owner) => !this.#owner(owner, relative));
      if (gone.length > 0) found.push(`orphan: ${nameOf(relative)} refers to ${gone.map(({ name }) => name).join()}, which is gone`);
      if (waits(relative.object, FINALIZER_ORPHAN)) found.push(`orphan: the deletion of ${nameOf(relative)} does not end`);
      const blockers = blockersOf(relative, all);
      if (waits(relative.object, FINALIZER_FOREGROUND) && !blockers.some(({ object }) => object.metadata?.deletionTimestamp)) {
        found.push(`dependents: the Foreground deletion of ${nameOf(relative)} does not end`);
      }
      return found;
    });
  }

  /**
   * Judges a write when it arrives. It counts when the object is still as the collector read it. What makes a write right stays as it is: an owner that is gone does not
   * come back under its uid, and a deletion is never taken back.
   */
  #judge(kind: string, request: WriteRequest): void {
    if (request.verb === "create") return;
    const { namespace, name } = request.key;
    const relative = this.relatives().find((one) => one.kind === kind && one.key === `${namespace}/${name}`);
    if (!relative) return;
    const { uid, resourceVersion, ownerReferences = [] } = relative.object.metadata ?? {};
    const patch = request.verb === "patch" ? (JSON.parse(request.patch) as KubeObject).metadata : undefined;
    const bound = request.verb === "delete" ? request.options.preconditions : patch;
    if ((bound?.uid ?? uid) !== uid || (bound?.resourceVersion ?? resourceVersion) !== resourceVersion) return;
    if (request.verb === "delete") this.#judgeLoss(`${nameOf(relative)} would be deleted`, ownerReferences, relative);
    if (patch && "ownerReferences" in patch) {
      const left = new Set(patch.ownerReferences?.map((owner) => owner.uid));
      const lost = ownerReferences.filter((owner) => !left.has(owner.uid));
      this.#judgeLoss(`${nameOf(relative)} would lose an owner`, lost, relative);
    }
    if (patch && "finalizers" in patch) this.#judgeEnd(relative, new Set(patch.finalizers));
  }

  /** Each of the owners is gone, or its deletion takes its dependents first, or lets them go. */
  #judgeLoss(what: string, owners: readonly OwnerReference[], dependent: Relative): void {
    for (const reference of owners) {
      const owner = this.#owner(reference, dependent);
      const isWaiting = COLLECTOR_FINALIZERS.some((finalizer) => this.cluster.kin.waitsSince(reference.uid, finalizer) !== undefined);
      if (owner && !isWaiting) this.harm.push(`collector: ${what}, and its owner ${reference.name} lives`);
    }
  }

  /** No dependent that is older than the deletion is left: none that blocks, but for circles; none at all where they are let go. */
  #judgeEnd(owner: Relative, left: ReadonlySet<string>): void {
    const all = this.relatives();
    const uid = owner.object.metadata?.uid ?? "";
    const { kin } = this.cluster;
    const isOlder = (dependent: Relative, blocks: boolean, since: number): boolean =>
      (kin.linkedAt(dependent.object.metadata?.uid ?? "", uid, blocks) ?? Infinity) < since;
    if (waits(owner.object, FINALIZER_FOREGROUND) && !left.has(FINALIZER_FOREGROUND)) {
      const since = kin.waitsSince(uid, FINALIZER_FOREGROUND) ?? 0;
      for (const blocker of blockersOf(owner, all)) {
        if (!isOlder(blocker, true, since) || kin.haveWaitedForEachOther(uid, uidOf(blocker))) continue;
        this.harm.push(`collector: ${nameOf(owner)} would go before its dependent ${nameOf(blocker)}`);
      }
    }
    if (!waits(owner.object, FINALIZER_ORPHAN) || left.has(FINALIZER_ORPHAN)) return;
    const since = kin.waitsSince(uid, FINALIZER_ORPHAN) ?? 0;
    for (const dependent of dependentsOf(owner, all)) {
      if (![true, false].some((blocks) => isOlder(dependent, blocks, since))) continue;
      this.harm.push(`collector: ${nameOf(owner)} would go, and ${nameOf(dependent)} still refers to it`);
    }
  }

  /** The owner that the reference means, if it is there. */
  #owner(reference: OwnerReference, dependent: Relative): KubeObject | undefined {
    const owner = this.#nodes().find(({ definition }) => definition.kind === reference.kind);
    const stored = owner?.tables.store.objectGet(ownerKey(reference, dependent));
    return stored?.uid === reference.uid ? (JSON.parse(stored.data) as KubeObject) : undefined;
  }

  /** The stores of owners and dependents. */
  #nodes(): CollectedNode[] {
    const { moreDependents, services, plain, tables } = this.cluster;
    const one = (group: string, resource: string, node: unknown, of: StoreTables): CollectedNode => {
      const definition = definitionOf(group, resource);
      if (!definition) throw new Error(`no resource ${resource}`);
      return { definition, node: node as SimNode<Collected>, tables: of };
    };
    return [
      one("", "services", services, tables.services),
      one("coordination.k8s.io", "leases", plain.leases, tables.leases),
      one("", "namespaces", plain.namespaces, tables.namespaces),
      ...moreDependents.map(({ definition, node, tables: own }) => ({
        definition,
        node: node as unknown as SimNode<Collected>,
        tables: own,
      })),
    ];
  }
}

function stepOf(request: WriteRequest): ProtocolStep {
  if (request.verb === "delete") return "collect";
  return request.verb === "patch" && request.patch.includes('"ownerReferences"') ? "unlink" : "finishDeletion";
}

function nameOf({ kind, key }: Relative): string {
  return `${kind} ${key}`;
}

/** An owner in a namespace is meant to be in its dependent's. */
function ownerKey(reference: OwnerReference, dependent: Relative): string {
  return reference.kind === "Namespace" ? reference.name : `${dependent.object.metadata?.namespace ?? ""}/${reference.name}`;
}

function dependentsOf(owner: Relative, all: readonly Relative[], blocking = false): Relative[] {
  return all.filter((one) =>
    one.object.metadata?.ownerReferences?.some(
      (reference) =>
        reference.uid === owner.object.metadata?.uid &&
        reference.kind === owner.kind &&
        ownerKey(reference, one) === owner.key &&
        (!blocking || reference.blockOwnerDeletion === true),
    ),
  );
}

function blockersOf(owner: Relative, all: readonly Relative[]): Relative[] {
  return dependentsOf(owner, all, true);
}

function uidOf({ object }: Relative): string {
  return object.metadata?.uid ?? "";
}
