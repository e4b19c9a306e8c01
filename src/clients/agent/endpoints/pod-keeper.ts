/** The endpoint part of the agent: it keeps the Pods of the node as the set of endpoints and the probes say. */
import type { AgentPorts, EndpointKeeper, HeldNode } from "../ports/agent-ports";
import type { EndpointSet } from "./endpoint-set";
import { KeeperLife } from "./keeper-life";
import type { ProbePorts } from "./machine-ports";

export class PodKeeper implements EndpointKeeper {
  #life: KeeperLife | undefined;

  constructor(
    private readonly ports: AgentPorts & ProbePorts,
    private readonly set: EndpointSet,
  ) {}

  start(node: HeldNode): void {
    this.#life = new KeeperLife(this.ports, this.set, node);
  }

  stop(): Promise<void> {
    return this.#life?.stop() ?? Promise.resolve();
  }

  abandon(): void {
    this.#life?.end();
  }
}
