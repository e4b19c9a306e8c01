/**
 * The services store's side of the repair of node ports. Rows change with their Service in one transaction, so only damage parts them. An older
 * version stored a Service with a number of another one; rows or objects were lost or written by hand; or there is a bug.
 *
 * Whatever is proposed is looked at in the turn that acts. A row is written or freed only against the Services of that turn, so a port that a
 * Service has just got is never freed.
 */
import { isRecord } from "../../core/base/record";
import type { Service } from "../../api/meta/kubernetes";
import type { HeldNodePort } from "../../api/registry/services/held-by-service";
import { storageKey } from "../../api/store/state/keys";
import type {
  ComparedService,
  LeakedNodePort,
  LeakedPage,
  LeakResult,
  ListedNodePorts,
  NodePortFinding,
  NodePortRow,
  RepairedNodePorts,
} from "../rpc/repaired-node-ports";
import { FIRST_NODE_PORT } from "../rpc/repaired-node-ports";
import { heldNodePorts } from "./node-port-plan";
import { judgeNodePorts, type NodePortVerdict } from "./node-port-rules";
import type { NodePortStorage } from "./node-port-storage";

export interface NodePortRepairPorts {
  rows: NodePortStorage;
  /** the stored Service's JSON text */
  stored(key: string): string | undefined;
  /** runs the work in a turn of the store */
  internally<T>(work: () => T): Promise<T>;
}

/** The part of a stored Service that is judged. */
interface NodePortHolder {
  uid: string;
  held: readonly HeldNodePort[];
}

/** The Service at a key, which holds nothing when it is gone; undefined = what is stored there cannot be read. */
type HolderAt = (key: string) => NodePortHolder | undefined;

const NOBODY: NodePortHolder = Object.freeze({ uid: "", held: [] });
const NOTHING: NodePortVerdict = Object.freeze({ findings: [], take: [] });
/** More than each number of the range has protocols. */
const ROWS_MAX = 10_000;

export class NodePortRepair implements RepairedNodePorts, ListedNodePorts {
  constructor(private readonly ports: NodePortRepairPorts) {}

  async makeNodePortsWhole(services: ComparedService[]): Promise<NodePortFinding[][]> {
    const verdicts = services.map((service) => this.#judge(service, this.#reading()));
    if (verdicts.every(({ take }) => take.length === 0)) return verdicts.map(({ findings }) => findings);
    // One after the other: of two Services that lack the same row the first gets it.
    return this.ports.internally(() => services.map((service) => this.#repair(service)));
  }

  leakedNodePorts(after: HeldNodePort, limit: number): Promise<LeakedPage> {
    const rows = this.ports.rows.nodePortsAfter(after, limit);
    const holderAt = this.#reading();
    const last = rows.length < limit ? undefined : rows.at(-1);
    const next = last && { protocol: last.protocol, port: last.port };
    return Promise.resolve({ leaked: rows.filter((row) => isLost(row, holderAt)), next });
  }

  async settleNodePorts(leaks: LeakedNodePort[]): Promise<LeakResult[]> {
    const holderAt = this.#reading();
    const leaked = leaks.map((row) => this.#isLeaked(row, holderAt));
    if (!leaks.some(({ isLastSight }, i) => isLastSight && leaked[i])) return leaked.map((is) => (is ? "leaked" : "fine"));
    return this.ports.internally(() => leaks.map((row) => this.#settle(row)));
  }

  nodePortRows(): Promise<NodePortRow[]> {
    return Promise.resolve(this.ports.rows.nodePortsAfter(FIRST_NODE_PORT, ROWS_MAX));
  }

  #repair(service: ComparedService): NodePortFinding[] {
    const { rows } = this.ports;
    const { findings, take } = this.#judge(service, this.#reading());
    for (const nodePort of take) {
      const former = rows.nodePortHolder(nodePort);
      if (former !== undefined) rows.nodePortDelete(nodePort, former);
      rows.nodePortAdd(nodePort, storageKey(service));
    }
    return findings;
  }

  #settle(row: LeakedNodePort): LeakResult {
    if (!this.#isLeaked(row, this.#reading())) return "fine";
    if (!row.isLastSight) return "leaked";
    this.ports.rows.nodePortDelete(row, row.key);
    return "freed";
  }

  #isLeaked(row: NodePortRow, holderAt: HolderAt): boolean {
    return this.ports.rows.nodePortHolder(row) === row.key && isLost(row, holderAt);
  }

  #judge(service: ComparedService, holderAt: HolderAt): NodePortVerdict {
    const key = storageKey(service);
    const found = holderAt(key);
    if (found?.uid !== service.uid) return NOTHING;
    return judgeNodePorts(found.held, (nodePort) => {
      const holder = this.ports.rows.nodePortHolder(nodePort);
      if (holder === undefined) return "none";
      if (holder === key) return "own";
      if (!holderAt(holder)) return "unreadable";
      return isLost({ ...nodePort, key: holder }, holderAt) ? "lost" : "other";
    });
  }

  /** Valid until the next await: each Service is read once. */
  #reading(): HolderAt {
    const known = new Map<string, NodePortHolder | undefined>();
    return (key) => {
      if (!known.has(key)) known.set(key, holderIn(this.ports.stored(key)));
      return known.get(key);
    };
  }
}

/** Whether the Service that the row names is gone or does not hold the port. Nothing follows from one that cannot be read. */
function isLost({ protocol, port, key }: NodePortRow, holderAt: HolderAt): boolean {
  const found = holderAt(key);
  return found !== undefined && !found.held.some((other) => other.protocol === protocol && other.port === port);
}

function holderIn(text: string | undefined): NodePortHolder | undefined {
  if (text === undefined) return NOBODY;
  const service = readService(text);
  return service && { uid: service.metadata?.uid ?? "", held: heldNodePorts(service) };
}

/** Undefined: the text is damaged where its node ports are. */
function readService(text: string): Service | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !isRecord(value["metadata"])) return undefined;
  const { spec = {} } = value;
  if (!isRecord(spec) || !isNumber(spec["healthCheckNodePort"])) return undefined;
  const ports = spec["ports"] ?? [];
  const isReadable =
    Array.isArray(ports) && ports.every((port) => isRecord(port) && isNumber(port["nodePort"]) && isText(port["protocol"]));
  return isReadable ? (value as Service) : undefined;
}

function isNumber(value: unknown): boolean {
  return Number.isInteger(value ?? 0);
}

function isText(value: unknown): boolean {
  return typeof (value ?? "") === "string";
}
