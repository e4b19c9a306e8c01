import { leasesDefinition } from "../../../src/api/registry/leases/definition";
import type { KubeObject, Lease } from "../../../src/api/meta/kubernetes";
import type { ResourceDefinition } from "../../../src/api/registry/resource";
import type {
  CollectionRequest,
  DeleteOptionsRequest,
  GetResult,
  PatchType,
  Subresource,
  WriteOptions,
  WriteRequest,
  WriteResult,
} from "../../../src/api/rpc/store";
import { startWatch } from "../../../src/api/store/watch/watch-start";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import type { StoreObserver } from "../../../src/api/store/state/observer";
import { NamespaceGuard } from "../../../src/api/store/write/namespace-guard";
import type { HistoryBounds } from "../../../src/api/store/state/revisions";
import { StoreEngine } from "../../../src/api/store/engine/store-engine";
import type { WatchSink } from "../../../src/api/store/hub/watch-hub";
import { MemoryStoreStorage } from "../memory/store-storage";
import { seededRandom } from "../sim/platform/seeded-random";
import { SimScheduler } from "../sim/platform/scheduler";

export interface StoreWorldOptions<Supply> {
  definition?: ResourceDefinition;
  representations?: readonly ResourceDefinition[];
  extension?: StoreExtension<Supply>;
  observers?: readonly StoreObserver[];
  historyBounds?: HistoryBounds;
  countedTogether?: number;
  /** of the first object */
  serverStartedAt?: number;
  seed?: number;
  scheduler?: SimScheduler;
}

export const WRITE: WriteOptions = {
  dryRun: false,
  fieldManager: "test",
  fieldValidation: "Warn",
  force: false,
  group: "coordination.k8s.io",
  version: "v1",
};
export const DELETE: DeleteOptionsRequest = { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined };

/** Leases whose renewals are written as any other change. */
const { renewed: _, ...WRITTEN_LEASES } = leasesDefinition;

/** One store on memory ports in virtual time; such leases unless told otherwise. Namespaces are Active unless listed in `namespaces`. */
export class StoreWorld<Supply = undefined> {
  readonly storage = new MemoryStoreStorage();
  readonly scheduler: SimScheduler;
  readonly logged: { level: string; event: string }[] = [];
  /** why objects over the storage were ended; the test restarts them */
  readonly aborted: string[] = [];
  /** answers of the namespaces store; a name that is not listed is an Active namespace */
  readonly namespaces = new Map<string, GetResult | Promise<GetResult>>();
  readonly definition: ResourceDefinition;
  /** the number of questions to the namespaces store */
  asked = 0;
  guard!: NamespaceGuard;
  store!: StoreEngine<Supply>;
  readonly #options: StoreWorldOptions<Supply>;
  readonly #random;
  #lives = 0;

  constructor(options: StoreWorldOptions<Supply> = {}) {
    this.#options = options;
    this.scheduler = options.scheduler ?? new SimScheduler();
    this.definition = options.definition ?? WRITTEN_LEASES;
    this.#random = seededRandom(options.seed ?? 1);
    this.restart(options.serverStartedAt);
  }

  /** A new object on the same storage, with nothing remembered. The former one hears of no time any more. `serverStartedAt`: of a local server */
  restart(serverStartedAt?: number): void {
    const life = ++this.#lives;
    const clock = this.scheduler.clock(() => life === this.#lives);
    const { representations = [], extension, observers = [], historyBounds, countedTogether } = this.#options;
    this.guard = new NamespaceGuard(this.storage, (name) => this.#lookUp(name));
    this.store = new StoreEngine<Supply>({
      definition: this.definition,
      representations,
      storage: this.storage,
      clock,
      random: this.#random,
      recorder: { log: (level, event) => this.logged.push({ level, event }) },
      context: () => ({ now: clock.now(), serviceFamilies: ["IPv4"] }),
      ...(extension ? { extension } : {}),
      observers,
      abort: (reason) => void this.aborted.push(reason),
      ...(this.definition.namespaced ? { namespaces: this.guard } : {}),
      ...(historyBounds ? { historyBounds } : {}),
      ...(countedTogether ? { countedTogether } : {}),
      ...(serverStartedAt === undefined ? {} : { serverStartedAt }),
    });
  }

  /** Virtual time passes until the write is answered. */
  write(request: WriteRequest): Promise<WriteResult> {
    return this.scheduler.run(this.store.write(request));
  }

  create(object: KubeObject, options: Partial<WriteOptions> = {}): Promise<WriteResult> {
    return this.write(createRequest(object, options));
  }

  update(object: KubeObject, options: Partial<WriteOptions> = {}, subresource: Subresource = ""): Promise<WriteResult> {
    return this.write({
      verb: "update",
      key: keyOf(object),
      subresource,
      object: JSON.stringify(object),
      options: { ...WRITE, ...options },
    });
  }

  patch(name: string, patchType: PatchType, patch: unknown, options: Partial<WriteOptions> = {}, namespace = "ns"): Promise<WriteResult> {
    const text = typeof patch === "string" ? patch : JSON.stringify(patch);
    return this.write({
      verb: "patch",
      key: { namespace, name },
      subresource: "",
      patchType,
      patch: text,
      options: { ...WRITE, ...options },
    });
  }

  delete(name: string, options: Partial<DeleteOptionsRequest> = {}, namespace = "ns"): Promise<WriteResult> {
    return this.write({ verb: "delete", key: { namespace, name }, options: { ...DELETE, ...options } });
  }

  /** The stored object, parsed; undefined = there is none. */
  stored<T extends KubeObject = Lease>(name: string, namespace = this.definition.namespaced ? "ns" : ""): T | undefined {
    const found = this.store.get({ namespace, name }, "");
    return found.ok ? (JSON.parse(found.object) as T) : undefined;
  }

  /** Types and keys of the history after a revision. */
  history(after = 0): string[] {
    return this.store.history.historySince(after, 10_000).map(({ type, key }) => `${type} ${key}`);
  }

  watch(request: Partial<CollectionRequest> = {}): Watched {
    return new Watched(this, request);
  }

  #lookUp(name: string): Promise<GetResult> {
    this.asked++;
    return Promise.resolve(this.namespaces.get(name) ?? aNamespace(name));
  }
}

/** The answer of the namespaces store for an Active namespace. */
export function aNamespace(name: string, uid = `uid of ${name}`): GetResult {
  return { ok: true, object: JSON.stringify({ metadata: { name, uid } }) };
}

export function terminatingNamespace(name: string, uid = `uid of ${name}`): GetResult {
  return { ok: true, object: JSON.stringify({ metadata: { name, uid, deletionTimestamp: "2026-01-01T00:00:00Z" } }) };
}

export function aLease(name: string, spec: Lease["spec"] = {}, metadata: Lease["metadata"] = {}): Lease {
  return { metadata: { name, namespace: "ns", ...metadata }, spec };
}

export function createRequest(object: KubeObject, options: Partial<WriteOptions> = {}): WriteRequest {
  return { verb: "create", namespace: object.metadata?.namespace ?? "", object: JSON.stringify(object), options: { ...WRITE, ...options } };
}

function keyOf(object: KubeObject): { namespace: string; name: string } {
  return { namespace: object.metadata?.namespace ?? "", name: object.metadata?.name ?? "" };
}

export function collectionRequest(definition: ResourceDefinition, overrides: Partial<CollectionRequest> = {}): CollectionRequest {
  return {
    verb: "list",
    namespace: "",
    labelSelector: "",
    fieldSelector: "",
    limit: 0,
    continueToken: "",
    resourceVersion: "",
    resourceVersionMatch: "",
    allowWatchBookmarks: false,
    timeoutSeconds: 0,
    group: definition.group,
    version: definition.versions[0] ?? "",
    resource: definition.resource,
    representation: { as: "object" },
    ...overrides,
  };
}

export interface SeenEvent {
  type: string;
  object: KubeObject & { code?: number; message?: string; columnDefinitions?: unknown; rows?: { cells: unknown[] }[] };
}

/** What a client of a watch was sent. `slow`: its bytes count as backlog, as of one that takes nothing. */
export class KeptSink implements WatchSink {
  readonly chunks: Uint8Array[] = [];
  state: "open" | "ended" | "aborted" = "open";
  backlog = 0;
  probes = 0;
  slow = false;

  get text(): string {
    return this.chunks.map((bytes) => new TextDecoder().decode(bytes)).join("");
  }

  get events(): SeenEvent[] {
    return this.text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as SeenEvent);
  }

  /** `ADDED a@5`: type, name and resourceVersion of each event. */
  get brief(): string[] {
    return this.events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ""}@${object.metadata?.resourceVersion ?? ""}`);
  }

  write(bytes: Uint8Array): void {
    if (this.state !== "open") return;
    this.chunks.push(bytes);
    if (this.slow) this.backlog += bytes.length;
  }

  backlogBytes(): number {
    return this.backlog;
  }

  end(): void {
    if (this.state === "open") this.state = "ended";
  }

  abort(): void {
    if (this.state === "open") this.state = "aborted";
  }

  probe(): void {
    this.probes++;
  }
}

/** A watch at a store, and what it was sent. */
export class Watched extends KeptSink {
  readonly stop: () => void;
  readonly refused;

  constructor(
    world: Pick<StoreWorld<never>, "definition"> & { store: Parameters<typeof startWatch>[0] },
    request: Partial<CollectionRequest>,
  ) {
    super();
    const started = startWatch(world.store, collectionRequest(world.definition, { verb: "watch", ...request }), world.definition, this);
    this.stop = started.ok ? () => started.value.stop() : () => undefined;
    this.refused = started.ok ? undefined : started.error;
  }
}
