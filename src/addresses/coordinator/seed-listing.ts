/**
 * The IPAddress objects inside new segments. Each call tells the ipaddresses store all claims, and the store looks at every object. So owners whose
 * segments came at about the same time share one call.
 */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import type { Clock } from "../../core/base/ports";
import { parseAddress } from "../../core/net/address";
import type { SeedRow } from "../rpc/ip-addresses";
import { PrefixIndex } from "../topology/prefix-index";
import { storedPrefix } from "../topology/stored-prefix";
import type { CoordinatorPeers } from "./coordinator-ports";
import type { TopologyView } from "./state/topology-view";

/** The objects by the segment in which they lie. */
type SeedRows = ReadonlyMap<string, SeedRow[]>;

export class SeedListing {
  #wanted: string[] = [];
  #next: Promise<SeedRows> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(private readonly ports: { clock: Clock; peers: CoordinatorPeers; view(): TopologyView }) {}

  /**
   * The objects that lie in the claimed segments, as of a call that begins after this one: a call under way does not know them. Rejects when the
   * ipaddresses store does not answer in time.
   */
  async inside(segments: readonly string[]): Promise<SeedRow[]> {
    this.#wanted.push(...segments);
    const begin = (): Promise<SeedRows> => this.#begin();
    const listed = await (this.#next ??= this.#running.then(begin, begin));
    return segments.flatMap((segment) => listed.get(segment) ?? []);
  }

  #begin(): Promise<SeedRows> {
    const within = [...new Set(this.#wanted)];
    this.#wanted = [];
    this.#next = undefined;
    const listed = this.#list(within);
    this.#running = listed;
    return listed;
  }

  /** Reads all pages. An object that is created between two pages takes its row at the owner: the first page made the claims known. */
  async #list(within: string[]): Promise<SeedRows> {
    const { clock, peers, view } = this.ports;
    const index = new PrefixIndex(within.map((segment) => ({ prefix: storedPrefix(segment), value: segment })));
    const listed = new Map<string, SeedRow[]>(within.map((segment) => [segment, []]));
    for (let after = ""; ;) {
      const { epoch, claims } = view();
      const prefixes = claims.map((claim) => claim.prefix);
      const call = peers.ipAddresses().claimPrefixes(epoch, prefixes, { within, after });
      const page = await withTimeout(clock, RPC_TIMEOUT_MS, call);
      for (const row of page.rows) {
        const parsed = parseAddress(row.address);
        const segments = parsed.ok ? index.containing(parsed.value.family, parsed.value.value) : [];
        for (const segment of segments) listed.get(segment)?.push(row);
      }
      if (page.next === "") return listed;
      after = page.next;
    }
  }
}
