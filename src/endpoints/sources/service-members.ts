/**
 * The Services, Pods and Nodes of a cluster, as far as endpoints are made of them: which Pods each Service has, and which Services need a look after
 * a change. Objects come and go in any order, as feeds tell of them.
 *
 * A change costs what it touches: Services and Pods find each other by the rarest labels of a selector. Upstream compares a Pod with every Service of
 * its namespace. What is told again unchanged asks for no look. A Node that comes, goes or changes its zone asks for a look at the Services that
 * have Pods on it; upstream waits for another reason.
 */
import { semanticEqual } from "../../api/meta/equality";
import type { Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { parseTime } from "../../api/meta/time";
import { specOf } from "../../api/registry/services/predicates";
import { FactsInRows, type FactRowsByKey } from "../../controllers/followed/facts-in-rows";
import { affectedServices } from "./affected-services";
import type { NodeZone, NodeLookup } from "./node-zone";
import type { PodFacts } from "./pod-facts";
import { hasPods, selects } from "./service-pods";
import { ServicesByLabel } from "./services-by-label";

/**
 * A Service that needs a look, and when the change happened: what consumers measure their delay from (upstream util/trigger_time_tracker.go).
 *
 *   the Service is new   when it was created, whatever its Pods say
 *   otherwise            the earliest of the times at which its changed Pods turned ready or unready
 *
 * A deleted Pod, a changed Node and a changed spec have no time.
 */
export interface DueService {
  readonly key: string;
  readonly isNew: boolean;
  /** milliseconds since the epoch; undefined = nothing that has a time changed */
  readonly changedAt: number | undefined;
}

/** Two reasons to look at one Service. */
export function mergeDue(a: DueService, b: DueService): DueService {
  if (a.isNew !== b.isNew) return a.isNew ? a : b;
  if (a.isNew) return b;
  const changedAt = Math.min(a.changedAt ?? Infinity, b.changedAt ?? Infinity);
  return { ...a, changedAt: changedAt === Infinity ? undefined : changedAt };
}

export class ServiceMembers {
  readonly #services: FactsInRows<Service>;
  readonly #bySelector = new ServicesByLabel();
  readonly #pods = new Map<string, PodFacts>();
  /** keys of Pods by each label */
  readonly #byLabel = new SetsByKey();
  /** keys of Pods by node */
  readonly #byNode = new SetsByKey();
  readonly #nodes = new Map<string, NodeZone>();
  readonly #due = new Map<string, DueService>();

  /** `rows`: where the facts of Services stand; memory has their keys alone, because a cluster has many. To be made before the rows are loaded. */
  constructor(rows: FactRowsByKey) {
    this.#services = new FactsInRows(rows, "services", {
      clear: () => this.#bySelector.clear(),
      entered: (number, _, service) => this.#bySelector.add(number, selectorOf(service)),
      left: (number) => this.#bySelector.delete(number),
    });
  }

  /** The Nodes that there are. */
  get nodes(): NodeLookup {
    return this.#nodes;
  }

  /** They may come and go while they are read. */
  get serviceKeys(): Iterable<string> {
    return this.#services.keys;
  }

  hasService(key: string): boolean {
    return this.#services.has(key);
  }

  get podKeys(): Iterable<string> {
    return this.#pods.keys();
  }

  hasPod(key: string): boolean {
    return this.#pods.has(key);
  }

  get nodeNames(): Iterable<string> {
    return this.#nodes.keys();
  }

  /** undefined = there is none. */
  service(key: string): Service | undefined {
    return this.#services.get(key);
  }

  /** The Pods that the Service's selector names. They are looked for among those of its rarest label. */
  podsOf(service: Service): PodFacts[] {
    const labels = selectorOf(service);
    const named = labels.map((label) => this.#byLabel.get(label));
    const [rarest = NOTHING] = named.sort((a, b) => a.size - b.size);
    const pods = this.#podsAt(rarest);
    return labels.length === 1 ? pods : pods.filter((pod) => selects(service, pod));
  }

  /** The Services that changed, or whose Pods or Nodes did, since the last call; also those that are gone. */
  takeDue(): DueService[] {
    const due = [...this.#due.values()];
    this.#due.clear();
    return due;
  }

  /** The functions that put and remove answer whether anything changed. */
  putService(service: Service): boolean {
    const key = keyOf(service);
    const before = this.#services.get(key);
    if (semanticEqual(before, service)) return false;
    this.#services.put(key, service);
    const isNew = !before || before.metadata?.uid !== service.metadata?.uid;
    this.#noteDue({ key, isNew, changedAt: isNew ? parseTime(service.metadata?.creationTimestamp) : undefined });
    return true;
  }

  removeService(key: string): boolean {
    if (!this.#services.delete(key)) return false;
    this.#due.set(key, { key, isNew: false, changedAt: undefined });
    return true;
  }

  /** A Pod, and below a Node, as they were stored: nobody needs a look. */
  restorePod(pod: PodFacts): void {
    this.#enterPod(podKey(pod), pod);
  }

  restoreNode(name: string, node: NodeZone): void {
    this.#nodes.set(name, node);
  }

  putPod(pod: PodFacts): boolean {
    return this.#changePod(podKey(pod), pod);
  }

  removePod(key: string): boolean {
    return this.#changePod(key, undefined);
  }

  putNode(name: string, node: NodeZone): boolean {
    const before = this.#nodes.get(name);
    if (before && semanticEqual(before, node)) return false;
    this.#nodes.set(name, node);
    this.#lookAtPodsOn(name);
    return true;
  }

  removeNode(name: string): boolean {
    const isGone = this.#nodes.delete(name);
    if (isGone) this.#lookAtPodsOn(name);
    return isGone;
  }

  #noteDue(due: DueService): void {
    const before = this.#due.get(due.key);
    this.#due.set(due.key, before ? mergeDue(before, due) : due);
  }

  #changePod(key: string, after: PodFacts | undefined): boolean {
    const before = this.#pods.get(key);
    if (semanticEqual(before, after)) return false;
    if (before) {
      for (const label of labelsOf(before)) this.#byLabel.delete(label, key);
      this.#byNode.delete(before.nodeName, key);
      this.#pods.delete(key);
    }
    if (after) this.#enterPod(key, after);
    const numbers = new Set([...this.#candidatesFor(before), ...this.#candidatesFor(after)]);
    const candidates = [...numbers].flatMap((number) => this.#serviceAt(number) ?? []);
    for (const service of affectedServices(before, after, candidates)) {
      const since = before && selects(service, before) ? before.readyAt : 0;
      const isTimed = after !== undefined && after.readyAt > since && selects(service, after);
      this.#noteDue({ key: keyOf(service), isNew: false, changedAt: isTimed ? after.readyAt : undefined });
    }
    return true;
  }

  #enterPod(key: string, pod: PodFacts): void {
    for (const label of labelsOf(pod)) this.#byLabel.add(label, key);
    this.#byNode.add(pod.nodeName, key);
    this.#pods.set(key, pod);
  }

  #lookAtPodsOn(node: string): void {
    const podsByService = new Map<number, PodFacts[]>();
    for (const pod of this.#podsAt(this.#byNode.get(node))) {
      for (const number of this.#candidatesFor(pod)) {
        const pods = podsByService.get(number);
        if (pods) pods.push(pod);
        else podsByService.set(number, [pod]);
      }
    }
    for (const [number, pods] of podsByService) {
      const service = this.#serviceAt(number);
      if (service && pods.some((pod) => selects(service, pod))) {
        this.#noteDue({ key: keyOf(service), isNew: false, changedAt: undefined });
      }
    }
  }

  /** The numbers of the Services that may select the Pod. */
  #candidatesFor(pod: PodFacts | undefined): number[] {
    return pod ? this.#bySelector.of(labelsOf(pod)) : [];
  }

  #serviceAt(number: number): Service | undefined {
    return this.#services.get(this.#services.keyOf(number));
  }

  #podsAt(keys: ReadonlySet<string>): PodFacts[] {
    const pods: PodFacts[] = [];
    for (const key of keys) {
      const pod = this.#pods.get(key);
      if (pod) pods.push(pod);
    }
    return pods;
  }
}

/** The labels of the Service's selector; none = it has no Pods. */
function selectorOf(service: Service): string[] {
  if (!hasPods(service)) return [];
  return Object.entries(specOf(service).selector ?? {}).map((label) => labelText(service.metadata?.namespace ?? "", label));
}

function labelsOf({ namespace, labels }: PodFacts): string[] {
  return Object.entries(labels).map((label) => labelText(namespace, label));
}

function labelText(namespace: string, [key, value]: [string, string]): string {
  return `${namespace} ${key}=${value}`;
}

function podKey({ namespace, name }: PodFacts): string {
  return keyOf({ metadata: { namespace, name } });
}

const NOTHING: ReadonlySet<string> = new Set();

/** Sets of texts, each under a key, in the order in which the texts came. */
class SetsByKey {
  readonly #sets = new Map<string, Set<string>>();

  get(key: string): ReadonlySet<string> {
    return this.#sets.get(key) ?? NOTHING;
  }

  add(key: string, text: string): void {
    const set = this.#sets.get(key);
    if (set) set.add(text);
    else this.#sets.set(key, new Set([text]));
  }

  delete(key: string, text: string): void {
    const set = this.#sets.get(key);
    if (set?.delete(text) && set.size === 0) this.#sets.delete(key);
  }
}
