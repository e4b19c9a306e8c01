/**
 * The Service through which clients inside a cluster reach the API: `default/kubernetes` on the first address of the primary range
 * (upstream pkg/controlplane/controller/kubernetesservice). Made when it is missing, never corrected.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { API_SERVER_PORT, DEFAULT_NAME, DEFAULT_NAMESPACE, DEFAULT_SERVICE } from "../../api/registry/default-objects";
import type { Service } from "../../api/meta/kubernetes";
import type { CommittedChange } from "../../api/store/state/extension";
import { SERVER_MANAGER } from "../../api/store/state/field-tracking";
import type { StoreObserver } from "../../api/store/state/observer";
import type { ObjectKey, WriteRequest, WriteResult } from "../../api/rpc/store";

const SERVICE_PORT = 443;
/** As long as it is missing it is tried again this often, as upstream: its address may be held by somebody, or its range not be Ready yet. */
const RETRY_MS = 10_000;

const KEY: ObjectKey = { namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME };

export interface DefaultServicePorts {
  clock: Clock;
  recorder: Recorder;
  exists(key: ObjectKey): boolean;
  write(request: WriteRequest): Promise<WriteResult>;
  /** asks for a call of `ensure` at this time (ms since the epoch) or earlier */
  wakeAt(time: number): void;
}

export class DefaultService implements StoreObserver {
  #making: Promise<void> | undefined;
  /** the refusal that has been logged, so that one that lasts is told once */
  #told = "";

  constructor(
    private readonly ports: DefaultServicePorts,
    /** asked at each attempt: the cluster may hear of its ranges after the store has started */
    private readonly address: () => string,
  ) {}

  /** The Coordinator has given out its address, so the cluster has begun. Somebody may have deleted it since. */
  get isThere(): boolean {
    return this.ports.exists(KEY);
  }

  /** Makes the Service unless it is there; where that fails it asks to be called again. Never rejects. */
  ensure(): Promise<void> {
    this.#making ??= this.#make()
      .catch((error: unknown) =>
        this.ports.recorder.log("warn", "the Service default/kubernetes could not be looked at", { error: String(error) }),
      )
      .finally(() => {
        this.#making = undefined;
      });
    return this.#making;
  }

  /** A Service that was removed comes back. */
  turnCommitted(changes: readonly Pick<CommittedChange, "type" | "key">[]): void {
    if (!changes.some(({ type, key }) => type === "DELETED" && key === DEFAULT_SERVICE)) return;
    this.ports.wakeAt(this.ports.clock.now() + RETRY_MS);
    void this.ports.clock.nextTurn().then(() => this.ensure());
  }

  async #make(): Promise<void> {
    if (this.isThere) return;
    // Before the first await: a crash in the middle of it leaves an alarm behind.
    this.ports.wakeAt(this.ports.clock.now() + RETRY_MS);
    const problem = await this.#attempt();
    if (problem === "" || this.isThere) {
      this.#told = "";
      return;
    }
    if (problem !== this.#told) {
      this.ports.recorder.log("warn", "the Service default/kubernetes could not be created", { message: problem });
    }
    this.#told = problem;
    this.ports.wakeAt(this.ports.clock.now() + RETRY_MS);
  }

  /** What is wrong; "" = nothing. */
  async #attempt(): Promise<string> {
    try {
      const result = await this.ports.write(createRequest(this.address()));
      return result.ok ? "" : (result.status.message ?? "refused");
    } catch (error) {
      return String(error);
    }
  }
}

function createRequest(address: string): WriteRequest & { verb: "create" } {
  const service: Service = {
    metadata: { ...KEY, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      type: "ClusterIP",
      clusterIP: address,
      clusterIPs: [address],
      ipFamilyPolicy: "SingleStack",
      sessionAffinity: "None",
      ports: [{ name: "https", protocol: "TCP", port: SERVICE_PORT, targetPort: API_SERVER_PORT }],
    },
  };
  return {
    verb: "create",
    namespace: KEY.namespace,
    object: JSON.stringify(service),
    options: { dryRun: false, fieldManager: SERVER_MANAGER, fieldValidation: "Strict", force: false, group: "", version: "v1" },
  };
}
