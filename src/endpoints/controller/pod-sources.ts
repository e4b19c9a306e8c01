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
  readonly members = new ServiceMembers();

  constructor(
    private readonly kit: Pick<PassKit, "rows" | "due">,
    private readonly ports: Pick<EndpointControllerPorts, "clock" | "batchMs">,
  ) {}

  load(): void {
    const { rows } = this.kit;
    for (const [, service] of rows.saved<Service>("services")) this.members.putService(service);
    for (const [name, node] of rows.saved<NodeZone>("nodes")) this.members.putNode(name, node);
    for (const [, pod] of rows.saved<PodFacts>("pods")) this.members.putPod(pod);
    this.members.takeDue();
  }

  get services(): FeedReader {
    const { members } = this;
    return this.#reader("services", 0, {
      keys: () => members.serviceKeys,
      change(service: Service) {
        const facts = serviceFacts(service);
        return members.putService(facts) ? facts : undefined;
      },
      remove: (key) => members.removeService(key),
    });
  }

  get pods(): FeedReader {
    const { members } = this;
    return this.#reader("pods", this.ports.batchMs, {
      keys: () => members.podKeys,
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
    facts: { keys(): Iterable<string>; change(object: T): object | undefined; remove(key: string): boolean },
  ): FeedReader {
    const { rows, due } = this.kit;
    const { clock } = this.ports;
    const noteDue = (): void => {
      for (const one of this.members.takeDue()) due.add(one, clock.now() + waitMs);
    };
    return {
      keys: () => facts.keys(),
      put(object) {
        const changed = facts.change(object as T);
        if (!changed) return;
        rows.put(kind, keyOf(object), changed);
        noteDue();
      },
      gone(key) {
        if (!facts.remove(key)) return;
        rows.delete(kind, key);
        noteDue();
      },
    };
  }
}
