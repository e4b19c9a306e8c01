/**
 * Keeps the identity Leases of one instance, one in each cluster that it serves: at most one write in an interval, and none where nobody asks.
 * What it knows is in memory: an isolate that begins looks at the Lease first.
 */
import type { Lease } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import { leasesDefinition } from "../../api/registry/leases/definition";
import type { ObjectKey, WriteRequest } from "../../api/rpc/store";
import { SERVER_MANAGER } from "../../api/store/state/field-tracking";
import type { Clock, Digest, Random, Recorder } from "../../core/base/ports";
import type { Result } from "../../core/base/result";
import { type SeenLease, seenNext } from "../election/leader-record";
import { IDENTITY_NAMESPACE, type Instance, nextStep, renewal, type IdentityStep } from "./identity-lease";
import { identityLeaseName } from "./lease-name";

/** Clusters remembered; beyond it the memory starts over, which costs one more read for each cluster. */
const CLUSTERS_MAX = 10_000;
/** upstream's: spreads the renewals of servers that began together */
const JITTER_FACTOR = 0.04;

/** The store of Leases of a cluster. Both calls answer a Status for what is refused, and reject when the cluster is gone. */
export interface LeaseCalls {
  get(cluster: string, key: ObjectKey): Promise<Result<string, Status>>;
  write(cluster: string, request: WriteRequest): Promise<Result<string, Status>>;
}

export interface IdentityPorts {
  clock: Pick<Clock, "now">;
  random: Pick<Random, "next" | "uuid">;
  digest: Digest;
  recorder: Recorder;
  calls: LeaseCalls;
}

interface KnownLease {
  /** nothing is to do before, in ms since the epoch */
  dueMs: number;
  /** when that was decided; in the future = the clock was set back, and `dueMs` means nothing */
  sinceMs: number;
  /** as this instance has written it last */
  held?: Lease;
  seen?: SeenLease;
}

export class IdentityKeeper {
  readonly #known = new Map<string, KnownLease>();
  #named: Promise<{ name: string; instance: Instance }> | undefined;

  constructor(
    private readonly ports: IdentityPorts,
    private readonly setting: Omit<Instance, "identity">,
  ) {}

  /** Whether `renew` has something to do in the cluster. Cheap, since every request asks. */
  isDue(cluster: string): boolean {
    const known = this.#known.get(cluster);
    const nowMs = this.ports.clock.now();
    return known === undefined || nowMs >= known.dueMs || nowMs < known.sinceMs;
  }

  /** Brings the Lease of the cluster up to date. Never rejects; what fails is logged, and tried again after an interval. */
  async renew(cluster: string): Promise<void> {
    const { clock, random, recorder } = this.ports;
    const known = this.#begun(cluster);
    const intervalMs = this.setting.renewSeconds * 1000 * (1 + random.next() * JITTER_FACTOR);
    known.sinceMs = clock.now();
    known.dueMs = known.sinceMs + intervalMs;
    try {
      const { name, instance } = await (this.#named ??= this.#nameItself());
      if (known.held && (await this.#write(cluster, known, renewal(known.held, instance, clock.now())))) return;
      known.held = undefined;
      const key = { namespace: IDENTITY_NAMESPACE, name };
      const found = await this.ports.calls.get(cluster, key);
      if (!found.ok && found.error.code !== 404) return this.#failed(cluster, found.error);
      known.seen = found.ok ? seenNext(known.seen, JSON.parse(found.value) as Lease, clock.now()) : undefined;
      const step = nextStep(name, known.seen, instance, clock.now());
      if (step.kind === "rest") known.dueMs = Math.max(known.dueMs, step.untilMs);
      else await this.#write(cluster, known, step);
    } catch (error) {
      // The cluster is gone.
      this.#known.delete(cluster);
      recorder.log("debug", "identity lease was not renewed", { cluster, error: String(error) });
    }
  }

  #begun(cluster: string): KnownLease {
    const known = this.#known.get(cluster) ?? { dueMs: 0, sinceMs: 0 };
    if (this.#known.size >= CLUSTERS_MAX) this.#known.clear();
    this.#known.set(cluster, known);
    return known;
  }

  async #nameItself(): Promise<{ name: string; instance: Instance }> {
    const { random, digest } = this.ports;
    const name = await identityLeaseName(this.setting.hostname, digest);
    return { name, instance: { ...this.setting, identity: `${name}_${random.uuid()}` } };
  }

  /** false = another write came first */
  async #write(cluster: string, known: KnownLease, { kind, lease }: Exclude<IdentityStep, { kind: "rest" }>): Promise<boolean> {
    const { name = "", namespace = IDENTITY_NAMESPACE } = lease.metadata ?? {};
    const { group } = leasesDefinition;
    const options = { dryRun: false, fieldManager: SERVER_MANAGER, fieldValidation: "Ignore", force: false, group, version: "v1" } as const;
    const object = JSON.stringify(lease);
    const request: WriteRequest =
      kind === "create"
        ? { verb: "create", namespace, object, options }
        : { verb: "update", key: { namespace, name }, subresource: "", object, options };
    const written = await this.ports.calls.write(cluster, request);
    if (written.ok) {
      known.held = JSON.parse(written.value) as Lease;
      return true;
    }
    if (written.error.code === 409) return false;
    known.held = undefined;
    this.#failed(cluster, written.error);
    return true;
  }

  #failed(cluster: string, { message = "" }: Status): void {
    this.ports.recorder.log("warn", "identity lease was not renewed", { cluster, message });
  }
}
