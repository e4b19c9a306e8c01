/** Services and EndpointSlices as proxies read them; what a test does not talk about has its usual value. */
import type { EndpointSlice, Service } from "../../../src/api/meta/kubernetes";

type Labels = Record<string, string>;
export type SliceEndpoint = EndpointSlice["endpoints"][number];

export function aService(
  name: string,
  spec: Service["spec"] = {},
  more: { labels?: Labels; ingress?: { ip?: string; ipMode?: string }[] } = {},
): Service {
  const { labels, ingress } = more;
  return {
    metadata: { namespace: "default", name, ...(labels ? { labels } : {}) },
    spec: {
      type: "ClusterIP",
      clusterIP: "10.96.0.5",
      clusterIPs: ["10.96.0.5"],
      ports: [{ name: "http", protocol: "TCP", port: 80 }],
      ...spec,
    },
    status: { loadBalancer: ingress ? { ingress } : {} },
  };
}

export function aSlice(
  name: string,
  service: string,
  endpoints: SliceEndpoint[],
  more: Partial<EndpointSlice> & { labels?: Labels } = {},
): EndpointSlice {
  const { labels, ...members } = more;
  return {
    metadata: { namespace: "default", name, labels: { "kubernetes.io/service-name": service, ...labels } },
    addressType: "IPv4",
    ports: [{ name: "http", protocol: "TCP", port: 8080 }],
    endpoints,
    ...members,
  };
}

/** `state` as a slice's conditions say it. */
export function anEndpoint(ip: string, state: EndpointState = "ready", more: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return { addresses: [ip], conditions: CONDITIONS[state], ...more };
}

export type EndpointState = "ready" | "notReady" | "servingLast" | "ending" | "published";

const CONDITIONS: Record<EndpointState, NonNullable<SliceEndpoint["conditions"]>> = {
  ready: { ready: true, serving: true, terminating: false },
  notReady: { ready: false, serving: false, terminating: false },
  /** terminating, and still answering */
  servingLast: { ready: false, serving: true, terminating: true },
  ending: { ready: false, serving: false, terminating: true },
  /** terminating, of a Service with publishNotReadyAddresses */
  published: { ready: true, serving: true, terminating: true },
};
