/** What the suites about EndpointSlices share: a Node, Pods that clients create and change, and Services that select them. */
import { send } from "../../cluster/send";
import type { PodLoad } from "./load-processes/pod-load-process";
import { type LoadedServer, runLoadProcess, targetOf } from "./started";

export const SERVICES = "/api/v1/namespaces/default/services";
export const PODS = "/api/v1/namespaces/default/pods";
export const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
export const NODE = "node-1";
const CONNECTIONS = 100;

/** For the server: nobody renews the Lease of the Node, and no controller minds. */
export const NODE_IS_A_NAME = ["--var", "CONTROLLERS=*,-node-lifecycle-controller"];
/** The same, and none of the controllers of endpoints. */
export const NO_CONTROLLERS = [
  "--var",
  "CONTROLLERS=*,-node-lifecycle-controller,-endpointslice-controller,-endpoints-controller,-endpointslice-mirroring-controller",
];

/** A Service that selects the Pods with the label `app`. */
export function serviceOf(name: string, app: string): object {
  return { metadata: { name }, spec: { selector: { app }, ports: [{ port: 80, targetPort: 8080 }] } };
}

export function makeNode(server: LoadedServer): Promise<void> {
  return write(server, "POST", "/api/v1/nodes", { metadata: { name: NODE, labels: { "topology.kubernetes.io/zone": "zone-a" } } });
}

/** One load of Pods, by 100 clients; answers writes per second. */
export async function loadPods(
  server: LoadedServer,
  load: Pick<PodLoad, "verb" | "from" | "count" | "app"> & Partial<PodLoad>,
): Promise<number> {
  const whole = { connections: CONNECTIONS, node: NODE, ...load };
  const { elapsedMs } = await runLoadProcess<typeof whole, { elapsedMs: number }>(server, "pod-load-process.ts", whole);
  return load.count / (elapsedMs / 1_000);
}

/** Creates Pods, then says that they are ready; answers writes per second. */
export async function readyPods(
  server: LoadedServer,
  pods: Pick<PodLoad, "from" | "count" | "app">,
): Promise<{ create: number; status: number }> {
  const create = await loadPods(server, { verb: "create", ...pods });
  const status = await loadPods(server, { verb: "status", ...pods });
  return { create, status };
}

/** One Pod is ready, or no longer. */
export function setReady(server: LoadedServer, pod: number, isReady: boolean): Promise<void> {
  return write(server, "PATCH", `${PODS}/pod-${String(pod)}/status`, {
    status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  });
}

/** Throws unless the write is taken. A PATCH is a strategic merge. */
export async function write(server: LoadedServer, method: string, path: string, body?: object): Promise<void> {
  const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
  const { status, text } = await send(targetOf(server), method, path, body, type);
  if (status >= 300) throw new Error(`${method} ${path}: ${String(status)} ${text}`);
}

export function kib(bytes: number): string {
  return `${Math.round(bytes / 1_024).toLocaleString("en-US")} KiB`;
}
