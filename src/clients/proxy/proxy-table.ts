/**
 * What a proxy in user space listens to on one node, and where each connection goes. Changes of the merged view go in; listeners that open, close or
 * have other endpoints come out. The cost of a change is that of the Services that changed.
 *
 *   ClusterIP:port   at the place of its address (listen-place.ts), by the internal policy
 *   node port        at each address for node ports of the Service's family, by the external policy
 *
 * A listener is open while a connection to it has an endpoint. Without one it is closed, so that the system refuses the client, as kube-proxy's
 * rules do. Kube-proxy drops packets where only other nodes have endpoints; a program without rights cannot, and refuses there too.
 *
 * Two ClusterIPs may have one place. The first Service there is served, the other one waits.
 */
import type { Random } from "../../core/base/ports";
import { type Family, familyOfText } from "../../core/net/family";
import { hostAndPort } from "../../core/net/host-and-port";
import type { MergedService, ServiceChanges, ServiceRef } from "../../endpoints/merge/merged-services";
import { policyUse, type ProxiedPort, type ProxiedService, type TrafficPolicy } from "../../api/registry/services/proxied-service";
import { type MergedEndpoint, portKey } from "../../api/registry/endpoint-slices/slice-portion";
import { type NodePlace, usableEndpoints } from "../../endpoints/merge/usable-endpoints";
import { BalancedPort, type Connecting } from "./balanced-port";
import { addressWithin, type ListenPlaces } from "./listen-place";

/** Protocols that a program without rights can serve. */
export type ListenerProtocol = "TCP" | "UDP";

export interface Listener {
  /** `127.96.0.5:80/TCP`, an IPv6 address in brackets */
  readonly key: string;
  readonly protocol: ListenerProtocol;
  readonly address: string;
  readonly port: number;
}

/** A port of a Service that is not served. */
export interface UnservedService {
  /** `namespace/name` */
  readonly service: string;
  /** `10.96.0.5:80/TCP` */
  readonly where: string;
  readonly reason: string;
}

/** Each listener is in one of the lists at most. */
export interface ListenerChanges {
  readonly opened: readonly Listener[];
  readonly closed: readonly Listener[];
  /** keys of the others that may have other endpoints, or another Service */
  readonly changed: readonly string[];
  /** those that are so from now on */
  readonly unserved: readonly UnservedService[];
}

/** A Service whose local endpoints a load balancer asks for. */
export interface HealthCheck {
  readonly namespace: string;
  readonly name: string;
  readonly family: Family;
  /** its healthCheckNodePort */
  readonly port: number;
  /** distinct addresses of ready endpoints on the node */
  readonly localEndpoints: number;
}

/** One way to a port of a Service. */
interface Route {
  readonly listener: Listener;
  readonly service: BalancedService;
  readonly where: string;
  readonly balanced: BalancedPort;
  readonly policy: TrafficPolicy;
}

/** One Service in one family. */
interface BalancedService {
  readonly ref: ServiceRef;
  merged: MergedService;
  /** by portKey */
  readonly ports: Map<string, BalancedPort>;
  /** by the listener's key */
  routes: Map<string, Route>;
  health: HealthCheck | undefined;
  /** what was told of as not served */
  unserved: ReadonlySet<string>;
}

export class ProxyTable {
  readonly #entries = new Map<string, BalancedService>();
  /** by the listener's key: the route that is served, then those that wait */
  readonly #routes = new Map<string, Route[]>();
  readonly #open = new Map<string, Listener>();
  #node: NodePlace;

  constructor(
    private readonly places: ListenPlaces,
    nodeName: string,
    private readonly random: Pick<Random, "below">,
  ) {
    this.#node = { name: nodeName, zone: undefined };
  }

  get listeners(): readonly Listener[] {
    return [...this.#open.values()];
  }

  /** The Services with a port that something listens to. */
  get serviceCount(): number {
    return new Set([...this.#open.keys()].map((key) => this.#routes.get(key)?.[0]?.service)).size;
  }

  get healthChecks(): readonly HealthCheck[] {
    return [...this.#entries.values()].flatMap(({ health }) => health ?? []);
  }

  /** The merged view has changed. */
  apply({ updated, removed }: ServiceChanges): ListenerChanges {
    const touched = new Set<string>();
    const unserved: UnservedService[] = [];
    for (const ref of removed) this.#remove(ref, touched);
    for (const merged of updated) this.#update(merged, touched, unserved);
    return this.#settle(touched, unserved);
  }

  /** The node is in another zone. */
  move(zone: string | undefined): ListenerChanges {
    if (zone === this.#node.zone) return { opened: [], closed: [], changed: [], unserved: [] };
    this.#node = { ...this.#node, zone };
    return this.apply({ updated: [...this.#entries.values()].map(({ merged }) => merged), removed: [] });
  }

  /** The endpoint of a new connection to a listener; undefined = none is left. */
  choose(listenerKey: string, connecting: Connecting): MergedEndpoint | undefined {
    const route = this.#routes.get(listenerKey)?.[0];
    return route?.balanced.choose(route.policy, connecting);
  }

  /** Whether datagrams to a listener go on to the endpoint that they went to. */
  keepsFlow(listenerKey: string, endpointKey: string): boolean {
    return this.#routes.get(listenerKey)?.[0]?.balanced.keepsFlowTo(endpointKey) ?? false;
  }

  /** Ports whose policy is Local and which have endpoints on other nodes only. */
  withoutLocalEndpoints(policyOf: "internalTrafficPolicy" | "externalTrafficPolicy", family: Family): number {
    let count = 0;
    for (const { merged, ports } of this.#entries.values()) {
      const { service } = merged;
      if (service.family !== family || service[policyOf] !== "Local") continue;
      for (const { state } of ports.values()) if (state.usable.isServedSomewhere && state.usable.local?.length === 0) count++;
    }
    return count;
  }

  #update(merged: MergedService, touched: Set<string>, unserved: UnservedService[]): void {
    const { service } = merged;
    const key = entryKey(service);
    let entry = this.#entries.get(key);
    if (!entry) {
      const { namespace, name, family } = service;
      entry = {
        ref: { namespace, name, family },
        merged,
        ports: new Map(),
        routes: new Map(),
        health: undefined,
        unserved: new Set(),
      };
      this.#entries.set(key, entry);
    }
    entry.merged = merged;
    entry.health = this.#healthOf(merged);
    this.#balance(entry);
    const before = entry.routes;
    entry.routes = new Map(this.#routesOf(entry).map((route) => [route.listener.key, route]));
    for (const [listenerKey, route] of before) if (!entry.routes.has(listenerKey)) this.#leave(listenerKey, route.service);
    const refused = unservedPorts(service);
    for (const [listenerKey, route] of entry.routes) {
      const first = this.#enter(listenerKey, route);
      if (first !== route)
        refused.push({ service: nameOf(service), where: route.where, reason: `${nameOf(first.service.ref)} is served at ${listenerKey}` });
    }
    for (const listenerKey of [...before.keys(), ...entry.routes.keys()]) touched.add(listenerKey);
    const told = entry.unserved;
    unserved.push(...refused.filter(({ where, reason }) => !told.has(`${where} ${reason}`)));
    entry.unserved = new Set(refused.map(({ where, reason }) => `${where} ${reason}`));
  }

  #remove(ref: ServiceRef, touched: Set<string>): void {
    const entry = this.#entries.get(entryKey(ref));
    if (!entry) return;
    this.#entries.delete(entryKey(ref));
    for (const listenerKey of entry.routes.keys()) {
      this.#leave(listenerKey, entry);
      touched.add(listenerKey);
    }
  }

  /** The endpoints of each port, for the policies that it uses. */
  #balance({ merged: { service, endpoints }, ports }: BalancedService): void {
    const keys = new Set(service.ports.map(portKey));
    for (const key of ports.keys()) if (!keys.has(key)) ports.delete(key);
    for (const port of service.ports) {
      const key = portKey(port);
      const balanced = ports.get(key) ?? new BalancedPort(this.random);
      ports.set(key, balanced);
      const all = endpoints.get(key) ?? [];
      const usable = usableEndpoints(all, policyUse(service, port), this.#node);
      balanced.state = { endpoints: all, usable, affinitySeconds: service.affinitySeconds };
    }
  }

  #routesOf(entry: BalancedService): Route[] {
    const { service } = entry.merged;
    const { clusterIPs, nodePorts } = this.places;
    return service.ports.flatMap((port): Route[] => {
      const { protocol, nodePort } = port;
      const balanced = entry.ports.get(portKey(port));
      if (!isServable(protocol) || !balanced) return [];
      const inside = addressWithin(clusterIPs[service.family], service.clusterIP);
      const internal: Route = {
        listener: listenerAt(protocol, inside, port.port),
        service: entry,
        where: whereOf(service, port),
        balanced,
        policy: service.internalTrafficPolicy,
      };
      if (nodePort === undefined) return [internal];
      const outside = nodePorts.filter((address) => familyOfText(address) === service.family);
      const external = outside.map((address): Route => {
        const listener = listenerAt(protocol, address, nodePort);
        return { listener, service: entry, where: `node port ${nodePort}/${protocol}`, balanced, policy: service.externalTrafficPolicy };
      });
      return [internal, ...external];
    });
  }

  #healthOf({ service, localReady }: MergedService): HealthCheck | undefined {
    const { namespace, name, family, healthCheckNodePort: port } = service;
    if (port === undefined) return undefined;
    return { namespace, name, family, port, localEndpoints: localReady?.get(this.#node.name) ?? 0 };
  }

  /** Puts a route where the Service's earlier one was, or behind the others. Answers the one that is served. */
  #enter(listenerKey: string, route: Route): Route {
    const routes = this.#routes.get(listenerKey) ?? [];
    this.#routes.set(listenerKey, routes);
    const at = routes.findIndex(({ service }) => service === route.service);
    routes[at < 0 ? routes.length : at] = route;
    return routes[0] ?? route;
  }

  #leave(listenerKey: string, service: BalancedService): void {
    const routes = (this.#routes.get(listenerKey) ?? []).filter((route) => route.service !== service);
    if (routes.length > 0) this.#routes.set(listenerKey, routes);
    else this.#routes.delete(listenerKey);
  }

  /** What is to be done at each of the listeners. */
  #settle(touched: ReadonlySet<string>, unserved: readonly UnservedService[]): ListenerChanges {
    const opened: Listener[] = [];
    const closed: Listener[] = [];
    const changed: string[] = [];
    for (const key of touched) {
      const open = this.#open.get(key);
      const route = this.#routes.get(key)?.[0];
      const wanted = route?.balanced.hasEndpoint(route.policy) ? route.listener : undefined;
      if (wanted && !open) {
        opened.push(wanted);
        this.#open.set(key, wanted);
      } else if (open && !wanted) {
        closed.push(open);
        this.#open.delete(key);
      } else changed.push(key);
    }
    return { opened, closed, changed, unserved };
  }
}

function listenerAt(protocol: ListenerProtocol, address: string, port: number): Listener {
  return { key: `${hostAndPort(address, port)}/${protocol}`, protocol, address, port };
}

function whereOf({ clusterIP }: ProxiedService, { port, protocol }: ProxiedPort): string {
  return `${hostAndPort(clusterIP, port)}/${protocol}`;
}

function isServable(protocol: string): protocol is ListenerProtocol {
  return protocol === "TCP" || protocol === "UDP";
}

function unservedPorts(service: ProxiedService): UnservedService[] {
  return service.ports.flatMap((port) =>
    isServable(port.protocol)
      ? []
      : [{ service: nameOf(service), where: whereOf(service, port), reason: `${port.protocol} needs the system's own proxy` }],
  );
}

function nameOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function entryKey({ namespace, name, family }: ServiceRef): string {
  return `${namespace}/${name}/${family}`;
}
