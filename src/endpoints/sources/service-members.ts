/**
 * The Services, Pods and Nodes of a cluster, as far as endpoints are made of them: which Pods each Service has, and which Services need a look after
 * a change. Objects come and go in any order, as feeds tell of them.
 *
 * A change costs what it touches: Services and Pods find each other by the first label of a selector. Upstream compares a Pod with every Service of
 * its namespace. A Node that comes, goes or changes its zone asks for a look at the Services that have Pods on it; upstream waits for another reason.
 */
import { semanticEqual } from "../../api/meta/equality";
import type { Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { specOf } from "../../api/registry/services/predicates";
import { affectedServices } from "./affected-services";
import type { NodeFacts, NodeLookup } from "./node-facts";
import type { PodFacts } from "./pod-facts";
import { hasPods, selects } from "./service-pods";

export class ServiceMembers {
  readonly #services = new Map<string, Service>();
  /** keys of Services by the first label of their selector */
  readonly #byFirstLabel = new SetsByKey();
  readonly #pods = new Map<string, PodFacts>();
  /** keys of Pods by each label */
  readonly #byLabel = new SetsByKey();
  /** keys of Pods by node */
  readonly #byNode = new SetsByKey();
  readonly #nodes = new Map<string, NodeFacts>();
  readonly #due = new Set<string>();

  /** The Nodes that there are. */
  get nodes(): NodeLookup {
    return this.#nodes;
  }

  /** undefined = there is none. */
  service(key: string): Service | undefined {
    return this.#services.get(key);
  }

  /** The Pods that the Service's selector names. */
  podsOf(service: Service): PodFacts[] {
    const label = firstLabel(service);
    if (label === undefined) return [];
    return this.#podsAt(this.#byLabel.get(label)).filter((pod) => selects(service, pod));
  }

  /** Keys of the Services that changed, or whose Pods or Nodes did, since the last call; also of those that are gone. */
  takeDue(): string[] {
    const due = [...this.#due];
    this.#due.clear();
    return due;
  }

  putService(service: Service): void {
    const key = keyOf(service);
    this.#dropService(key);
    this.#services.set(key, service);
    const label = firstLabel(service);
    if (label !== undefined) this.#byFirstLabel.add(label, key);
    this.#due.add(key);
  }

  removeService(key: string): void {
    if (!this.#services.has(key)) return;
    this.#dropService(key);
    this.#due.add(key);
  }

  putPod(pod: PodFacts): void {
    this.#changePod(podKey(pod), pod);
  }

  removePod(key: string): void {
    this.#changePod(key, undefined);
  }

  putNode(name: string, node: NodeFacts): void {
    const before = this.#nodes.get(name);
    this.#nodes.set(name, node);
    if (!before || !semanticEqual(before, node)) this.#lookAtPodsOn(name);
  }

  removeNode(name: string): void {
    if (this.#nodes.delete(name)) this.#lookAtPodsOn(name);
  }

  #dropService(key: string): void {
    const service = this.#services.get(key);
    const label = service && firstLabel(service);
    if (label !== undefined) this.#byFirstLabel.delete(label, key);
    this.#services.delete(key);
  }

  #changePod(key: string, after: PodFacts | undefined): void {
    const before = this.#pods.get(key);
    if (semanticEqual(before, after)) return;
    if (before) {
      for (const label of labelsOf(before)) this.#byLabel.delete(label, key);
      this.#byNode.delete(before.nodeName, key);
      this.#pods.delete(key);
    }
    if (after) {
      for (const label of labelsOf(after)) this.#byLabel.add(label, key);
      this.#byNode.add(after.nodeName, key);
      this.#pods.set(key, after);
    }
    const candidates = new Set([...this.#candidatesFor(before), ...this.#candidatesFor(after)]);
    for (const service of affectedServices(before, after, [...candidates])) this.#due.add(keyOf(service));
  }

  #lookAtPodsOn(node: string): void {
    for (const pod of this.#podsAt(this.#byNode.get(node))) {
      for (const service of this.#candidatesFor(pod)) if (selects(service, pod)) this.#due.add(keyOf(service));
    }
  }

  /** The Services whose selector begins with one of the Pod's labels. */
  #candidatesFor(pod: PodFacts | undefined): Service[] {
    if (!pod) return [];
    return labelsOf(pod).flatMap((label) => [...this.#byFirstLabel.get(label)].flatMap((key) => this.#services.get(key) ?? []));
  }

  #podsAt(keys: ReadonlySet<string>): PodFacts[] {
    return [...keys].flatMap((key) => this.#pods.get(key) ?? []);
  }
}

/** undefined = the Service has no Pods. */
function firstLabel(service: Service): string | undefined {
  if (!hasPods(service)) return undefined;
  const [first] = Object.entries(specOf(service).selector ?? {});
  return first && labelText(service.metadata?.namespace ?? "", first);
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
