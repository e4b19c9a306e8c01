/**
 * The repair of node ports, every three minutes as upstream's. One sweep of the Services in each interval, or every sweep that was asked for, compares
 * the node ports of what it reads with their rows. At its end all rows are looked through for those that leaked.
 *
 * | of the sweep under way | step        | then                                                        |
 * |------------------------|-------------|-------------------------------------------------------------|
 * | does not compare       | `resting`   | the first sweep that begins after the interval compares     |
 * | compares               | `comparing` | each Service's missing rows are written, all is reported    |
 * | came to its end        | `leaks`     | the next pass makes suspects of rows without a Service      |
 *
 * A row is freed at the third sight. By its first one every Service was compared with its rows, so none of them needs it.
 *
 * The step is kept with the progress of the sweep, at the end of a pass and behind it. A crash repeats what has been done since, or leaves the sweep one
 * that does not compare. A failure begins everything anew with the next sweep.
 */
import type { Pace } from "../../core/base/pause";
import type { Service } from "../../api/meta/kubernetes";
import { referenceTo } from "../../api/events/event-recorder";
import { needsNodePort, specOf } from "../../api/registry/services/predicates";
import { servicesDefinition } from "../../api/registry/services/definition";
import { type HeldNodePort, nodePortText } from "../../api/registry/services/held-by-service";
import { type ComparedService, FIRST_NODE_PORT, type NodePortFinding, type NodePortRow } from "../rpc/repaired-node-ports";
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

const RESTING = 0;
const COMPARING = 1;
const LEAKS = 2;
/** One row has both: when the last sweep that compares began (milliseconds since the epoch), times STEPS, and the step. */
export const NODE_PORTS_MARK = "nodePortsCheck";
export const STEPS = 4;

/** What the services store is asked to compare; `told` is to be called with its answer, null = it could not. */
export interface NodePortQuestion {
  seen: ComparedService[];
  told(found: NodePortFinding[][] | null): void;
}

export class NodePortCheck {
  readonly #sights: LeakSights;
  /** during a pass */
  #begunAt = 0;
  #step = RESTING;
  /** the step at which the pass began */
  #beganWith = RESTING;

  constructor(private readonly ports: Pick<RepairPorts, "clock" | "nodePortEvents" | "recorder" | "services" | "storage">) {
    this.#sights = new LeakSights(ports);
  }

  /** To be called when a pass begins. */
  load(): void {
    const mark = this.ports.storage.numberGet(NODE_PORTS_MARK);
    this.#step = this.#beganWith = mark % STEPS;
    this.#begunAt = (mark - this.#step) / STEPS;
  }

  /** To be called at the end of a pass, when the progress of the sweep is saved. */
  save(): void {
    const { storage } = this.ports;
    const mark = this.#begunAt * STEPS + this.#step;
    if (mark !== storage.numberGet(NODE_PORTS_MARK)) storage.numberSet(NODE_PORTS_MARK, mark);
  }

  /**
   * A sweep of the Services begins, or begins again. `fullSince`: the start of the full sweep around it, in milliseconds since the epoch; 0 = there is
   * no full sweep.
   */
  begin(fullSince: number): void {
    const nowMs = this.ports.clock.now();
    const sinceMs = nowMs - this.#begunAt;
    const isDue = this.#step === RESTING && (sinceMs >= DUE_MS || sinceMs < 0);
    // Each full sweep compares once, and reads Services again while it waits for IPAddresses and owners.
    if (this.#begunAt >= fullSince && !isDue) return;
    this.#begunAt = nowMs;
    this.#step = COMPARING;
  }

  get isComparing(): boolean {
    return this.#step === COMPARING;
  }

  /**
   * What is to be compared of the round's Services, for a call that goes to their store anyway; undefined = nothing. `told` reports what was found.
   */
  comparison(round: Pick<RepairRound, "compared" | "services">): NodePortQuestion | undefined {
    const { compared, services } = round;
    const holding = [...compared].flatMap((key) => services.get(key) ?? []).filter((service) => needsNodePort(specOf(service)));
    if (holding.length === 0) return undefined;
    return {
      seen: holding.map(({ metadata: { namespace = "", name = "", uid = "" } = {} }) => ({ namespace, name, uid })),
      told: (found) => {
        compared.clear();
        if (!found) this.#failed("the store has failed");
        else holding.forEach((service, i) => found[i]?.forEach((finding) => this.#report(service, finding)));
      },
    };
  }

  /** Has the rows of the round's Services put right where no other call has done so, and reports what was found. */
  async compare(round: Pick<RepairRound, "compared" | "services">): Promise<void> {
    const comparison = this.comparison(round);
    if (!comparison) return;
    try {
      comparison.told(await this.ports.services.makeNodePortsWhole(comparison.seen));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The sweep of the Services came to its end. */
  ended(): void {
    if (this.isComparing) this.#step = LEAKS;
  }

  /** A sweep that compares came to its end in an earlier pass, so rows that leaked are to be found. */
  get mayFindLeaks(): boolean {
    return this.#beganWith === LEAKS && this.#step === LEAKS;
  }

  /** A sweep that compares has come to its end in this pass, so the next one has more to do. */
  get isToGoOn(): boolean {
    return this.#step === LEAKS && !this.mayFindLeaks;
  }

  /** After the end of a sweep that compares: finds the rows of Services that are gone, or hold the port no longer. */
  async findLeaks(pace: Pace): Promise<void> {
    if (this.#step !== LEAKS) return;
    const { recorder, services } = this.ports;
    try {
      for (let after: HeldNodePort | undefined = FIRST_NODE_PORT; after;) {
        const { leaked, next } = await services.leakedNodePorts(after, ROWS);
        for (const row of leaked) {
          if (this.#sights.begin(row)) recorder.log("warn", "a node port may have leaked", shown(row));
        }
        after = next;
        if (after) await pace.rest();
      }
      this.#step = RESTING;
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

  #report(service: Service, finding: NodePortFinding): void {
    const { nodePortEvents, storage } = this.ports;
    storage.count(nodePortType(finding.kind), 1);
    nodePortEvents.report({ ...nodePortEvent(finding), type: "Warning", regarding: referenceTo(servicesDefinition, service) });
  }

  #failed(error: unknown): void {
    const { recorder, storage } = this.ports;
    storage.count(nodePortType(""), 1);
    recorder.log("warn", "node ports could not be compared with their rows", { error: String(error) });
    this.#step = RESTING;
    this.#begunAt = 0;
  }
}

function shown(row: NodePortRow): Record<string, string> {
  return { nodePort: nodePortText(row), service: row.key };
}
