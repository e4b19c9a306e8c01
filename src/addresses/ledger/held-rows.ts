/** The owners' rows of addresses, for who compares them with what it has stored itself: one call per owner, a few at a time. */
import { groupBy } from "../../core/base/group-by";
import { inParallel } from "../../core/base/in-parallel";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { pause } from "../../core/base/pause";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Topology } from "../rpc/topology";
import type { RepairedOwner } from "../rpc/repair";
import type { AddressRow } from "../rpc/service-cidr";
import { ownerOf } from "../topology/route";
import type { TopologySource } from "./topology-source";

export interface HeldRowsPorts {
  clock: Clock;
  recorder: Recorder;
  topology: TopologySource;
  owner(uid: string): Pick<RepairedOwner, "rowsOf">;
}

/** null = nobody holds it. "stale" = no owner speaks for it now, by the Coordinator's topology of after the question. "unavailable" = no answer. */
export type HeldRow = AddressRow | null | "stale" | "unavailable";

/** Calls under way at once: what comes back together is worked off in one turn of a thread that others need, too. */
const CALLS_TOGETHER = 4;

export class HeldRows {
  constructor(private readonly ports: HeldRowsPorts) {}

  /**
   * The rows of addresses (canonical texts), in their order. An old view of the topology is asked first, which is harmless: an owner answers
   * for what it owns and for nothing else. Never rejects.
   */
  async of(addresses: readonly string[]): Promise<HeldRow[]> {
    const { clock, topology } = this.ports;
    const rows: HeldRow[] = addresses.map(() => "stale");
    try {
      if (topology.cached) await this.#ask(topology.cached, addresses, rows);
      if (rows.includes("stale")) await this.#ask(await withTimeout(clock, RPC_TIMEOUT_MS, topology.refresh()), addresses, rows);
    } catch {
      rows.forEach((row, i) => (rows[i] = row === "stale" ? "unavailable" : row));
    }
    return rows;
  }

  /** Asks for those that are "stale" and writes down what comes. */
  async #ask(view: Topology, addresses: readonly string[], rows: HeldRow[]): Promise<void> {
    const asked = addresses.flatMap((address, i) => {
      const uid = rows[i] === "stale" ? ownerOf(view, address) : undefined;
      return uid === undefined ? [] : [{ uid, i }];
    });
    const groups = [...groupBy(asked, ({ uid }) => uid)];
    let left = groups.length;
    await inParallel(groups, CALLS_TOGETHER, async ([uid, group]) => {
      const indices = group.map(({ i }) => i);
      await this.#askOwner(uid, { indices, addresses, rows });
      if (--left > 0) await pause(this.ports.clock, 0);
    });
  }

  async #askOwner(
    uid: string,
    { indices, addresses, rows }: { indices: readonly number[]; addresses: readonly string[]; rows: HeldRow[] },
  ): Promise<void> {
    const { clock, owner, recorder } = this.ports;
    try {
      const answer = await withTimeout(clock, RPC_TIMEOUT_MS, owner(uid).rowsOf(indices.map((i) => addresses[i] ?? "")));
      indices.forEach((i, at) => (rows[i] = answer[at] ?? null));
    } catch (error) {
      recorder.log("warn", "an owner could not be asked for its rows", { owner: uid, error: String(error) });
      for (const i of indices) rows[i] = "unavailable";
    }
  }
}
