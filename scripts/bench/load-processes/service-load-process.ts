/** The load generator as a process: creates Services as its first argument (JSON, CreateLoad) says and prints a CreateLoadResult. */
import { runLoad } from "./load";

export interface CreateLoad {
  host: string;
  port: number;
  connections: number;
  count: number;
  /** the cluster whose namespace `default` they go to */
  cluster: string;
  /** names are `<prefix>-<number>` */
  prefix: string;
  /** every ClusterIP has to begin with one of these */
  addressPrefixes: string[];
}

export interface CreateLoadResult {
  elapsedMs: number;
  /** sorted */
  latenciesMs: number[];
  /** in the order of completion */
  addresses: [name: string, clusterIP: string][];
  /** CPU time of this process, in milliseconds */
  cpuMs: number;
}

interface CreatedService {
  kind?: string;
  metadata?: { name?: string; uid?: string; resourceVersion?: string };
  spec?: { clusterIP?: string; clusterIPs?: string[]; selector?: { app?: string }; ports?: { port?: number }[] };
}

const load = JSON.parse(process.argv[2] ?? "{}") as CreateLoad;
const addresses: [string, string][] = [];
const nameOf = (i: number) => `${load.prefix}-${String(i)}`;
const head = `POST /clusters/${load.cluster}/api/v1/namespaces/default/services HTTP/1.1\r\nHost: ${load.host}:${String(load.port)}\r\nContent-Type: application/json\r\nAccept: application/json\r\n`;

const result = await runLoad({
  ...load,
  requestOf: (i) => {
    const name = nameOf(i);
    const body = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"${name}"},"spec":{"selector":{"app":"${name}"},"ports":[{"port":80,"protocol":"TCP"}]}}`;
    return `${head}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
  },
  onAnswer: (i, status, body) => {
    const name = nameOf(i);
    if (status !== 201) throw new Error(`create ${name}: ${String(status)} ${body}`);
    const { kind, metadata, spec } = JSON.parse(body) as CreatedService;
    const address = spec?.clusterIP ?? "";
    const right =
      kind === "Service" &&
      metadata?.name === name &&
      metadata.uid?.length === 36 &&
      Number(metadata.resourceVersion) > 0 &&
      spec?.clusterIPs?.length === 1 &&
      spec.clusterIPs[0] === address &&
      load.addressPrefixes.some((prefix) => address.startsWith(prefix)) &&
      spec.selector?.app === name &&
      spec.ports?.[0]?.port === 80;
    if (!right) throw new Error(`create ${name} was answered with ${body}`);
    addresses.push([name, address]);
  },
});

const cpu = process.cpuUsage();
const answer: CreateLoadResult = {
  elapsedMs: result.elapsedMs,
  latenciesMs: Array.from(result.latenciesMs).sort((a, b) => a - b),
  addresses,
  cpuMs: (cpu.user + cpu.system) / 1000,
};
process.stdout.write(JSON.stringify(answer));
