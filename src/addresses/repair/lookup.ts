/** Reads what a round still needs: the counterparts of what is judged, objects that were only named, and the ranges. */
import type { Prefix } from "../../core/net/prefix";
import { chunksOf } from "../../core/base/chunks";
import type { Pace } from "../../core/base/pause";
import type { PrefixIndex } from "../topology/prefix-index";
import { rangeIndex } from "../topology/range-index";
import type { RangesNow, RepairPorts } from "./repair-ports";
import type { RepairReports } from "./repair-reports";
import { addressId, readIPAddress, readService, type RepairRound, serviceId, wantParent } from "./round";
import { clusterIPTextsOf } from "../../api/registry/services/held-by-service";
import { readClusterIP } from "./rules";

/** Objects read by one call: its turn in the store stays far below 50 ms. */
export const PAGE = 100;

const NO_RANGES = rangeIndex([]);

export class Lookup {
  #index: { prefixes: readonly Prefix[]; index: PrefixIndex<Prefix> } | undefined;
  /** uids of the owners of addresses, as this pass has heard of them; undefined = it has not */
  #owners: readonly string[] | undefined;

  /** see RangesNow, as the last question about ranges answered */
  kept: RangesNow["kept"];

  constructor(
    private readonly ports: Pick<RepairPorts, "ipAddresses" | "owners" | "ranges" | "services">,
    private readonly reports: Pick<RepairReports, "ofUnreadable">,
  ) {}

  /**
   * Completes the round: each Service with the IPAddresses of its addresses, each IPAddress with the Service that it names. `pace`: of a pass that
   * leaves the thread to others between two calls
   */
  async complete(round: RepairRound, pace?: Pick<Pace, "breathe">): Promise<void> {
    await this.#readServices(round, pace);
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
      await pace?.breathe();
    }
    for (const object of round.addresses.values()) if (object) wantParent(round, object);
    await this.#readServices(round, pace);
  }

  async #readServices(round: RepairRound, pace?: Pick<Pace, "breathe">): Promise<void> {
    const wanted = [...round.wanted].filter(([key]) => !round.services.has(key));
    round.wanted.clear();
    for (const chunk of chunksOf(wanted, PAGE)) {
      const found = await this.ports.services.objectsNamed(chunk.map(([, key]) => key));
      chunk.forEach(([key], i) => {
        const service = this.read(round, serviceId(key), found[i], readService);
        if (service) round.services.set(key, service);
      });
      await pace?.breathe();
    }
  }

  /** The ranges against which the round's Services are judged; without Services nobody asks for them. */
  async rangesFor(round: RepairRound): Promise<PrefixIndex<Prefix>> {
    if (round.services.size === 0) return NO_RANGES;
    const { prefixes, owners, kept } = await this.ports.ranges();
    this.#owners = owners;
    this.kept = kept;
    if (this.#index?.prefixes !== prefixes) this.#index = { prefixes, index: rangeIndex(prefixes) };
    return this.#index.index;
  }

  /** To be called when a pass begins. */
  begin(): void {
    this.#owners = undefined;
  }

  /** The uids of the owners of addresses. The answer about the ranges has told them, if this pass needed one. */
  async owners(): Promise<readonly string[]> {
    return this.#owners ?? (await this.ports.owners());
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
