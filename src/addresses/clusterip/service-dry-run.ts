/** Dry runs of Services take no address: a dynamic one is shown as a range's network address, a static one has to be usable in a range. */
import type { Service } from "../../api/meta/kubernetes";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import type { Admission, Operation } from "../../api/store/state/extension";
import { parseAddress } from "../../core/net/address";
import { formatPrefix } from "../../core/net/prefix";
import { isUsableIn } from "../../core/net/usable";
import { isDefaultService, type Tenants } from "../ledger/address-supply";
import { isZoned, placesFor, refusalOf, type TenantLabels } from "../topology/tenants";
import { storedPrefix } from "../topology/stored-prefix";
import { applyTaken, dryRunAddress, type Take } from "./address-plan";
import { takeRefused } from "./errors";
import type { ServiceSupply } from "./service-supply";
import type { TopologySource } from "../ledger/topology-source";

/** TenantLabels of namespaces, for topologies in which ranges are kept for some of them. */
export interface DryRunTenants extends Tenants {
  known(namespace: string): TenantLabels | undefined;
}

export class ServiceDryRun {
  /** operations that have the Coordinator's newest topology */
  readonly #informed = new WeakSet<Operation<ServiceSupply>>();

  constructor(
    private readonly topology: Pick<TopologySource, "cached" | "refresh">,
    private readonly tenants?: DryRunTenants,
  ) {}

  /** Shows addresses in `after`, or asks for the topology first. Its answer is of the Coordinator's epoch, as any refusal is (rule 17). */
  admit(after: Service | undefined, take: readonly Take[], operation: Operation<ServiceSupply>): Admission {
    if (!after || take.length === 0) return { kind: "go" };
    const { cached } = this.topology;
    if (!cached || !this.#informed.has(operation)) return { kind: "wait", supply: () => this.#inform(after, operation) };
    const { namespace = "", name = "" } = after.metadata ?? {};
    const labels = isZoned(cached) && !isDefaultService({ namespace, name }) ? this.tenants?.known(namespace) : undefined;
    const shown: { index: number; address: string }[] = [];
    for (const want of take) {
      const ranges = cached.ranges.map(({ prefix }) => storedPrefix(prefix)).filter(({ family }) => family === want.family);
      const place = labels && placesFor(cached, want.family, labels)[0];
      const first = ranges.find((range) => place !== undefined && formatPrefix(range) === place) ?? ranges[0];
      if (!first) return { kind: "refuse", status: takeRefused(after, want, { reason: "notReady" }) };
      const range = formatPrefix(first);
      const parsed = parseAddress(want.address);
      if (parsed.ok && !ranges.some((prefix) => isUsableIn(prefix, parsed.value.family, parsed.value.value))) {
        return { kind: "refuse", status: takeRefused(after, want, { reason: "outsideRange", range }) };
      }
      const kept = parsed.ok && labels && refusalOf(cached, { family: want.family, address: want.address }, { namespace, labels });
      if (kept) return { kind: "refuse", status: takeRefused(after, want, { reason: "other", text: kept }) };
      shown.push({ index: want.index, address: want.address || dryRunAddress(range) });
    }
    applyTaken(after, shown);
    return { kind: "go" };
  }

  async #inform({ metadata }: Service, operation: Operation<ServiceSupply>): Promise<Status | undefined> {
    try {
      if (isZoned(await this.topology.refresh())) await this.tenants?.labelsOf(metadata?.namespace ?? "");
      this.#informed.add(operation);
      return undefined;
    } catch {
      return serviceUnavailable("the Coordinator did not answer in time, please try again", 1);
    }
  }
}
