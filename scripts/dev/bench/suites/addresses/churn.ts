/**
 * The service level of KEP-1880: 99.9 % of allocations take less than 500 ms, and all succeed. For a minute 100 clients create and delete Services,
 * and every second one range is added and another one deleted.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "../../../../../test/support/clients/api";
import { violationsAfterRepair } from "../../../../../test/support/server/observe";
import type { Server } from "../../../../../test/support/server/server";
import type { ChurnLoad, ChurnResult } from "../../load-processes/churn-load-process";
import { quantile, round } from "../../figures";
import type { BenchRow } from "../../row";
import { runLoadProcess, withServer } from "../../started";

const CLIENTS = 100;
const DURATION_MS = 60_000;
/** Services that each client keeps: enough for some in every range, few enough to leave a deleted range soon. */
const HELD = 10;
const CHANGE_INTERVAL_MS = 1_000;
const ALLOCATION_MS_MAX = 500;
const QUANTILE_MIN = 0.999;
/** The range that stays, so that there is always room. It is small: most addresses come from the ranges that come and go. */
const STAYING = "10.127.0.0/18";
const REPAIR_WAIT_MS = 30_000;
/** A /16 is deleted this many blocks after its own. */
const BLOCKS_KEPT = 2;

export function benchChurn(): Promise<BenchRow[]> {
  return withServer("10.0.0.0/29", async (server) => {
    const ranges = new Ranges(server);
    await ranges.add("staying", STAYING);
    await ranges.begin();
    const load = runLoadProcess<Omit<ChurnLoad, "target">, ChurnResult>(server, "churn-load-process.ts", {
      clients: CLIENTS,
      durationMs: DURATION_MS,
      held: HELD,
    });
    let over = false;
    const ended = load.finally(() => (over = true));
    ended.catch(() => undefined);
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    for (let i = 0; !over; i++) {
      await ranges.change(i);
      await sleep(Math.max(0, (i + 1) * CHANGE_INTERVAL_MS - elapsed()));
    }
    const changesMin = Math.floor(elapsed() / CHANGE_INTERVAL_MS);
    const { createMs, deleteMs, failures, told, kept } = await ended;
    if (ranges.problems.length > 0) throw new Error(`changing the ranges:\n${ranges.problems.join("\n")}`);

    const gone = await ranges.gone();
    const answered = kept.map(({ name, uid, clusterIP }) => ({
      metadata: { namespace: "default", name, uid },
      spec: { clusterIPs: [clusterIP] },
    }));
    const violations = await violationsAfterRepair(server.url, answered, REPAIR_WAIT_MS);
    if (violations.length > 0) throw new Error(`after the churn:\n${violations.slice(0, 10).join("\n")}`);

    await ranges.emptied(kept.map(({ name }) => name));

    const inTime = createMs.filter((ms) => ms < ALLOCATION_MS_MAX).length / createMs.length;
    const requests = createMs.length + deleteMs.length;
    return [
      {
        name: "churn.inTime",
        value: Math.round(inTime * 100_000) / 1_000,
        unit: "%",
        target: `>= ${String(QUANTILE_MIN * 100)} under ${String(ALLOCATION_MS_MAX)} ms`,
        ok: inTime >= QUANTILE_MIN,
        note: `of ${String(createMs.length)} creates by ${String(CLIENTS)} clients, who delete as many; p50 ${round(quantile(createMs, 0.5), 0)}, p99 ${round(quantile(createMs, 0.99), 0)}, slowest ${round(createMs.at(-1) ?? NaN, 0)} ms`,
      },
      {
        name: "churn.success",
        value: Math.round((1 - failures / requests) * 100_000) / 1_000,
        unit: "%",
        target: "100",
        ok: failures === 0,
        note: told.length > 0 ? told.join("; ") : `of ${String(requests)} creates and deletes; the invariants hold afterwards`,
      },
      {
        name: "churn.ranges",
        value: ranges.changes,
        unit: "changes",
        target: `>= ${String(changesMin)}, one a second`,
        ok: ranges.changes >= changesMin && changesMin * CHANGE_INTERVAL_MS >= DURATION_MS,
        note: `each a range added and one deleted; of ${String(ranges.deleted)} deleted ${String(gone)} were gone by the end of the load, the others with their last Service`,
      },
    ];
  });
}

/**
 * Ranges that come and go by turns: a /18, then a /16 around it. The /18 is deleted and hands its addresses over to the /16. Three changes later the
 * /16 is deleted, too; nothing covers it, so it waits for the end of its Services.
 */
class Ranges {
  changes = 0;
  deleted = 0;
  readonly problems: string[] = [];
  readonly #api: Api;
  readonly #leaving = new Set<string>();

  constructor(server: Server) {
    this.#api = new Api(() => server.url);
  }

  async add(name: string, cidr: string): Promise<void> {
    const path = "/apis/networking.k8s.io/v1/servicecidrs";
    await this.#api.must("POST", path, { body: { metadata: { name }, spec: { cidrs: [cidr] } } });
    await this.#api.until(async () => JSON.stringify((await this.#get(name)).body).includes('"status":"True"'), `${name} is Ready`);
  }

  /** The ranges that the first changes delete. */
  async begin(): Promise<void> {
    for (let block = 0; block < BLOCKS_KEPT; block++) await this.add(`outer-${String(block)}`, `${prefixOf(block)}/16`);
  }

  /** The i-th change: a range added and another one deleted. */
  async change(i: number): Promise<void> {
    const block = BLOCKS_KEPT + Math.floor(i / 2);
    try {
      if (i % 2 === 0) {
        await this.add(`inner-${String(block)}`, `${prefixOf(block)}/18`);
        await this.#remove(`outer-${String(block - BLOCKS_KEPT)}`);
      } else {
        await this.add(`outer-${String(block)}`, `${prefixOf(block)}/16`);
        await this.#remove(`inner-${String(block)}`);
      }
      this.changes++;
    } catch (error) {
      this.problems.push(String(error));
    }
  }

  async #remove(name: string): Promise<void> {
    await this.#api.must("DELETE", `/apis/networking.k8s.io/v1/servicecidrs/${name}`);
    this.#leaving.add(name);
    this.deleted++;
  }

  /** How many of the deleted ranges are gone. */
  async gone(): Promise<number> {
    const there = await Promise.all([...this.#leaving].map(async (name) => (await this.#get(name)).code !== 404));
    return there.filter((is) => !is).length;
  }

  /** Deletes the Services; resolves when every deleted range has gone with them. */
  async emptied(services: readonly string[]): Promise<void> {
    await Promise.all(services.map((name) => this.#api.must("DELETE", `/api/v1/namespaces/default/services/${name}`)));
    await this.#api.until(async () => (await this.gone()) === this.deleted, "every deleted range is gone", 60);
  }

  #get(name: string) {
    return this.#api.get(`/apis/networking.k8s.io/v1/servicecidrs/${name}`);
  }
}

function prefixOf(block: number): string {
  return `10.${String(128 + (block % 64))}.0.0`;
}
