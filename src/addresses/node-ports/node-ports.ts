/**
 * The node ports of a cluster. They belong to the services store alone, so there is no owner to ask. Numbers are chosen in the turn that commits the
 * Service, and their rows are written in its transaction.
 *
 * Invariants: a row exists exactly as long as its Service holds the port, because both change in one transaction. The primary key of the rows, not
 * the look before it, keeps two Services from one port. A crash leaves nothing to repair; damage does (node-port-repair.ts).
 */
import type { Random } from "../../core/base/ports";
import type { Service } from "../../api/meta/kubernetes";
import type { HeldNodePort } from "../../api/registry/services/held-by-service";
import { isInNodePortRange, NODE_PORT_MAX, NODE_PORT_MIN } from "../ranges/node-port-range";
import { heldNodePorts, type NodePortPlan, type NodePortTake } from "./node-port-plan";
import type { NodePortStorage } from "./node-port-storage";

export type NodePortChoice =
  /** one number for each take of the plan, in its order */
  { ok: true; numbers: number[] } | { ok: false; take: NodePortTake; reason: NodePortRefusal };

/** `taken` and `outsideRange` for a named number, `full` for one that the server chooses */
export type NodePortRefusal = "taken" | "outsideRange" | "full";

/** The numbers of the range. */
const SIZE = NODE_PORT_MAX - NODE_PORT_MIN + 1;
/** Ports below this one, 30086, are chosen only when all others are taken, so that clients who name one find it free (KEP-3668). */
const DYNAMIC_MIN = NODE_PORT_MIN + nodePortOffset(SIZE);
/** Upstream's dry run shows numbers above this one (portallocator/operation.go). */
const DRY_RUN_BASE = 32_768;
const PROTOCOLS = ["TCP", "UDP", "SCTP"] as const;
/** Random looks before all rows are read: as long as half of the band is free, one in 256 choices reads them. */
const LOOKS = 8;

/** Size of the static band of a range of `size` ports: clamp(size / 32, 16, 128), and 0 for 16 ports and less (upstream calculateRangeOffset). */
export function nodePortOffset(size: number): number {
  return size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);
}

/** By protocol, the numbers held: read once in a choice, however many ports it is for. */
type KnownRows = Map<string, ReadonlySet<number>>;

export class NodePorts {
  constructor(
    private readonly storage: NodePortStorage,
    private readonly random: Random,
  ) {}

  /** The numbers of a plan as they can be taken now; writes nothing. Named ones are looked at first, so that none is given to another take. */
  choose({ take, named }: NodePortPlan): NodePortChoice {
    for (const wanted of take) {
      const reason = wanted.port === 0 ? undefined : this.#refusal(wanted);
      if (reason) return { ok: false, take: wanted, reason };
    }
    const used = new Set(named);
    const rows: KnownRows = new Map();
    const numbers: number[] = [];
    for (const wanted of take) {
      const number = wanted.port || this.#pick(wanted.protocols, used, rows);
      if (number === 0) return { ok: false, take: wanted, reason: "full" };
      used.add(number);
      numbers.push(number);
    }
    return { ok: true, numbers };
  }

  /**
   * What a dry run shows. A chosen number is one more than the highest that this write takes, or 32769, which nobody can hold (upstream
   * portallocator, PortAllocationOperation with dryRun).
   */
  chooseForDryRun({ take }: NodePortPlan): NodePortChoice {
    let highest = 0;
    const numbers: number[] = [];
    for (const wanted of take) {
      const reason = wanted.port === 0 ? undefined : this.#refusal(wanted);
      if (reason) return { ok: false, take: wanted, reason };
      const number = wanted.port || (highest || DRY_RUN_BASE) + 1;
      highest = Math.max(highest, number);
      numbers.push(number);
    }
    return { ok: true, numbers };
  }

  /** Inside the transaction of the change of the Service at `key`: rows go and come with what it holds. */
  committed(key: string, before: Service | undefined, after: Service | undefined): void {
    const had = before ? heldNodePorts(before) : [];
    const has = after ? heldNodePorts(after) : [];
    for (const nodePort of had) if (!includes(has, nodePort)) this.storage.nodePortDelete(nodePort, key);
    for (const nodePort of has) if (!includes(had, nodePort)) this.storage.nodePortAdd(nodePort, key);
  }

  /** The numbers that any Service holds with any protocol, and those that none holds. */
  usage(): { allocated: number; available: number } {
    const held = new Set(PROTOCOLS.flatMap((protocol) => this.storage.nodePortsOf(protocol)).filter(isInNodePortRange));
    return { allocated: held.size, available: SIZE - held.size };
  }

  #refusal({ port, protocols, clashes }: NodePortTake): NodePortRefusal | undefined {
    if (!isInNodePortRange(port)) return "outsideRange";
    return clashes || !this.#isFree(port, protocols) ? "taken" : undefined;
  }

  /** Uniform among the free numbers of the dynamic band, then of the static one; 0 = none is left. */
  #pick(protocols: readonly string[], used: ReadonlySet<number>, rows: KnownRows): number {
    for (let look = 0; look < LOOKS; look++) {
      const port = DYNAMIC_MIN + this.random.below(NODE_PORT_MAX - DYNAMIC_MIN + 1);
      if (!used.has(port) && this.#isFree(port, protocols)) return port;
    }
    const taken = [used, ...protocols.map((protocol) => this.#rowsOf(protocol, rows))];
    return this.#pickBetween(DYNAMIC_MIN, NODE_PORT_MAX, taken) || this.#pickBetween(NODE_PORT_MIN, DYNAMIC_MIN - 1, taken);
  }

  #rowsOf(protocol: string, rows: KnownRows): ReadonlySet<number> {
    const known = rows.get(protocol) ?? new Set(this.storage.nodePortsOf(protocol));
    rows.set(protocol, known);
    return known;
  }

  #pickBetween(first: number, last: number, taken: readonly ReadonlySet<number>[]): number {
    const free: number[] = [];
    for (let port = first; port <= last; port++) if (!taken.some((ports) => ports.has(port))) free.push(port);
    return free.length === 0 ? 0 : (free[this.random.below(free.length)] ?? 0);
  }

  #isFree(port: number, protocols: readonly string[]): boolean {
    return protocols.every((protocol) => this.storage.nodePortHolder({ protocol, port }) === undefined);
  }
}

function includes(list: readonly HeldNodePort[], { protocol, port }: HeldNodePort): boolean {
  return list.some((other) => other.protocol === protocol && other.port === port);
}
