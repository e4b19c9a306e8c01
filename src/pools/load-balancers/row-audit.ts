/**
 * Compares the rows at the book with what Services have. A crash between a take and its commit, or behind a commit that gives back, leaves a row to which
 * nobody refers: it is released. A row that is lost, because the book came back from a backup, is taken again for the Service that has it.
 *
 * The first question opens a session, behind which no take of an earlier life counts any more. So what the pages show is all there will be, besides what
 * this life takes and knows.
 */
import type { AddressRowKey, BalancerAnswer, ServiceRow, TakenRow } from "../../api/rpc/load-balancers";
import type { Clock, Recorder } from "../../core/base/ports";
import { SharedCall } from "../../core/turns/shared-call";
import { serviceOfRow } from "./address-outcome";
import type { ServiceRows } from "./service-rows";

export interface RowAuditPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  rows: Pick<ServiceRows, "allHeld" | "held">;
  page(after: AddressRowKey): Promise<Extract<BalancerAnswer, { kind: "rows" }>>;
  /** A write has taken the row and has not ended. */
  isUnderWay(row: AddressRowKey): boolean;
  /** Those of the rows that no Service has. Never rejects. */
  release(rows: readonly AddressRowKey[]): Promise<void>;
  /** Answers why the row cannot be there again; undefined = it is, or is not wanted any more. */
  claim(key: string, row: TakenRow): Promise<string | undefined>;
  /** The address is somebody else's now. */
  lose(key: string, row: TakenRow, why: string): Promise<void>;
}

const HOUR_MS = 3_600_000;

export class RowAudit {
  #ranAt = -Infinity;
  readonly #runs = new SharedCall(() => this.#run());

  constructor(private readonly ports: RowAuditPorts) {}

  /** The same, unless one has ended within the hour. Never rejects. */
  runHourly(): Promise<void> {
    return this.ports.clock.now() < this.#ranAt + HOUR_MS ? Promise.resolve() : this.run();
  }

  /** Never rejects. */
  run(): Promise<void> {
    return this.#runs.begin();
  }

  async #run(): Promise<void> {
    const { recorder, rows, page, isUnderWay, release } = this.ports;
    try {
      const missing = new Map<AddressRowKey, ServiceRow>();
      for (const [, held] of rows.allHeld()) for (const row of held.rows) missing.set(row.row, { ...row, service: held.uid });
      for (let after: string | undefined = ""; after !== undefined;) {
        const answer: Extract<BalancerAnswer, { kind: "rows" }> = await page(after);
        for (const row of answer.rows) if (isSame(missing.get(row.row), row)) missing.delete(row.row);
        await release(answer.rows.map(({ row }) => row).filter((row) => !isUnderWay(row)));
        after = answer.next;
      }
      await this.#claimAll([...missing.values()]);
      this.#ranAt = this.ports.clock.now();
    } catch (error) {
      recorder.log("warn", "rows of load balancers could not be compared", { error: String(error) });
    }
  }

  /** Who loses an address gets another one, which must not be that of a row that is still to come back. */
  async #claimAll(rows: readonly TakenRow[]): Promise<void> {
    const { claim, lose } = this.ports;
    const lost: (() => Promise<void>)[] = [];
    for (const row of rows) {
      const key = serviceOfRow(row.row);
      const why = await claim(key, row);
      if (why !== undefined) lost.push(() => lose(key, row, why));
    }
    for (const tell of lost) await tell();
  }
}

/** A book that came back from before may have another row of that name. */
function isSame(a: ServiceRow | undefined, b: ServiceRow): boolean {
  return a?.address === b.address && a.service === b.service;
}
