/**
 * One port of a Service on one node: which endpoint a client gets. The rules are kube-proxy's (upstream pkg/proxy/iptables/proxier.go):
 *
 * - Each connection goes to a random endpoint among those that its policy allows.
 * - With session affinity a client keeps its endpoint until it has made no connection for the timeout, or the endpoint is no longer usable. Both
 *   policies share what a client has.
 * - A connection whose endpoint refuses it goes to another one. The client then keeps that one (upstream's proxy in user space did so).
 */
import type { Random } from "../../core/base/ports";
import type { TrafficPolicy } from "../../api/registry/services/proxied-service";
import type { MergedEndpoint } from "../../api/registry/endpoint-slices/slice-portion";
import type { UsableEndpoints } from "../../endpoints/merge/usable-endpoints";

/** Clients of a port whose endpoint is remembered; beyond, the one that was not seen longest is forgotten. */
export const REMEMBERED_CLIENTS_MAX = 65_536;

export interface PortState {
  /** all that the slices have for the port */
  readonly endpoints: readonly MergedEndpoint[];
  readonly usable: UsableEndpoints;
  /** undefined = no session affinity */
  readonly affinitySeconds: number | undefined;
}

export interface Connecting {
  /** the client's IP */
  readonly client: string;
  /** ms since the epoch */
  readonly now: number;
  /** keys of endpoints that have refused this connection */
  readonly refused: ReadonlySet<string>;
}

const NONE: PortState = {
  endpoints: [],
  usable: { cluster: undefined, local: undefined, reachable: [], isServedSomewhere: false },
  affinitySeconds: undefined,
};

export class BalancedPort {
  #state = NONE;
  /** by the client's IP, the one that was not seen longest first */
  readonly #remembered = new Map<string, { endpoint: string; at: number }>();

  constructor(private readonly random: Pick<Random, "below">) {}

  get state(): PortState {
    return this.#state;
  }

  set state(state: PortState) {
    this.#state = state;
    if (state.affinitySeconds === undefined) this.#remembered.clear();
  }

  /** Whether a connection of this policy has an endpoint. */
  hasEndpoint(policy: TrafficPolicy): boolean {
    return this.#candidates(policy).length > 0;
  }

  /** The endpoint of a new connection; undefined = none is left. */
  choose(policy: TrafficPolicy, connecting: Connecting): MergedEndpoint | undefined {
    const { client, now, refused } = connecting;
    const candidates = this.#candidates(policy);
    const left = refused.size === 0 ? candidates : candidates.filter(({ key }) => !refused.has(key));
    const { affinitySeconds } = this.#state;
    if (affinitySeconds === undefined) return this.#any(left);
    const kept = this.#endpointOf(client, now - affinitySeconds * 1_000);
    const chosen = left.find(({ key }) => key === kept) ?? this.#any(left);
    if (chosen) this.#remember(client, chosen.key, now);
    return chosen;
  }

  /**
   * Whether datagrams of a client go on to the endpoint that they went to: an endpoint that serves keeps them. Where none serves, flows end, too: the next
   * endpoint is theirs (upstream's rule since kubernetes#139629; 1.36 leaves such flows).
   */
  keepsFlowTo(endpointKey: string): boolean {
    return this.#state.endpoints.some(({ key, serving }) => key === endpointKey && serving);
  }

  #candidates(policy: TrafficPolicy): readonly MergedEndpoint[] {
    const { cluster, local } = this.#state.usable;
    return (policy === "Local" ? local : cluster) ?? [];
  }

  #any(endpoints: readonly MergedEndpoint[]): MergedEndpoint | undefined {
    return endpoints.length === 0 ? undefined : endpoints[this.random.below(endpoints.length)];
  }

  /** What a client that was seen after `since` has. Forgets those that were not. */
  #endpointOf(client: string, since: number): string | undefined {
    for (const [other, { at }] of this.#remembered) {
      if (at > since) break;
      this.#remembered.delete(other);
    }
    return this.#remembered.get(client)?.endpoint;
  }

  #remember(client: string, endpoint: string, at: number): void {
    this.#remembered.delete(client);
    this.#remembered.set(client, { endpoint, at });
    if (this.#remembered.size <= REMEMBERED_CLIENTS_MAX) return;
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }
}
