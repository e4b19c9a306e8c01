/** Who runs a simulated cluster: ServiceCIDRs come, overlap, grow by a family, are suspended, go, and are made to go. */
import type { WordRandom } from "../../../src/core/base/word-random";
import type { ServiceCIDR } from "../../../src/api/meta/kubernetes";
import type { WriteOptions, WriteRequest } from "../../../src/api/rpc/store";
import { pick } from "./platform/seeded-random";
import type { SimCluster } from "./cluster";
import { CLIENT } from "./platform/network";
import { DELETE } from "../worlds/store-world";

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "operator",
  fieldValidation: "Strict",
  force: false,
  group: "networking.k8s.io",
  version: "v1",
};
const NAMES = 4;
const DEFAULT = "kubernetes";
const READY = { type: "Ready", reason: "ByOperator", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };

export class SimOperator {
  constructor(
    private readonly cluster: SimCluster,
    private readonly random: WordRandom,
    /** to choose from, by family; several of them overlap */
    private readonly prefixes: { v4: readonly string[]; v6: readonly string[] },
    /**
     * what the default ServiceCIDR is made of, where the configured ranges may have counted alone: made of others it would leave what was given out
     * in them uncovered, and repair would only say so; absent = whatever is drawn
     */
    private readonly configured?: readonly string[],
  ) {}

  /** Starts one random change; does not wait for it. */
  act(): void {
    void this.send(this.#change());
  }

  /** Resolves when the write has been answered or is known to be lost. */
  async send(request: WriteRequest): Promise<void> {
    const { network, coordinator } = this.cluster;
    await network.call(CLIENT, coordinator, (store) => store.write(request)).catch(() => undefined);
  }

  creation(name: string, cidrs: readonly string[]): WriteRequest {
    return { verb: "create", namespace: "", object: JSON.stringify({ metadata: { name }, spec: { cidrs } }), options: OPTIONS };
  }

  removal(name: string): WriteRequest {
    return { verb: "delete", key: { namespace: "", name }, options: DELETE };
  }

  #change(): WriteRequest {
    // The default one comes back by itself.
    const name = this.random.below(20) === 0 ? DEFAULT : `range-${this.random.below(NAMES)}`;
    const stored = this.cluster.tables.coordinator.store.objectGet(name);
    if (!stored) return this.creation(name, (name === DEFAULT && this.configured) || this.#cidrs());
    const object = JSON.parse(stored.data) as ServiceCIDR;
    const dice = this.random.below(20);
    if (object.metadata?.deletionTimestamp) {
      // Rarely: what it leaves behind keeps the others busy for the rest of the history.
      return dice < 3 ? this.#patch(name, "", { metadata: { finalizers: null } }) : this.removal(name);
    }
    const { cidrs = [] } = object.spec ?? {};
    if (dice < 3 && cidrs.length === 1) return this.#patch(name, "", { spec: { cidrs: [...cidrs, this.#second(cidrs[0] ?? "")] } });
    if (dice < 5) return this.#patch(name, "status", { status: { conditions: [{ ...READY, status: dice === 3 ? "False" : "True" }] } });
    return dice < 6 ? this.#patch(name, "", { metadata: { finalizers: null } }) : this.removal(name);
  }

  #cidrs(): string[] {
    const [first, second] = [this.#one("v4"), this.#one("v6")];
    if (second === "" || this.random.below(2) === 0) return [first];
    return this.random.below(4) === 0 ? [second] : [first, second];
  }

  #second(first: string): string {
    return this.#one(first.includes(":") ? "v4" : "v6") || "fd09::/124";
  }

  #one(family: "v4" | "v6"): string {
    const all = this.prefixes[family];
    return all.length === 0 ? "" : pick(this.random, all);
  }

  #patch(name: string, subresource: "" | "status", patch: object): WriteRequest {
    return { verb: "patch", key: { namespace: "", name }, subresource, patchType: "merge", patch: JSON.stringify(patch), options: OPTIONS };
  }
}
