/**
 * A load balancer in front of three nodes, as KEP-3836 has it, with real processes on loopback: a server, the proxies of the nodes, pods, clients.
 *
 * The autoscaler takes node-1 away: it taints the Node, waits, deletes the Node, the load balancer loses the target, and the machine is off. With the gate
 * off the machine goes first: nobody was told, whatever the order. Then the agent of node-2 is killed: its silence takes the node out. The balancer asks the server at /nodes/{node}/healthz, and nobody else tells it anything.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Backend, tcpBackend, whoAnswers } from "../../test/support/clients/echo-backends";
import { freePort } from "../../test/support/server/free-port";
import { removeFolder, type Server, startServer, temporaryFolder } from "../../test/support/server/server";
import { removeRecordedFolder } from "../serve/workerd/socket-folder";
import { until, write } from "./api";
import { LoadBalancer } from "./load-balancer";
import { nodeName, NodePrograms, podAddress, podIP } from "./node-programs";
import { type Phase, Phases } from "./phases";
import { type Restarts, restartsByProbe } from "./restarts";
import { HeldConnection, REQUESTS_PER_SECOND, SteadyRequests } from "./traffic";

const NODES = [1, 2, 3] as const;
const PODS = 3;
/** Two for each node. */
const HELD = 6;
/** An agent is silent after two: longer than a busy machine holds a process up. */
const SYNC_PERIOD_SECONDS = 5;
const CHECK_EVERY_MS = 250;
/** Between the end of a machine and the end of its target: clouds take minutes. */
const TARGET_GOES_AFTER_MS = 1_000;
const TAINT = { key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" };

export interface DrainSetting {
  /** of KubeProxyDrainingTerminatingNodes */
  readonly gate: boolean;
  /** how long a phase without an end of its own takes */
  readonly phaseSeconds: number;
  /** one line for what happens now */
  readonly log: (line: string) => void;
}

export interface DrainResult {
  readonly phases: readonly Phase[];
  /** undefined with the gate off: it does not reach the proxies of nodes */
  readonly restarts: Restarts | undefined;
}

/** Its processes and its folder are gone afterwards; when it throws, or this process ends before, they go with this process. */
export async function demoDrain(setting: DrainSetting): Promise<DrainResult> {
  const folder = temporaryFolder();
  const removed = (): void => {
    // A server that is killed while it starts leaves the folder of its socket, and the record of it goes with the data.
    removeRecordedFolder(join(folder, "runtime-folder"));
    removeFolder(folder);
  };
  process.once("exit", removed);
  const gates = ["--var", `FEATURE_GATES=KubeProxyDrainingTerminatingNodes=${String(setting.gate)}`];
  const ends: (() => unknown)[] = [];
  setting.log("a server, three nodes with agents and proxies, three pods");
  const server = await startServer(folder, ["--var", `PROXY_SYNC_PERIOD_SECONDS=${String(SYNC_PERIOD_SECONDS)}`, ...gates]);
  ends.push(() => server.kill());
  const phases = await takenAway(server, folder, setting, ends);
  if (setting.gate) setting.log(`${nodeName(4)} has the taint, and a supervisor with a liveness probe`);
  const restarts = setting.gate ? await restartsByProbe(server.url, 4, TAINT) : undefined;
  for (const end of ends.reverse()) await end();
  process.off("exit", removed);
  removed();
  return { phases, restarts };
}

async function takenAway(
  server: Server,
  folder: string,
  { gate, phaseSeconds, log }: DrainSetting,
  ends: (() => unknown)[],
): Promise<readonly Phase[]> {
  const nodePort = await service(server, ends);
  const nodes = await Promise.all(
    NODES.map((number) => NodePrograms.start(number, server.url, join(folder, nodeName(number)), SYNC_PERIOD_SECONDS)),
  );
  const [first, second] = nodes as [NodePrograms, NodePrograms];
  for (const node of nodes) {
    ends.push(() => node.kill());
    await until(`${node.name} serves`, async () => (await whoAnswers(node.address, nodePort)).startsWith("pod"));
  }
  const names = nodes.map(({ name }) => name);
  const onUnhealthy = new Map<string, () => void>();
  const balancer = await LoadBalancer.start(
    nodes.map(({ name, address }) => ({ name, address, port: nodePort, healthUrl: `${server.url}/nodes/${name}/healthz` })),
    {
      checkEveryMs: CHECK_EVERY_MS,
      onState: (name, state) => {
        if (state === "unhealthy") onUnhealthy.get(name)?.();
      },
    },
  );
  ends.push(() => balancer.stop());
  await until("all nodes are healthy", () => names.every((name) => balancer.stateOf(name) === "healthy"));
  const held: HeldConnection[] = [];
  for (let i = 0; i < HELD; i++) held.push(await HeldConnection.open(balancer.port));
  await Promise.all(held.map((one) => one.answers()));
  ends.push(() => held.forEach((one) => one.end()));
  const requests = new SteadyRequests(balancer.port);
  ends.push(() => requests.stop());
  const phases = new Phases("before", { nodes: names, balancer, requests, held });
  /** Held connections that are open are used in each phase. */
  const phase = async (): Promise<void> => {
    await sleep(phaseSeconds * 1_000);
    await Promise.all(held.map((one) => one.answers()));
  };

  log(`${String(REQUESTS_PER_SECOND)} requests a second, ${String(HELD)} held connections`);
  await phase();
  log(`${first.name} gets the taint of the autoscaler`);
  onUnhealthy.set(first.name, () => phases.begin(`${first.name} drains: its /healthz is 503`));
  phases.begin(`${first.name} has the taint`);
  await write(server.url, "PATCH", `/api/v1/nodes/${first.name}`, { spec: { taints: [TAINT] } });
  if (gate) await until(`${first.name} drains`, () => balancer.stateOf(first.name) === "unhealthy");
  await phase();
  const deleteNode = () => write(server.url, "DELETE", `/api/v1/nodes/${first.name}`);
  if (gate) {
    log(`the Node of ${first.name} is deleted, then the load balancer loses the target`);
    phases.begin(`${first.name} has no Node any more`);
    await deleteNode();
    await phase();
  } else {
    log(`${first.name} is turned off, then its Node is deleted`);
    phases.begin(`${first.name} is off`);
    await requests.ended();
    await first.kill();
    await sleep(TARGET_GOES_AFTER_MS);
    await deleteNode();
  }
  balancer.remove(first.name);
  phases.begin(`${first.name} is removed`);
  await phase();
  await first.kill();
  log(`the agent of ${second.name} is killed: kill -9`);
  onUnhealthy.set(second.name, () => phases.begin(`${second.name} is silent: its /healthz is 503`));
  phases.begin(`${second.name} has no agent, nobody knows`);
  await requests.ended();
  await second.killAgent();
  await until(`${second.name} is silent`, () => balancer.stateOf(second.name) === "unhealthy");
  await phase();
  await requests.stop();
  phases.end();
  return phases.ended;
}

/** A Service of type LoadBalancer, its pods and their slice. Answers the node port. */
async function service(server: Server, ends: (() => unknown)[]): Promise<number> {
  const port = await freePort();
  const pods: Backend[] = [];
  ends.push(() => pods.forEach((pod) => pod.destroy()));
  for (let i = 1; i <= PODS; i++) pods.push(await tcpBackend(`pod${String(i)}`, podAddress(i), port));
  const ports = [{ name: "tcp", port, protocol: "TCP" }];
  const { spec } = await write<{ spec: { ports: { nodePort: number }[] } }>(server.url, "POST", "/api/v1/namespaces/default/services", {
    metadata: { name: "web" },
    spec: { type: "LoadBalancer", ports },
  });
  await write(server.url, "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "web-a", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    ports,
    endpoints: Array.from({ length: PODS }, (_, i) => ({ addresses: [podIP(i + 1)] })),
  });
  return spec.ports[0]?.nodePort ?? 0;
}
