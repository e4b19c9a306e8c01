/**
 * Keeps an object of the Service `default/kubernetes` as the configured addresses want it. The object's own store does so, without another one: when
 * the store starts, and in the turn after a write that touched the object. What a crash or a refusal left undone the next start or read does.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { parseJson } from "../../core/encoding/exact-json";
import type { Endpoints, EndpointSlice, KubeObject } from "../../api/meta/kubernetes";
import { qualifiedResource } from "../../api/meta/status";
import { DEFAULT_NAME, DEFAULT_NAMESPACE, DEFAULT_SERVICE } from "../../api/registry/default-objects";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { GetResult, ObjectKey, WriteOptions, WriteRequest, WriteResult } from "../../api/rpc/store";
import { SERVER_MANAGER } from "../../api/store/state/field-tracking";
import type { CommittedChange } from "../../api/store/state/extension";
import type { StoreObserver } from "../../api/store/state/observer";
import { type AdvertisedChange, endpointsChange, sliceChange } from "./advertised-objects";

/** After a refusal reads go on without another attempt for so long. */
const RETRY_MS = 10_000;
/** Against somebody who writes all the time the keeper writes this often; the next read goes on. */
const WRITES_MAX = 3;

const KEY: ObjectKey = { namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME };

/** The object's store. */
export interface KeptIn {
  read(key: ObjectKey): GetResult;
  write(request: WriteRequest): Promise<WriteResult>;
}

export interface KeeperPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
}

type Wanted = (stored: KubeObject | undefined) => AdvertisedChange<KubeObject>;

/** The keeper of the resource's object; undefined = the resource has none, or there are no addresses. */
export function advertisedKeeper(
  definition: ResourceDefinition,
  addresses: readonly string[],
  { clock, recorder }: KeeperPorts,
): AdvertisedKeeper | undefined {
  if (addresses.length === 0) return undefined;
  const wanted: Readonly<Record<string, Wanted>> = {
    endpoints: (stored) => endpointsChange(addresses, stored as Endpoints | undefined),
    "endpointslices.discovery.k8s.io": (stored) => sliceChange(addresses, stored as EndpointSlice | undefined),
  };
  const change = wanted[qualifiedResource(definition)];
  const { group, versions } = definition;
  const options = {
    group,
    version: versions[0] ?? "",
    dryRun: false,
    fieldManager: SERVER_MANAGER,
    fieldValidation: "Strict",
    force: false,
  } as const;
  return change && new AdvertisedKeeper(change, options, { clock, recorder });
}

export class AdvertisedKeeper implements StoreObserver {
  #store: KeptIn | undefined;
  #isKept = false;
  /** no attempt before, in milliseconds since the epoch */
  #pausedUntil = -Infinity;
  #making: Promise<void> | undefined;
  /** the refusal that has been logged, so that one that lasts is told once */
  #told = "";

  constructor(
    private readonly change: Wanted,
    private readonly options: WriteOptions,
    private readonly ports: KeeperPorts,
  ) {}

  /** To be called once, when the store can be written. */
  begin(store: KeptIn): void {
    this.#store = store;
    void this.ensure();
  }

  /** Resolves when the object is as it has to be, or could not be made so. Never rejects. */
  ensure(): Promise<void> {
    if (!this.#making && (this.#isKept || this.ports.clock.now() < this.#pausedUntil)) return Promise.resolve();
    return (this.#making ??= this.#make().finally(() => (this.#making = undefined)));
  }

  turnCommitted(changes: readonly Pick<CommittedChange, "key">[]): void {
    if (!changes.some(({ key }) => key === DEFAULT_SERVICE)) return;
    this.#isKept = false;
    void this.ensure();
  }

  turnLost(): void {
    this.#isKept = false;
  }

  async #make(): Promise<void> {
    for (let writes = 0; writes < WRITES_MAX && !this.#isKept; writes++) {
      // A write that touches the object meanwhile, its own included, takes this back.
      this.#isKept = true;
      const problem = await this.#attempt().catch((error: unknown) => String(error));
      if (problem !== undefined) return this.#failed(problem);
      this.#told = "";
    }
  }

  #failed(problem: string): void {
    this.#isKept = false;
    this.#pausedUntil = this.ports.clock.now() + RETRY_MS;
    if (problem !== this.#told)
      this.ports.recorder.log("warn", `the endpoints of ${DEFAULT_SERVICE} could not be written`, { message: problem });
    this.#told = problem;
  }

  /** What is wrong; undefined = nothing. */
  async #attempt(): Promise<string | undefined> {
    const store = this.#store;
    if (!store) return undefined;
    const found = store.read(KEY);
    const change = this.change(found.ok ? (parseJson(found.object) as KubeObject) : undefined);
    if (change.kind === "none") return undefined;
    // Without a resourceVersion it replaces whatever is there.
    const { resourceVersion: _, ...metadata } = change.object.metadata ?? {};
    const object = JSON.stringify({ ...change.object, metadata });
    const isNew = !found.ok || change.kind === "recreate";
    if (found.ok && isNew) {
      const gone = await store.write({
        verb: "delete",
        key: KEY,
        options: { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined },
      });
      if (!gone.ok) return gone.status.message ?? "refused";
    }
    const { options } = this;
    const result = await store.write(
      isNew
        ? { verb: "create", namespace: KEY.namespace, object, options }
        : { verb: "update", key: KEY, subresource: "", object, options },
    );
    return result.ok ? undefined : (result.status.message ?? "refused");
  }
}
