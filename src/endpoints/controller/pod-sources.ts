/** The Services, Pods and Nodes that endpoints are made of: followed, and kept as rows. */
import type { KubeObject, Node, Pod, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { type NodeZone, nodeZone } from "../sources/node-zone";
import { type PodFacts, podFacts } from "../sources/pod-facts";
import { serviceFacts } from "../sources/service-facts";
import { ServiceMembers } from "../sources/service-members";
import type { FeedReader } from "../../controllers/followed/followed-store";
import type { PassKit } from "./pass-kit";
import type { EndpointControllerPorts } from "./ports";

export class PodSources {
  readonly members: ServiceMembers;

  constructor(
    private readonly kit: Pick<PassKit, "rows" | "due">,
    private readonly ports: Pick<EndpointControllerPorts, "clock" | "batchMs">,
  ) {
    this.members = new ServiceMembers(kit.rows);
  }

  load(): void {
    const { rows } = this.kit;
    for (const [name, node] of rows.saved<NodeZone>("nodes")) this.members.restoreNode(name, node);
    for (const [, pod] of rows.saved<PodFacts>("pods")) this.members.restorePod(pod);
  }

  get services(): FeedReader {
    const { members } = this;
    return {
      keys: () => members.serviceKeys,
      put: (service) => {
        if (members.putService(serviceFacts(service as Service))) this.#noteDue(0);
      },
      gone: (key) => {
        if (members.removeService(key)) this.#noteDue(0);
      },
    };
  }

  get pods(): FeedReader {
    const { members } = this;
    return this.#reader("pods", this.ports.batchMs, {
      keys: () => members.podKeys,
      has: (pod) => members.hasPod(keyOf(pod)),
      change(pod: Pod) {
        const facts = podFacts(pod);
        return members.putPod(facts) ? facts : undefined;
      },
      remove: (key) => members.removePod(key),
    });
  }

  get nodes(): FeedReader {
    const { members } = this;
    return this.#reader("nodes", this.ports.batchMs, {
      keys: () => members.nodeNames,
      has: (node) => members.nodes.get(keyOf(node)) !== undefined,
      change(node: Node) {
        const facts = nodeZone(node);
        return members.putNode(keyOf(node), facts) ? facts : undefined;
      },
      remove: (name) => members.removeNode(name),
    });
  }

  /** Keeps facts as rows, and notes the Services that they touch; these wait `waitMs`. */
  #reader<T extends KubeObject>(
    kind: string,
    waitMs: number,
    facts: { keys(): Iterable<string>; has(object: T): boolean; change(object: T): object | undefined; remove(key: string): boolean },
  ): FeedReader {
    const { rows } = this.kit;
    return {
      keys: () => facts.keys(),
      put: (object) => {
        const isNew = !facts.has(object as T);
        const changed = facts.change(object as T);
        if (!changed) return;
        rows.put(kind, keyOf(object), changed, isNew);
        this.#noteDue(waitMs);
      },
      gone: (key) => {
        if (!facts.remove(key)) return;
        rows.delete(kind, key);
        this.#noteDue(waitMs);
      },
    };
  }

  /** The Services that were touched wait `waitMs` for a look. */
  #noteDue(waitMs: number): void {
    const { due } = this.kit;
    for (const one of this.members.takeDue()) due.add(one, this.ports.clock.now() + waitMs);
  }
}
