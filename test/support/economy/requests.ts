/** The requests whose cost is counted: the same in the counting tests and in `npm run model`. */

export const PATHS = {
  services: "/api/v1/namespaces/default/services",
  pods: "/api/v1/namespaces/default/pods",
  events: "/api/v1/namespaces/default/events",
  nodes: "/api/v1/nodes",
  leases: "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
  slices: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
} as const;

/** Has no Pods unless their label `app` is its name. */
export const service = (name: string) => ({ metadata: { name }, spec: { selector: { app: name }, ports: [{ port: 80 }] } });

/** A Pod of the Service `web` on the Node `n1`. */
export const pod = (name: string) => ({
  metadata: { name, labels: { app: "web" } },
  spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
});

/** The status of such a Pod that has begun. */
export const ready = (ip: string) => ({
  status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status: "True" }] },
});

export const event = (name: string) => ({
  metadata: { name },
  involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "default", name: "web-0" },
  reason: "Started",
  type: "Normal",
});

/** The Lease of a node, as kubelet makes it: owned by its Node. */
export function heartbeat(name: string, nodeUid: string | undefined, renewTime: string) {
  const owner = { apiVersion: "v1", kind: "Node", name: "n1", uid: nodeUid };
  return { metadata: { name, ownerReferences: [owner] }, spec: { holderIdentity: "n1", leaseDurationSeconds: 40, renewTime } };
}
