import { OPERATION_DEADLINE_MS } from "../../../src/core/base/limits";
import { withTimeout } from "../../../src/core/base/timeout";
import { GarbageCollector } from "../../../src/controllers/garbage-collection/collector";
import type { CollectedStore } from "../../../src/controllers/garbage-collection/ports";
import { storeName } from "../../../src/controllers/garbage-collection/resolve-owner";
import type { EventReport } from "../../../src/api/events/event-recorder";
import type { KubeObject, OwnerReference } from "../../../src/api/meta/kubernetes";
import type { Status } from "../../../src/api/meta/status";
import { leasesDefinition } from "../../../src/api/registry/leases/definition";
import { nodesDefinition } from "../../../src/api/registry/nodes/definition";
import { podsDefinition } from "../../../src/api/registry/pods/definition";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type { DeleteOptionsRequest, ObjectKey, StoreNews, WriteResult } from "../../../src/api/rpc/store";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import { ObjectLinksReader } from "../../../src/api/store/feeds/object-links-reader";
import { changesLinks } from "../../../src/api/store/state/link-changes";
import { MemoryGraphStorage } from "../memory/graph-storage";
import { createRequest, DELETE, StoreWorld, WRITE } from "./store-world";
import { SimScheduler } from "../sim/platform/scheduler";

export type WorldKind = "Lease" | "Pod" | "Node";
const DEFINITIONS: Record<WorldKind, ResourceDefinition> = { Lease: leasesDefinition, Pod: podsDefinition, Node: nodesDefinition };
const SPECS: Record<WorldKind, object> = { Lease: { spec: {} }, Pod: { spec: { containers: [{ name: "c", image: "i" }] } }, Node: {} };

interface WorldStore {
  world: StoreWorld;
  links: ObjectLinksReader;
}

/** Faults of calls to stores, asked before each call; "lost" = carried out, the answer does not arrive; "silent" = no answer. */
export type Fault = "down" | "lost" | "silent" | undefined;

/** The real brains of three stores and the collector over them, in virtual time. */
export class CollectorWorld {
  readonly scheduler = new SimScheduler();
  readonly storage = new MemoryGraphStorage();
  readonly stores: Record<WorldKind, WorldStore>;
  readonly logged: string[] = [];
  readonly told: EventReport[] = [];
  /** calls to stores: `pods metadataOf` */
  calls: string[] = [];
  /** resources that nobody ever wrote to */
  readonly unused = new Set<string>();
  /** removals in order: `Pod ns/a` */
  readonly removed: string[] = [];
  fault: (call: string) => Fault = () => undefined;
  /** the store's refusal of a write; undefined = it decides itself */
  refusal: (call: string) => Status | undefined = () => undefined;
  /** milliseconds until a call arrives */
  delay: (call: string) => number = () => 1;
  /** changes that a store answers at most in one call */
  changesAtOnce = Infinity;
  /** before a call arrives */
  onRead: (call: string) => Promise<void> = () => Promise.resolve();
  /** before a write of the collector is carried out */
  beforeWrite: (key: ObjectKey) => Promise<void> = () => Promise.resolve();
  onRemoval: (kind: WorldKind, object: KubeObject) => void = () => undefined;
  collector: GarbageCollector;
  /** what stores have to tell the collector */
  readonly #news: StoreNews[] = [];

  /** @param savedTogether of few nodes the collector saves each page by itself */
  constructor(
    historyEntries = 1_000,
    private readonly savedTogether = 500,
  ) {
    const store = (kind: WorldKind): WorldStore => this.#store(kind, historyEntries);
    this.stores = { Lease: store("Lease"), Pod: store("Pod"), Node: store("Node") };
    this.collector = this.#collector();
  }

  /** The collector loses everything that it did not store. */
  restart(): void {
    this.collector = this.#collector();
  }

  /** `isPoked`: only pokes ask for the pass. */
  async run(isPoked = false): Promise<{ left: boolean }> {
    const { left } = await this.scheduler.run(this.collector.run(isPoked));
    return { left };
  }

  /** Delivers what stores had to tell since the last call, `times` each, and runs a pass if that asks for one. Answers whether it did. */
  async poked(times: () => number = () => 1): Promise<boolean> {
    for (const news of this.#news.splice(0)) for (let i = times(); i > 0; i--) this.collector.hears([news]);
    if (!this.collector.wants) return false;
    await this.run(true);
    return true;
  }

  /** Passes until no work is left; answers the number of passes. */
  async settle(passesMax = 20): Promise<number> {
    for (let passes = 1; passes <= passesMax; passes++) if (!(await this.run()).left) return passes;
    throw new Error(`not settled after ${passesMax} passes: ${this.logged.slice(-3).join("; ")}`);
  }

  /** Creates an object (`namespace` "" for a Node) and answers the reference that its dependents use. */
  async make(
    kind: WorldKind,
    name: string,
    ownerReferences: OwnerReference[] = [],
    metadata: KubeObject["metadata"] = {},
  ): Promise<OwnerReference> {
    const namespace = kind === "Node" ? "" : (metadata.namespace ?? "ns");
    const object = { ...SPECS[kind], metadata: { ...metadata, name, ...(namespace ? { namespace } : {}), ownerReferences } };
    const result = await this.stores[kind].world.write(createRequest(object));
    if (!result.ok) throw new Error(result.status.message);
    const uid = (JSON.parse(result.object) as KubeObject).metadata?.uid ?? "";
    return { apiVersion: kind === "Lease" ? "coordination.k8s.io/v1" : "v1", kind, name, uid, blockOwnerDeletion: true };
  }

  delete(kind: WorldKind, name: string, options: Partial<DeleteOptionsRequest> = {}, namespace = "ns"): Promise<WriteResult> {
    return this.stores[kind].world.write({
      verb: "delete",
      key: { namespace: kind === "Node" ? "" : namespace, name },
      options: { ...DELETE, ...options },
    });
  }

  patch(kind: WorldKind, name: string, metadata: object, namespace = "ns"): Promise<WriteResult> {
    return this.stores[kind].world.write({
      verb: "patch",
      key: { namespace: kind === "Node" ? "" : namespace, name },
      subresource: "",
      patchType: "merge",
      patch: JSON.stringify({ metadata }),
      options: { ...WRITE, group: DEFINITIONS[kind].group },
    });
  }

  find(kind: WorldKind, name: string, namespace = "ns"): KubeObject["metadata"] {
    return this.stores[kind].world.stored<KubeObject>(name, kind === "Node" ? "" : namespace)?.metadata;
  }

  /** Every object: `Pod ns/a`. */
  all(): Map<string, NonNullable<KubeObject["metadata"]>> {
    const found = new Map<string, NonNullable<KubeObject["metadata"]>>();
    for (const [kind, { world }] of Object.entries(this.stores)) {
      for (const { key, data } of world.storage.objectScan("", "")) {
        found.set(`${kind} ${key}`, (JSON.parse(data) as KubeObject).metadata ?? {});
      }
    }
    return found;
  }

  #store(kind: WorldKind, entriesMax: number): WorldStore {
    const noted = (revision: number): void => {
      links.noteRelevant(revision);
      this.#news.push({ store: storeName(DEFINITIONS[kind]), incarnation: world.store.incarnation, revision });
    };
    const extension: StoreExtension<undefined> = {
      committed: (change) => {
        if (changesLinks(change)) noted(change.revision);
        if (change.type !== "DELETED" || !change.before) return;
        this.removed.push(`${kind} ${change.key}`);
        this.onRemoval(kind, change.before);
      },
    };
    const historyBounds = { entriesMax, sizeMax: 1_000_000, trimEntries: 1 };
    const world = new StoreWorld({ definition: DEFINITIONS[kind], scheduler: this.scheduler, extension, historyBounds, seed: kind.length });
    const links = new ObjectLinksReader(world.store);
    return { world, links };
  }

  #collector(): GarbageCollector {
    const stores = Object.values(this.stores).map((store) => this.#collected(store));
    const recorder = {
      log: (level: string, event: string, fields: object = {}) => void this.logged.push(`${level} ${event} ${JSON.stringify(fields)}`),
    };
    const events = { report: (event: EventReport) => void this.told.push(event), flush: () => Promise.resolve() };
    const { storage, savedTogether } = this;
    return new GarbageCollector({ clock: this.scheduler.clock(), storage, stores, recorder, events, savedTogether });
  }

  #collected({ world, links }: WorldStore): CollectedStore {
    const { definition } = world;
    const call = async <T>(method: string, work: () => T | Promise<T>): Promise<T> => {
      const what = `${definition.resource} ${method}`;
      this.calls.push(what);
      await this.scheduler.clock().sleep(this.delay(what));
      await this.onRead(what);
      const fault = this.fault(what);
      if (fault === "down") throw new Error("down");
      if (fault === "silent") return withTimeout(this.scheduler.clock(), OPERATION_DEADLINE_MS, new Promise<T>(() => undefined));
      const answer = await work();
      if (fault === "lost") throw new Error("lost");
      return answer;
    };
    return {
      name: storeName(definition),
      isUnused: () => Promise.resolve(this.unused.has(definition.resource)),
      group: definition.group,
      version: definition.versions[0] ?? "",
      changesSince: (cursor, limit) => call("changesSince", () => links.changesSince(cursor, Math.min(limit, this.changesAtOnce))),
      listMetadata: (after, limit) => call("listMetadata", () => links.listMetadata(after, Math.min(limit, 3))),
      metadataOf: (keys) => call("metadataOf", () => links.metadataOf(keys)),
      whereabouts: (sought, after) => call("whereabouts", () => links.whereabouts(sought, after)),
      write: (request) =>
        call("write", async () => {
          if (request.verb !== "create") await this.beforeWrite(request.key);
          const status = this.refusal(`${definition.resource} write`);
          if (status) return { ok: false, status, warnings: [] };
          return world.store.write(request);
        }),
    };
  }
}
