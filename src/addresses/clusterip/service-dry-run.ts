/** Dry runs of Services take no address: a dynamic one is shown as a range's network address, a static one has to be usable in a range. */
import type { Service } from "../../api/meta/kubernetes";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import type { Admission, Operation } from "../../api/store/state/extension";
import { parseAddress } from "../../core/net/address";
import { formatPrefix } from "../../core/net/prefix";
import { isUsableIn } from "../../core/net/usable";
import { storedPrefix } from "../topology/stored-prefix";
import { applyTaken, dryRunAddress, type Take } from "./address-plan";
import { takeRefused } from "./errors";
import type { ServiceSupply } from "./service-supply";
import type { TopologySource } from "../ledger/topology-source";

export class ServiceDryRun {
  /** operations that have the Coordinator's newest topology */
  readonly #informed = new WeakSet<Operation<ServiceSupply>>();

  constructor(private readonly topology: Pick<TopologySource, "cached" | "refresh">) {}

  /** Shows addresses in `after`, or asks for the topology first. Its answer is of the Coordinator's epoch, as any refusal is (rule 17). */
  admit(after: Service | undefined, take: readonly Take[], operation: Operation<ServiceSupply>): Admission {
    if (!after || take.length === 0) return { kind: "go" };
    const { cached } = this.topology;
    if (!cached || !this.#informed.has(operation)) return { kind: "wait", supply: () => this.#inform(operation) };
    const shown: { index: number; address: string }[] = [];
    for (const want of take) {
      const ranges = cached.ranges.map(({ prefix }) => storedPrefix(prefix)).filter(({ family }) => family === want.family);
      const [first] = ranges;
      if (!first) return { kind: "refuse", status: takeRefused(after, want, { reason: "notReady" }) };
      const range = formatPrefix(first);
      const parsed = parseAddress(want.address);
      if (parsed.ok && !ranges.some((prefix) => isUsableIn(prefix, parsed.value.family, parsed.value.value))) {
        return { kind: "refuse", status: takeRefused(after, want, { reason: "outsideRange", range }) };
      }
      shown.push({ index: want.index, address: want.address || dryRunAddress(range) });
    }
    applyTaken(after, shown);
    return { kind: "go" };
  }

  async #inform(operation: Operation<ServiceSupply>): Promise<Status | undefined> {
    try {
      await this.topology.refresh();
      this.#informed.add(operation);
      return undefined;
    } catch {
      return serviceUnavailable("the Coordinator did not answer in time, please try again", 1);
    }
  }
}
