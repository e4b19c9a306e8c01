import { type Api, STRATEGIC_PATCH } from "./api";

const PODS = "/api/v1/namespaces/default/pods";

/** Makes a Pod with the label `app: web` that runs on the Node `n1`, and waits for nothing. */
export async function runningPod(api: Api, name: string, ip: string): Promise<void> {
  const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
  await api.must("POST", PODS, { body: { metadata: { name, labels: { app: "web" } }, spec } });
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] };
  await api.must("PATCH", `${PODS}/${name}/status`, { body: { status }, headers: { "Content-Type": STRATEGIC_PATCH } });
}
