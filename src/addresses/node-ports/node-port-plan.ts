/**
 * What a change of a Service means for its node ports, as data: which ones it takes, in the order in which upstream takes them.
 *
 * | change                                      | takes                                              |
 * |---------------------------------------------|----------------------------------------------------|
 * | create NodePort, LoadBalancer               | one number per port number, shared by its protocols |
 * | update, any type -> NodePort, LoadBalancer  | one for each port that has none or a new one        |
 * | allocateLoadBalancerNodePorts: false        | only what the client names; a port without one goes |
 * | externalTrafficPolicy Local on LoadBalancer | healthCheckNodePort                                 |
 *
 * What goes is the difference of `heldNodePorts`. Inside one Service the rules are upstream's. Across Services a number is taken per protocol: TCP
 * 30053 and UDP 30053 may belong to two Services. Upstream's one table for all protocols does not allow that.
 *
 * Source: upstream pkg/registry/core/service/storage/alloc.go (initNodePorts, updateNodePorts, updateHealthCheckNodePort).
 */
import { assert } from "../../core/base/assert";
import type { Service, ServicePort } from "../../api/meta/kubernetes";
import { NODE_PORT_MAX, NODE_PORT_MIN } from "../../core/net/node-port-range";
import type { HeldNodePort } from "../../api/registry/services/held-by-service";
import {
  choosesNodePorts,
  needsHealthCheckNodePort,
  needsNodePort,
  portsOf,
  type ServiceSpec,
  specOf,
} from "../../api/registry/services/predicates";

export const OUTSIDE_NODE_PORT_RANGE = `provided port is not in the valid range. The range of valid ports is ${NODE_PORT_MIN}-${NODE_PORT_MAX}`;

/** Health checks of a load balancer are HTTP. */
const HEALTH_CHECK_PROTOCOL = "TCP";

/** One number that the change needs and does not have yet. */
export interface NodePortTake {
  /** places in spec.ports that get the number; empty = it is the healthCheckNodePort */
  places: number[];
  /** one row for each */
  protocols: string[];
  /** 0 = any free one, else the one that the client named */
  port: number;
  /** the Service itself has the number for something else that may not share it */
  clashes: boolean;
}

export interface NodePortPlan {
  take: readonly NodePortTake[];
  /** numbers that the Service as it is written names or keeps: none of them is chosen for something else */
  named: readonly number[];
}

const NOTHING: NodePortPlan = Object.freeze({ take: Object.freeze([]), named: Object.freeze([]) });
const NO_NODE_PORTS: readonly HeldNodePort[] = Object.freeze([]);

/** The plan of one change; `after` is prepared and validated, undefined = delete. `before` undefined = create. Changes nothing. */
export function planNodePorts({ after, before }: { after: Service | undefined; before: Service | undefined }): NodePortPlan {
  const spec = after && specOf(after);
  if (!spec || !needsNodePort(spec)) return NOTHING;
  const old = before && specOf(before);
  const take = old ? takesOfUpdate(spec, old) : takesOfCreate(spec);
  const healthCheck = takeOfHealthCheck(spec, old);
  if (healthCheck) take.push(healthCheck);
  return take.length === 0 ? NOTHING : { take, named: namedNumbers(spec) };
}

/** Writes the numbers of a plan's takes, in their order, into the Service. */
export function applyNodePorts(after: Service, take: readonly NodePortTake[], numbers: readonly number[]): void {
  take.forEach(({ places }, i) => {
    const number = numbers[i];
    const spec = after.spec;
    assert(number !== undefined && spec, "applyNodePorts: every take has its number");
    if (places.length === 0) spec.healthCheckNodePort = number;
    for (const place of places) {
      const port = spec.ports?.[place];
      assert(port, "applyNodePorts: the plan is this Service's");
      port.nodePort = number;
    }
  });
}

/** The node ports that this Service holds once it is stored. */
export function heldNodePorts(service: Service): readonly HeldNodePort[] {
  const spec = specOf(service);
  if (!needsNodePort(spec)) return NO_NODE_PORTS;
  const held = portsOf(spec).flatMap((port) => (port.nodePort ? [{ protocol: protocolOf(port), port: port.nodePort }] : []));
  const healthCheck = needsHealthCheckNodePort(spec) ? spec.healthCheckNodePort : 0;
  if (healthCheck) held.push({ protocol: HEALTH_CHECK_PROTOCOL, port: healthCheck });
  return held;
}

/** The protocols of one port number get one node port (DNS over UDP and TCP), unless the client names different ones. */
function takesOfCreate(spec: ServiceSpec): NodePortTake[] {
  const ports = portsOf(spec);
  const take: NodePortTake[] = [];
  const byPort = new Map<number, NodePortTake>();
  ports.forEach((port, i) => {
    if (!port.nodePort && !choosesNodePorts(spec)) return;
    const shared = byPort.get(port.port);
    if (shared && (!port.nodePort || port.nodePort === shared.port)) {
      shared.places.push(i);
      shared.protocols.push(protocolOf(port));
      return;
    }
    const number = shared ? (port.nodePort ?? 0) : (ports.find((other) => other.port === port.port && other.nodePort)?.nodePort ?? 0);
    const clashes = number > 0 && take.some((other) => other.port === number);
    const made: NodePortTake = { places: [i], protocols: [protocolOf(port)], port: number, clashes };
    take.push(made);
    if (!shared) byPort.set(port.port, made);
  });
  return take;
}

/** Each port by itself: what it has already, it keeps. The health check's number is never shared. */
function takesOfUpdate(spec: ServiceSpec, old: ServiceSpec): NodePortTake[] {
  const hadNodePorts = needsNodePort(old);
  const healthCheck = needsHealthCheckNodePort(old) && needsHealthCheckNodePort(spec) ? old.healthCheckNodePort : 0;
  return portsOf(spec).flatMap((port, i) => {
    const protocol = protocolOf(port);
    const number = port.nodePort ?? 0;
    if (number === 0) return choosesNodePorts(spec) ? [{ places: [i], protocols: [protocol], port: 0, clashes: false }] : [];
    if (hadNodePorts && portsOf(old).some((other) => other.nodePort === number && protocolOf(other) === protocol)) return [];
    return [{ places: [i], protocols: [protocol], port: number, clashes: number === healthCheck }];
  });
}

/** When it becomes needed, or is still missing in a Service that an older version stored. */
function takeOfHealthCheck(spec: ServiceSpec, old: ServiceSpec | undefined): NodePortTake | undefined {
  if (!needsHealthCheckNodePort(spec)) return undefined;
  const port = spec.healthCheckNodePort ?? 0;
  if (port > 0 && old && needsHealthCheckNodePort(old)) return undefined;
  const clashes = port > 0 && portsOf(spec).some(({ nodePort }) => nodePort === port);
  return { places: [], protocols: [HEALTH_CHECK_PROTOCOL], port, clashes };
}

function namedNumbers(spec: ServiceSpec): number[] {
  const numbers = portsOf(spec).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));
  if (spec.healthCheckNodePort) numbers.push(spec.healthCheckNodePort);
  return numbers;
}

function protocolOf(port: ServicePort): string {
  return port.protocol ?? "TCP";
}
