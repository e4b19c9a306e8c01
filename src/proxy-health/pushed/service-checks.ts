/**
 * The Services that have a healthCheckNodePort. A check is told once the slices of its Service are read: before, its counts would be too low.
 */
import type { KubeObject, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { listOf, specOf } from "../../api/registry/services/predicates";
import { proxiedService } from "../../api/registry/services/proxied-service";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { FAMILIES, familyOfText } from "../../core/net/family";
import type { ServiceCheck } from "./shard-change";

const KIND = "checks";

interface KeptCheck {
  readonly check: ServiceCheck;
  readonly areSlicesRead: boolean;
}

/** The check of a Service, by the rules of kube-proxy; undefined = it has none. */
function serviceCheck(service: Service): ServiceCheck | undefined {
  const proxied = FAMILIES.flatMap((family) => proxiedService(service, family) ?? []);
  const port = proxied.find(({ healthCheckNodePort }) => healthCheckNodePort !== undefined)?.healthCheckNodePort;
  if (port === undefined) return undefined;
  const order = listOf(specOf(service).clusterIPs).map(familyOfText);
  const families = proxied.map(({ family }) => family).sort((a, b) => order.indexOf(a) - order.indexOf(b));
  return { namespace: service.metadata?.namespace ?? "", name: service.metadata?.name ?? "", port, families };
}

/** Whether a change of a Service changes its check. */
export function changesCheck({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const text = (service: KubeObject | undefined): string => (service ? (JSON.stringify(serviceCheck(service as Service)) ?? "") : "");
  return text(before) !== text(after);
}

export interface CheckNews {
  /** The list of checks that are told is another. */
  toldChanged(): void;
  /** The Service has no check any more. */
  ended(service: string): void;
}

export class ServiceChecks {
  readonly #checks = new Map<string, KeptCheck>();

  constructor(
    private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">,
    private readonly news: CheckNews,
  ) {}

  load(): void {
    for (const [service, kept] of this.rows.saved<KeptCheck>(KIND)) this.#checks.set(service, kept);
  }

  get isEmpty(): boolean {
    return this.#checks.size === 0;
  }

  has(service: string): boolean {
    return this.#checks.has(service);
  }

  isTold(service: string): boolean {
    return this.#checks.get(service)?.areSlicesRead ?? false;
  }

  get told(): ServiceCheck[] {
    return [...this.#checks.values()].flatMap(({ check, areSlicesRead }) => (areSlicesRead ? [check] : []));
  }

  /** Services whose slices are still to be read. */
  get unread(): string[] {
    return [...this.#checks].flatMap(([service, { areSlicesRead }]) => (areSlicesRead ? [] : [service]));
  }

  slicesRead(service: string): void {
    const kept = this.#checks.get(service);
    if (!kept) return;
    this.#set(service, { ...kept, areSlicesRead: true });
    this.news.toldChanged();
  }

  get reader(): FeedReader {
    return {
      keys: () => this.#checks.keys(),
      put: (object) => {
        const service = keyOf(object);
        const check = serviceCheck(object as Service);
        if (!check) return this.#end(service);
        const before = this.#checks.get(service);
        if (JSON.stringify(before?.check) === JSON.stringify(check)) return;
        const areSlicesRead = before?.areSlicesRead ?? false;
        this.#set(service, { check, areSlicesRead });
        if (areSlicesRead) this.news.toldChanged();
      },
      gone: (service) => this.#end(service),
    };
  }

  #set(service: string, kept: KeptCheck): void {
    this.rows.put(KIND, service, kept, !this.#checks.has(service));
    this.#checks.set(service, kept);
  }

  #end(service: string): void {
    if (!this.#checks.has(service)) return;
    if (this.isTold(service)) this.news.toldChanged();
    this.#checks.delete(service);
    this.rows.delete(KIND, service);
    this.news.ended(service);
  }
}
