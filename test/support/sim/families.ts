/** Clients whose objects own each other: Leases and Services with ownerReferences, deleted in every way that a client may ask for. */
import type { WordRandom } from "../../../src/core/base/word-random";
import type { OwnerReference } from "../../../src/api/meta/kubernetes";
import type { DeleteOptionsRequest, WriteOptions, WriteRequest } from "../../../src/api/rpc/store";
import { DELETE } from "../worlds/store-world";
import type { CollectorWatch, Relative } from "./watches/collector-watch";
import { CLIENT, type SimNode } from "./platform/network";
import type { SimPlatform } from "./platform/platform";
import { pick } from "./platform/seeded-random";

const LEASES = 6;
const SERVICES = 3;
const HELD = "example.com/family";
const POLICIES: readonly DeleteOptionsRequest["propagationPolicy"][] = ["", "Background", "Foreground", "Foreground", "Orphan"];

type Kind = "Lease" | "Service";

export class SimFamilies {
  constructor(
    private readonly cluster: SimPlatform,
    private readonly watch: CollectorWatch,
    private readonly random: WordRandom,
    /** a namespace that comes and goes */
    private readonly passing: string,
  ) {}

  /** Starts one random write; does not wait for it. */
  act(): void {
    const dice = this.random.below(12);
    const all = this.watch.relatives();
    // Services of other names are other clients', who know what they wrote.
    const mine = all.filter(({ kind, key }) => kind === "Lease" || /\/(owned|shared)-/.test(key));
    const one = mine.length === 0 ? undefined : pick(this.random, mine);
    if (!one || dice < 5) this.#create(all);
    else if (dice < 8) this.#send(one.kind as Kind, this.removal(one, pick(this.random, POLICIES)));
    else if (dice < 11) this.#send(one.kind as Kind, this.change(one, { ownerReferences: this.#references(all) }));
    else this.#send(one.kind as Kind, this.change(one, { finalizers: this.random.below(2) === 0 ? [HELD] : null }));
  }

  /** Whoever held objects back lets them go. */
  letGo(): void {
    for (const one of this.watch.relatives()) {
      const { finalizers = [] } = one.object.metadata ?? {};
      if (!finalizers.includes(HELD)) continue;
      const left = finalizers.filter((finalizer) => finalizer !== HELD);
      this.#send(one.kind as Kind, this.change(one, { finalizers: left.length > 0 ? left : null }));
    }
  }

  creation(kind: Kind, namespace: string, name: string, ownerReferences: readonly OwnerReference[]): WriteRequest {
    const spec = kind === "Lease" ? {} : { ports: [{ port: 80 }] };
    const object = JSON.stringify({ metadata: { name, namespace, ownerReferences }, spec });
    return { verb: "create", namespace, object, options: optionsOf(kind) };
  }

  removal({ object }: Relative, propagationPolicy: DeleteOptionsRequest["propagationPolicy"]): WriteRequest {
    const { namespace = "", name = "" } = object.metadata ?? {};
    return { verb: "delete", key: { namespace, name }, options: { ...DELETE, propagationPolicy } };
  }

  change({ kind, object }: Relative, metadata: object): WriteRequest {
    const { namespace = "", name = "" } = object.metadata ?? {};
    const patch = JSON.stringify({ metadata });
    return { verb: "patch", key: { namespace, name }, subresource: "", patchType: "merge", patch, options: optionsOf(kind as Kind) };
  }

  #create(all: readonly Relative[]): void {
    const kind: Kind = this.random.below(4) === 0 ? "Service" : "Lease";
    const name = kind === "Lease" ? `lease-${this.random.below(LEASES)}` : `owned-${this.random.below(SERVICES)}`;
    const namespace = this.random.below(5) === 0 ? this.passing : "default";
    this.#send(kind, this.creation(kind, namespace, name, this.#references(all)));
  }

  /** None, one or two of what there is, also in another namespace; now and then an owner that never was. */
  #references(all: readonly Relative[]): OwnerReference[] {
    const references: OwnerReference[] = [];
    for (let i = pick(this.random, [0, 1, 1, 1, 2]); i > 0 && all.length > 0; i--) {
      const { kind, object } = pick(this.random, all);
      const { name = "", uid = "" } = object.metadata ?? {};
      const isStale = this.random.below(10) === 0;
      references.push({
        apiVersion: kind === "Lease" ? "coordination.k8s.io/v1" : "v1",
        kind,
        name,
        uid: isStale ? `not ${uid}` : uid,
        blockOwnerDeletion: this.random.below(3) > 0,
      });
    }
    return references.filter(({ uid }, i) => references.findIndex((other) => other.uid === uid) === i);
  }

  #send(kind: Kind, request: WriteRequest): void {
    const { network, plain, services } = this.cluster;
    const node = (kind === "Lease" ? plain.leases : services) as unknown as SimNode<{ write(request: WriteRequest): Promise<unknown> }>;
    void network.call(CLIENT, node, (store) => store.write(request)).catch(() => undefined);
  }
}

function optionsOf(kind: Kind): WriteOptions {
  const group = kind === "Lease" ? "coordination.k8s.io" : "";
  return { dryRun: false, fieldManager: "family", fieldValidation: "Strict", force: false, group, version: "v1" };
}
