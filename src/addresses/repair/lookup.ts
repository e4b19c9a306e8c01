/** Reads what a round still needs: the counterparts of what is judged, objects that were only named, and the ranges. */
import type { Prefix } from "../../core/net/prefix";
import { chunksOf } from "../../core/base/chunks";
import type { PrefixIndex } from "../topology/prefix-index";
import { rangeIndex } from "../topology/range-index";
import type { RepairPorts } from "./repair-ports";
import type { RepairReports } from "./repair-reports";
import { addressId, readIPAddress, readService, type RepairRound, serviceId, wantParent } from "./round";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { readClusterIP } from "./rules";

/** Objects read by one call: its turn in the store stays far below 50 ms. */
export const PAGE = 100;

const NO_RANGES = rangeIndex([]);

export class Lookup {
  #index: { ranges: readonly Prefix[]; index: PrefixIndex<Prefix> } | undefined;

  constructor(
    private readonly ports: Pick<RepairPorts, "ipAddresses" | "ranges" | "services">,
    private readonly reports: Pick<RepairReports, "ofUnreadable">,
  ) {}

  /** Completes the round: each Service with the IPAddresses of its addresses, each IPAddress with the Service that it names. */
  async complete(round: RepairRound): Promise<void> {
    await this.#readServices(round);
    const names = new Set([...round.addresses].flatMap(([name, object]) => (object ? [] : [name])));
    for (const service of round.services.values()) {
      for (const text of clusterIPTextsOf(service)) {
        const ip = readClusterIP(text);
        if (ip && !round.addresses.get(ip.address)) names.add(ip.address);
      }
    }
    for (const chunk of chunksOf([...names], PAGE)) {
      const found = await this.ports.ipAddresses.objectsNamed(chunk.map((name) => ({ namespace: "", name })));
      chunk.forEach((name, i) => round.addresses.set(name, this.read(round, addressId(name), found[i], readIPAddress)));
    }
    for (const object of round.addresses.values()) if (object) wantParent(round, object);
    await this.#readServices(round);
  }

  async #readServices(round: RepairRound): Promise<void> {
    const wanted = [...round.wanted].filter(([key]) => !round.services.has(key));
    round.wanted.clear();
    for (const chunk of chunksOf(wanted, PAGE)) {
      const found = await this.ports.services.objectsNamed(chunk.map(([, key]) => key));
      chunk.forEach(([key], i) => {
        const service = this.read(round, serviceId(key), found[i], readService);
        if (service) round.services.set(key, service);
      });
    }
  }

  /** The ranges against which the round's Services are judged; without Services nobody asks for them. */
  async rangesFor(round: RepairRound): Promise<PrefixIndex<Prefix>> {
    if (round.services.size === 0) return NO_RANGES;
    const ranges = await this.ports.ranges();
    if (this.#index?.ranges !== ranges) this.#index = { ranges, index: rangeIndex(ranges) };
    return this.#index.index;
  }

  /** The object in a stored text. Undefined = there is none, or it cannot be read; the round notes the second. */
  read<T>(round: RepairRound, id: string, text: string | null | undefined, parse: (text: string) => T | undefined): T | undefined {
    if (text === null || text === undefined) return undefined;
    const object = parse(text);
    if (object) return object;
    round.unreadable.add(id);
    this.reports.ofUnreadable(id, text);
    return undefined;
  }
}
