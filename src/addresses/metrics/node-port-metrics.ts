/**
 * Counts allocations of node ports, and shows them with upstream's names and labels (pkg/registry/core/service/portallocator/metrics.go).
 *
 * Counters outlive the object that counts, by the rules of allocation-metrics.ts: only what is written is shown.
 */
import type { NodePortAllocations } from "../../api/rpc/store";
import type { Band } from "../../core/net/band";
import type { MetricFamily } from "../../core/telemetry/metrics";
import type { KeptCounters } from "./kept-counters";

const PREFIX = "kube_apiserver_nodeport_allocator_";
const SCOPES = ["dynamic", "static"] as const;

export type NodePortCounts = Pick<NodePortAllocations, "total" | "errors">;

/** Numbers by name, in the database of the rows; 0 when unset. */
export interface NumberStorage {
  numberGet(name: string): number;
  numberSet(name: string, value: number): void;
}

export class NodePortMetrics implements KeptCounters {
  readonly #counts: NodePortCounts;
  /** the names of counters that are not kept as they are */
  readonly #unsaved = new Set<string>();
  /** of the last `save`, whose transaction may still be lost */
  #saved: string[] = [];

  /** `refused` is called before each count of a failure, which no commit follows. */
  constructor(
    private readonly storage: NumberStorage,
    private readonly refused: () => void = () => undefined,
  ) {
    this.#counts = this.#load();
  }

  /** `static`: the client named the number. */
  allocated(scope: Band): void {
    this.#add("total", scope);
  }

  failed(scope: Band): void {
    this.refused();
    this.#add("errors", scope);
  }

  /** The counters as they are kept: what was counted since the last write is left out. */
  keptValues(): NodePortCounts {
    return this.#load();
  }

  get unsaved(): boolean {
    return this.#unsaved.size > 0;
  }

  save(): void {
    this.#saved = [...this.#unsaved];
    this.#unsaved.clear();
    for (const counter of ["total", "errors"] as const) {
      for (const scope of SCOPES) {
        const name = nameOf(counter, scope);
        if (this.#saved.includes(name)) this.storage.numberSet(name, this.#counts[counter][scope]);
      }
    }
  }

  lost(): void {
    for (const name of this.#saved) this.#unsaved.add(name);
    this.#saved = [];
  }

  #add(counter: keyof NodePortCounts, scope: Band): void {
    this.#unsaved.add(nameOf(counter, scope));
    this.#counts[counter][scope]++;
  }

  #load(): NodePortCounts {
    const load = (counter: keyof NodePortCounts): Record<Band, number> => ({
      dynamic: this.storage.numberGet(nameOf(counter, "dynamic")),
      static: this.storage.numberGet(nameOf(counter, "static")),
    });
    return { total: load("total"), errors: load("errors") };
  }
}

/** All families; of a counter only the scopes that have occurred. Without a reading (undefined = no answer) no samples. */
export function nodePortFamilies(reading: NodePortAllocations | undefined): MetricFamily[] {
  const gauge = (name: string, help: string, value: number | undefined): MetricFamily => ({
    name: PREFIX + name,
    type: "gauge",
    help: `[ALPHA] ${help}`,
    samples: value === undefined ? [] : [{ labels: {}, value }],
  });
  const counter = (name: string, help: string, values: Record<Band, number> | undefined): MetricFamily => ({
    name: PREFIX + name,
    type: "counter",
    help: `[ALPHA] ${help}`,
    samples: values ? SCOPES.filter((scope) => values[scope] > 0).map((scope) => ({ labels: { scope }, value: values[scope] })) : [],
  });
  return [
    gauge("allocated_ports", "Gauge measuring the number of allocated NodePorts for Services", reading?.allocated),
    gauge("available_ports", "Gauge measuring the number of available NodePorts for Services", reading?.available),
    counter("allocation_total", "Number of NodePort allocations", reading?.total),
    counter("allocation_errors_total", "Number of errors trying to allocate NodePort", reading?.errors),
  ];
}

function nameOf(counter: keyof NodePortCounts, scope: Band): string {
  return `nodePorts.${counter}.${scope}`;
}
