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
import { isInNodePortRange, isPortIn, NODE_PORT_MAX, NODE_PORT_MIN, type NodePortRange } from "../../core/net/node-port-range";
import type { NodePortPlaces } from "../topology/tenant-ports";
import { heldNodePorts, type NodePortPlan, type NodePortTake } from "./node-port-plan";
import type { NodePortStorage } from "./node-port-storage";

export type NodePortChoice =
  /** one number for each take of the plan, in its order */
  { ok: true; numbers: number[] } | ({ ok: false; take: NodePortTake } & NodePortRefusal);

/** `taken`, `outsideRange` and `kept` (for other namespaces) for a named number, `full` for one that the server chooses */
export type NodePortRefusal = { reason: "taken" | "outsideRange" } | { reason: "kept" | "full"; text: string };

const FULL = "range is full";

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

/** What a choice knows so far. */
interface Choosing {
  readonly used: ReadonlySet<number>;
  readonly rows: KnownRows;
  readonly places: NodePortPlaces | undefined;
}

export class NodePorts {
  constructor(
    private readonly storage: NodePortStorage,
    private readonly random: Random,
  ) {}

  /**
   * The numbers of a plan as they can be taken now; writes nothing. Named ones are looked at first, so that none is given to another take.
   * `places`: of the namespace; undefined = no ports are kept for anybody.
   */
  choose({ take, named }: NodePortPlan, places?: NodePortPlaces): NodePortChoice {
    for (const wanted of take) {
      const refusal = wanted.port === 0 ? undefined : this.#refusal(wanted, places);
      if (refusal) return { ok: false, take: wanted, ...refusal };
    }
    const used = new Set(named);
    const rows: KnownRows = new Map();
    const numbers: number[] = [];
    for (const wanted of take) {
      const number = wanted.port || this.#pick(wanted.protocols, { used, rows, places });
      if (number === 0) return { ok: false, take: wanted, reason: "full", text: places?.fullText ?? FULL };
      used.add(number);
      numbers.push(number);
    }
    return { ok: true, numbers };
  }

  /**
   * What a dry run shows. A chosen number is one more than the highest that this write takes, or 32769, which nobody can hold (upstream
   * portallocator, PortAllocationOperation with dryRun).
   */
  chooseForDryRun({ take }: NodePortPlan, places?: NodePortPlaces): NodePortChoice {
    let highest = 0;
    const numbers: number[] = [];
    for (const wanted of take) {
      const refusal = wanted.port === 0 ? undefined : this.#refusal(wanted, places);
      if (refusal) return { ok: false, take: wanted, ...refusal };
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

  #refusal({ port, protocols, clashes }: NodePortTake, places: NodePortPlaces | undefined): NodePortRefusal | undefined {
    if (!isInNodePortRange(port)) return { reason: "outsideRange" };
    const text = places?.refusal(port);
    if (text !== undefined) return { reason: "kept", text };
    return clashes || !this.#isFree(port, protocols) ? { reason: "taken" } : undefined;
  }

  /** Of the places in their order, uniform among the free numbers of the dynamic band, then of the static one; 0 = none is left. */
  #pick(protocols: readonly string[], { used, rows, places }: Choosing): number {
    const kept = places?.kept ?? [];
    for (const band of bandsOf(places?.own ?? [])) {
      const number = this.#pickBetween(band, (port) => this.#isLeft(port, protocols, { used, rows, places }));
      if (number !== 0) return number;
    }
    if (places && !places.isOpen) return 0;
    const isKept = (port: number): boolean => kept.some((range) => isPortIn(range, port));
    for (let look = 0; look < LOOKS; look++) {
      const port = DYNAMIC_MIN + this.random.below(NODE_PORT_MAX - DYNAMIC_MIN + 1);
      if (!used.has(port) && !isKept(port) && this.#isFree(port, protocols)) return port;
    }
    const isLeft = (port: number): boolean => !isKept(port) && this.#isLeft(port, protocols, { used, rows, places });
    const [dynamic, inBand] = [
      { first: DYNAMIC_MIN, last: NODE_PORT_MAX },
      { first: NODE_PORT_MIN, last: DYNAMIC_MIN - 1 },
    ];
    return this.#pickBetween(dynamic, isLeft) || this.#pickBetween(inBand, isLeft);
  }

  #isLeft(port: number, protocols: readonly string[], { used, rows }: Choosing): boolean {
    return !used.has(port) && !protocols.some((protocol) => this.#rowsOf(protocol, rows).has(port));
  }

  #rowsOf(protocol: string, rows: KnownRows): ReadonlySet<number> {
    const known = rows.get(protocol) ?? new Set(this.storage.nodePortsOf(protocol));
    rows.set(protocol, known);
    return known;
  }

  #pickBetween({ first, last }: NodePortRange, isLeft: (port: number) => boolean): number {
    const free: number[] = [];
    for (let port = first; port <= last; port++) if (isLeft(port)) free.push(port);
    return free.length === 0 ? 0 : (free[this.random.below(free.length)] ?? 0);
  }

  #isFree(port: number, protocols: readonly string[]): boolean {
    return protocols.every((protocol) => this.storage.nodePortHolder({ protocol, port }) === undefined);
  }
}

/** The dynamic bands of all ranges, then their static ones. A range that is kept has a static band by its size, as the whole one has. */
function bandsOf(ranges: readonly NodePortRange[]): NodePortRange[] {
  const split = ranges.map(({ first, last }) => ({ first, last, dynamic: first + nodePortOffset(last - first + 1) }));
  return [
    ...split.map(({ last, dynamic }) => ({ first: dynamic, last })),
    ...split.flatMap(({ first, dynamic }) => (dynamic > first ? [{ first, last: dynamic - 1 }] : [])),
  ];
}

function includes(list: readonly HeldNodePort[], { protocol, port }: HeldNodePort): boolean {
  return list.some((other) => other.protocol === protocol && other.port === port);
}
