/**
 * Tells of Services of type LoadBalancer that nobody serves. This server gives addresses only to those of its pools, which have Events of their own. Who
 * expects one otherwise sees `<pending>` and nothing else. Repair reads every Service anyway, so it looks at the type of each.
 *
 * | Service in a round                                | row        | then                                                         |
 * |---------------------------------------------------|------------|--------------------------------------------------------------|
 * | of another type, served, in deletion, or gone     | goes       | –                                                            |
 * | unserved, first seen                              | `since`    | read again when SERVED_WITHIN_MS are over                    |
 * | unserved for so long                              | `told`     | one Event                                                    |
 * | unserved, told                                    | stays      | nothing, until somebody serves it                            |
 *
 * The row is what remembers: Events end after an hour, and the Service is not ours to write. The first sight counts, not the age, since a Service
 * may become one of this type later. A controller of a cloud that has taken the Service on reports by itself; its finalizer shows that.
 *
 * At a crash: the row says `told` after the Event is written, so the Event may be told again. Its name is the same then, and its series counts.
 * A row of a Service whose end nobody told, because the history was lost, goes with the full sweep that makes up for it.
 */
import { referenceTo } from "../../api/events/event-recorder";
import type { Service } from "../../api/meta/kubernetes";
import { POOL_CLASS } from "../../core/config/variables";
import { objectKey } from "../../api/store/state/keys";
import { servicesDefinition } from "../../api/registry/services/definition";
import { specOf } from "../../api/registry/services/predicates";
import type { RepairPorts } from "./repair-ports";
import type { RepairRound } from "./round";

/** A controller of load balancers has this time: clouds take two or three minutes to make one. */
export const SERVED_WITHIN_MS = 5 * 60_000;
/** Services read again in one round. */
const READ_AGAIN_MAX = 100;
/** Kind of the rows, by `namespace/name` of the Service. */
const KIND = "unserved";
/** Controllers of clouds put it on a Service before they make its load balancer (k8s.io/cloud-provider). */
const FINALIZER_CLEANUP = "service.kubernetes.io/load-balancer-cleanup";

interface Unserved {
  uid: string;
  /** when it was first seen (milliseconds since the epoch) */
  since: number;
  told: boolean;
}

export class UnservedLoadBalancers {
  /** by `namespace/name`; undefined = the rows are not loaded */
  #known: Map<string, Unserved> | undefined;
  /** Services that a full sweep has to find, or their rows go */
  #sought: ReadonlySet<string> = new Set();
  /** Services that this round reads because of their rows */
  #read: string[] = [];

  constructor(private readonly ports: Pick<RepairPorts, "clock" | "defaultLoadBalancerClass" | "loadBalancerEvents" | "rows">) {}

  /** A full sweep begins: the ends of Services may not have been told. */
  lookAtAll(): void {
    this.#sought = new Set(this.#rows.keys());
  }

  /** Has the round read the Services whose time is over. To be called before the round reads what it wants. */
  want({ services, wanted }: Pick<RepairRound, "services" | "wanted">): void {
    const isWanted = ([key, one]: [string, Unserved]): boolean => this.#sought.has(key) || this.#isDue(one);
    this.#read = [...this.#rows]
      .filter(isWanted)
      .slice(0, READ_AGAIN_MAX)
      .map(([key]) => key);
    for (const key of this.#read) if (!services.has(key)) wanted.set(key, objectKey(key));
  }

  /** Notes which of the round's Services are served, and tells of those that have not been for long. Never rejects. */
  async look({ services, gone }: Pick<RepairRound, "services" | "gone">): Promise<void> {
    // What cannot be read is noted anew when it can be.
    for (const key of [...gone, ...this.#read]) if (!services.has(key)) this.#forget(key);
    this.#sought = new Set([...this.#sought].filter((key) => !this.#read.includes(key)));
    this.#read = [];
    const told: [key: string, Unserved][] = [];
    for (const [key, service] of services) {
      const uid = service.metadata?.uid ?? "";
      const known = this.#rows.get(key);
      if (!isUnserved(service, this.ports.defaultLoadBalancerClass)) this.#forget(key);
      else if (known?.uid !== uid) this.#keep(key, { uid, since: this.ports.clock.now(), told: false });
      else if (this.#isDue(known)) {
        this.#tell(service);
        told.push([key, known]);
      }
    }
    if (told.length === 0) return;
    await this.ports.loadBalancerEvents.flush();
    for (const [key, one] of told) this.#keep(key, { ...one, told: true });
  }

  /** When the next Service is to be told of, unless somebody serves it (milliseconds since the epoch); undefined = none is. */
  get nextAt(): number | undefined {
    const times = [...this.#rows.values()].flatMap(({ since, told }) => (told ? [] : [since + SERVED_WITHIN_MS]));
    return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b));
  }

  get #rows(): Map<string, Unserved> {
    return (this.#known ??= new Map([...this.ports.rows.rows(KIND)].map(([key, text]) => [key, JSON.parse(text) as Unserved])));
  }

  #isDue({ since, told }: Unserved): boolean {
    const sinceMs = this.ports.clock.now() - since;
    // A clock that was set back must not silence the Event.
    return !told && (sinceMs >= SERVED_WITHIN_MS || sinceMs < 0);
  }

  #keep(key: string, one: Unserved): void {
    this.ports.rows.rowPut(KIND, key, JSON.stringify(one));
    this.#rows.set(key, one);
  }

  #forget(key: string): void {
    if (!this.#rows.has(key)) return;
    this.ports.rows.rowDelete(KIND, key);
    this.#rows.delete(key);
  }

  /** A Warning: what the user asked for is not there, and only the user can change that. */
  #tell(service: Service): void {
    const { loadBalancerClass } = specOf(service);
    const whose = loadBalancerClass === undefined ? "Services without a loadBalancerClass" : `loadBalancerClass ${loadBalancerClass}`;
    this.ports.loadBalancerEvents.report({
      regarding: referenceTo(servicesDefinition, service),
      type: "Warning",
      reason: "LoadBalancerNotServed",
      action: "WaitForLoadBalancer",
      note:
        `no load balancer for ${SERVED_WITHIN_MS / 60_000} minutes: this server has no controller that makes one; ` +
        `run one that serves ${whose}, or reach the Service another way (docs/load-balancer-services.md)`,
    });
  }
}

function isUnserved({ metadata, spec, status }: Service, defaultClass = ""): boolean {
  if ((spec?.loadBalancerClass ?? defaultClass) === POOL_CLASS) return false;
  if (spec?.type !== "LoadBalancer" || metadata?.deletionTimestamp || metadata?.finalizers?.includes(FINALIZER_CLEANUP)) return false;
  return (status?.loadBalancer?.ingress ?? []).length === 0;
}
