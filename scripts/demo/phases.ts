/** What happens at each target of a load balancer, phase by phase. */
import type { LoadBalancer } from "./load-balancer";
import type { HeldConnection, Requests, SteadyRequests } from "./traffic";

export interface AtNode {
  /** connections that it was given in the phase */
  readonly given: number;
  /** held connections that go through it at the end of the phase */
  readonly held: number;
}

export interface Phase {
  readonly name: string;
  /** those that began in the phase */
  readonly requests: Readonly<Requests>;
  readonly seconds: number;
  readonly nodes: readonly AtNode[];
}

export class Phases {
  readonly #ended: Phase[] = [];
  #name: string;
  #since = performance.now();
  #requests: Requests;
  #given: readonly number[];

  constructor(
    first: string,
    private readonly of: {
      readonly nodes: readonly string[];
      readonly balancer: LoadBalancer;
      readonly requests: SteadyRequests;
      readonly held: readonly HeldConnection[];
    },
  ) {
    this.#name = first;
    this.#requests = of.requests.countAnew();
    this.#given = this.#givenSoFar();
  }

  /** Ends the phase and begins the next one. */
  begin(name: string): void {
    this.end();
    this.#name = name;
  }

  end(): void {
    const { nodes, balancer, held } = this.of;
    const given = this.#givenSoFar();
    const open = held.filter(({ isOpen }) => isOpen).map(({ localPort }) => balancer.targetOf(localPort));
    const now = performance.now();
    this.#ended.push({
      name: this.#name,
      requests: this.#requests,
      seconds: (now - this.#since) / 1_000,
      nodes: nodes.map((node, i) => ({
        given: (given[i] ?? 0) - (this.#given[i] ?? 0),
        held: open.filter((target) => target === node).length,
      })),
    });
    this.#requests = this.of.requests.countAnew();
    this.#given = given;
    this.#since = now;
  }

  get ended(): readonly Phase[] {
    return this.#ended;
  }

  #givenSoFar(): number[] {
    return this.of.nodes.map((node) => this.of.balancer.givenTo(node));
  }
}
