/** The load generator as a process: creates or deletes Services as a ServiceLoad on stdin says, and prints a ServiceLoadResult. */
import type { Target } from "../../../cluster/target";
import { requestHeads } from "../connection";
import { givenLoad, runLoad } from "./load";

export interface ServiceLoad {
  target: Target;
  verb: "create" | "delete";
  connections: number;
  count: number;
  /** path of the Services of a namespace */
  collection: string;
  /** names are `<prefix>-<number>` */
  prefix: string;
  /** every ClusterIP has to begin with one of these; none = it may be any */
  addressPrefixes: string[];
  /** Each is one of type LoadBalancer that pools serve, without node ports: a cluster has 2,768. The addresses of the result are external ones. */
  balanced?: boolean;
}

export interface ServiceLoadResult {
  elapsedMs: number;
  /** sorted */
  latenciesMs: number[];
  /** of created Services, in the order of completion */
  addresses: [name: string, address: string][];
  /** CPU time of this process, in milliseconds */
  cpuMs: number;
}

interface CreatedService {
  kind?: string;
  metadata?: { name?: string; uid?: string; resourceVersion?: string };
  spec?: { clusterIP?: string; clusterIPs?: string[]; selector?: { app?: string }; ports?: { port?: number }[] };
  status?: { loadBalancer?: { ingress?: { ip?: string }[] } };
}

const load = givenLoad<ServiceLoad>();
const head = requestHeads(load.target);
const createHead = head("POST", load.collection, "application/json");
const addresses: [string, string][] = [];
const more = load.balanced ? '"type":"LoadBalancer","loadBalancerClass":"servicenet.dev/pool","allocateLoadBalancerNodePorts":false,' : "";
const nameOf = (i: number) => `${load.prefix}-${String(i)}`;

function creation(i: number): string {
  const name = nameOf(i);
  const body = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}"},"spec":{${more}"selector":{"app":"${name}"},"ports":[{"port":80,"protocol":"TCP"}]}}`;
  return `${createHead}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
}

function onCreated(i: number, status: number, body: string): void {
  const name = nameOf(i);
  if (status !== 201) throw new Error(`create ${name}: ${String(status)} ${body}`);
  const { kind, metadata, spec, status: shown } = JSON.parse(body) as CreatedService;
  const address = spec?.clusterIP ?? "";
  const right =
    kind === "Service" &&
    metadata?.name === name &&
    metadata.uid?.length === 36 &&
    Number(metadata.resourceVersion) > 0 &&
    spec?.clusterIPs?.length === 1 &&
    spec.clusterIPs[0] === address &&
    (load.addressPrefixes.length === 0 || load.addressPrefixes.some((prefix) => address.startsWith(prefix))) &&
    spec.selector?.app === name &&
    spec.ports?.[0]?.port === 80;
  if (!right) throw new Error(`create ${name} was answered with ${body}`);
  const external = shown?.loadBalancer?.ingress?.[0]?.ip;
  if (load.balanced && external === undefined) throw new Error(`${name} has no external address: ${body}`);
  addresses.push([name, load.balanced && external !== undefined ? external : address]);
}

const deletion = (i: number) => `${head("DELETE", `${load.collection}/${nameOf(i)}`)}\r\n`;

function onDeleted(i: number, status: number, body: string): void {
  const { kind, metadata } = JSON.parse(body) as CreatedService;
  if (status !== 200 || kind !== "Service" || metadata?.name !== nameOf(i))
    throw new Error(`delete ${nameOf(i)}: ${String(status)} ${body}`);
}

const work = load.verb === "create" ? { requestOf: creation, onAnswer: onCreated } : { requestOf: deletion, onAnswer: onDeleted };
const { elapsedMs, latenciesMs } = await runLoad({ ...load, ...work });
const cpu = process.cpuUsage();
const answer: ServiceLoadResult = {
  elapsedMs,
  latenciesMs: Array.from(latenciesMs).sort((a, b) => a - b),
  addresses,
  cpuMs: (cpu.user + cpu.system) / 1000,
};
process.stdout.write(JSON.stringify(answer));
