/**
 * The repair of node ports, every three minutes as upstream's. One sweep of the Services in each interval, or every sweep that was asked for, compares
 * the node ports of what it reads with their rows. At its end all rows are looked through for those that leaked.
 *
 * | of the sweep under way | step        | then                                                        |
 * |------------------------|-------------|-------------------------------------------------------------|
 * | does not compare       | `resting`   | the first sweep that begins after the interval compares     |
 * | compares               | `comparing` | each Service's missing rows are written, all is reported    |
 * | came to its end        | `leaks`     | rows without a Service become suspects (leak-sights.ts)     |
 *
 * A row is freed at the third sight. By its first one every Service was compared with its rows, so none of them needs it.
 *
 * The step is kept: a crash repeats what has been done since, which then finds nothing more. A failure begins everything anew with the next sweep.
 */
import type { Pace } from "../../core/base/pause";
import type { Service } from "../../api/meta/kubernetes";
import { referenceTo } from "../../api/events/event-recorder";
import { needsNodePort, specOf } from "../../api/registry/services/predicates";
import { servicesDefinition } from "../../api/registry/services/definition";
import { type HeldNodePort, nodePortText } from "../../api/registry/services/held-by-service";
import { FIRST_NODE_PORT, type NodePortRow } from "../rpc/repaired-node-ports";
import { isLeakId, LeakSights, NODE_PORTS_INTERVAL_MS } from "./leak-sights";
import { nodePortEvent } from "./node-port-events";
import { nodePortType } from "./repair-counts";
import type { RepairPorts } from "./repair-ports";
import type { RepairRound } from "./round";

/** Cron does not come on the second. */
const DUE_MS = NODE_PORTS_INTERVAL_MS - 10_000;
/** Rows of one call: each is held against its Service, some milliseconds in all. */
const ROWS = 500;
/** Until what could not be looked at is looked at again. */
const PUT_OFF_MS = 60_000;

const STEP = "nodePortsStep";
const RESTING = 0;
const COMPARING = 1;
const LEAKS = 2;
/** When the last sweep that compares began, in milliseconds since the epoch. */
const BEGUN_AT = "nodePortsAt";

export class NodePortCheck {
  readonly #sights: LeakSights;

  constructor(private readonly ports: Pick<RepairPorts, "clock" | "nodePortEvents" | "recorder" | "services" | "storage">) {
    this.#sights = new LeakSights(ports);
  }

  /**
   * A sweep of the Services begins, or begins again. `fullSince`: the start of the full sweep around it, in milliseconds since the epoch; 0 = there is
   * no full sweep. Answers whether this sweep compares node ports.
   */
  begin(fullSince: number): boolean {
    const { clock, storage } = this.ports;
    const begunAt = storage.numberGet(BEGUN_AT);
    const sinceMs = clock.now() - begunAt;
    const isDue = this.#step === RESTING && (sinceMs >= DUE_MS || sinceMs < 0);
    // Each full sweep compares once, and reads Services again while it waits for IPAddresses and owners.
    if (begunAt >= fullSince && !isDue) return false;
    storage.numberSet(BEGUN_AT, clock.now());
    storage.numberSet(STEP, COMPARING);
    return true;
  }

  get isComparing(): boolean {
    return this.#step === COMPARING;
  }

  /** Has the rows of the round's Services put right, and reports what was found. */
  async compare({ compared, services }: Pick<RepairRound, "compared" | "services">): Promise<void> {
    const holding = [...compared].flatMap((key) => services.get(key) ?? []).filter((service) => needsNodePort(specOf(service)));
    if (holding.length === 0) return;
    try {
      const found = await this.ports.services.makeNodePortsWhole(
        holding.map(({ metadata }) => ({ namespace: metadata?.namespace ?? "", name: metadata?.name ?? "", uid: metadata?.uid ?? "" })),
      );
      holding.forEach((service, i) => {
        for (const finding of found[i] ?? []) this.#report(service, finding);
      });
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The sweep of the Services came to its end. */
  ended(): void {
    if (this.isComparing) this.ports.storage.numberSet(STEP, LEAKS);
  }

  /** After the end of a sweep that compares: finds the rows of Services that are gone, or hold the port no longer. */
  async findLeaks(pace: Pace): Promise<void> {
    if (this.#step !== LEAKS) return;
    const { recorder, services, storage } = this.ports;
    try {
      for (let after: HeldNodePort | undefined = FIRST_NODE_PORT; after;) {
        const { leaked, next } = await services.leakedNodePorts(after, ROWS);
        for (const row of leaked) {
          if (this.#sights.begin(row)) recorder.log("warn", "a node port may have leaked", shown(row));
        }
        after = next;
        if (after) await pace.rest();
      }
      storage.numberSet(STEP, RESTING);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Looks again at those suspects that are rows of node ports. */
  async lookAgain(suspects: readonly string[]): Promise<void> {
    const rows = this.#sights.due(suspects.filter(isLeakId));
    if (rows.length === 0) return;
    const { recorder, services, storage } = this.ports;
    try {
      const results = await services.settleNodePorts(rows.map((row) => ({ ...row, isLastSight: this.#sights.isLast(row) })));
      rows.forEach((row, i) => {
        if (results[i] === "leaked") this.#sights.again(row);
        else if (results[i] === "freed") {
          storage.count(nodePortType("leak"), 1);
          recorder.log("warn", "a node port had leaked and was freed", shown(row));
        }
      });
    } catch (error) {
      for (const row of rows) this.#sights.putOff(row, PUT_OFF_MS);
      this.#failed(error);
    }
  }

  #report(service: Service, finding: Parameters<typeof nodePortEvent>[0]): void {
    const { nodePortEvents, storage } = this.ports;
    storage.count(nodePortType(finding.kind), 1);
    nodePortEvents.report({ ...nodePortEvent(finding), type: "Warning", regarding: referenceTo(servicesDefinition, service) });
  }

  #failed(error: unknown): void {
    const { recorder, storage } = this.ports;
    storage.count(nodePortType(""), 1);
    recorder.log("warn", "node ports could not be compared with their rows", { error: String(error) });
    storage.numberSet(STEP, RESTING);
    storage.numberSet(BEGUN_AT, 0);
  }

  get #step(): number {
    return this.ports.storage.numberGet(STEP);
  }
}

function shown(row: NodePortRow): Record<string, string> {
  return { nodePort: nodePortText(row), service: row.key };
}
