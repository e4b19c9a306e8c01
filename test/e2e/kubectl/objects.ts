/** Manifests for the kubectl suite, as a user would write them. */

interface Metadata {
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: object[];
  resourceVersion?: string;
}

export const service = (name: string, spec: object = { ports: [{ name: "http", port: 80 }] }, metadata: Metadata = {}) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, ...metadata },
  spec,
});

export const lease = (name: string, spec: object = {}, metadata: Metadata = {}) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, ...metadata },
  spec,
});

export const serviceCIDR = (name: string, cidrs: string[]) => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "ServiceCIDR",
  metadata: { name },
  spec: { cidrs },
});

export const node = (name: string, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { "kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": "" } },
  spec: { podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24"], providerID: `test://${name}`, ...spec },
  status: {
    capacity: { cpu: "4", memory: "8Gi", pods: "110" },
    allocatable: { cpu: "3", memory: "7Gi", pods: "110" },
    addresses: [
      { type: "InternalIP", address: "192.0.2.1" },
      { type: "Hostname", address: name },
    ],
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "kubelet is posting ready status",
        lastHeartbeatTime: "2024-01-01T00:00:00Z",
        lastTransitionTime: "2024-01-01T00:00:00Z",
      },
    ],
    nodeInfo: {
      machineID: "m1",
      systemUUID: "u1",
      bootID: "b1",
      kernelVersion: "6.1.0",
      osImage: "Linux",
      containerRuntimeVersion: "containerd://2.0.0",
      kubeletVersion: "v1.36.2",
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  },
});

export const pod = (name: string, spec: object = {}, metadata: Metadata = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: {
    containers: [
      {
        name: "main",
        image: "example.com/main:1",
        ports: [{ containerPort: 8080 }],
        resources: { requests: { cpu: "500m", memory: "1Gi" } },
      },
    ],
    ...spec,
  },
});

export const endpointSlice = (name: string, ofService: string) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name, labels: { "kubernetes.io/service-name": ofService } },
  addressType: "IPv4",
  ports: [
    { name: "http", port: 8080, protocol: "TCP" },
    { name: "https", port: 8443, protocol: "TCP" },
  ],
  endpoints: [
    {
      addresses: ["10.1.0.1"],
      conditions: { ready: true },
      nodeName: "n1",
      zone: "z1",
      targetRef: { kind: "Pod", name: "p1", namespace: "default" },
    },
    { addresses: ["10.1.0.2"], conditions: { ready: false } },
  ],
});

export const endpoints = (name: string) => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { name },
  subsets: [{ addresses: [{ ip: "192.0.2.5" }], ports: [{ port: 80 }] }],
});

/** An event about a Service, unless another object is told. */
export const event = (name: string, type: "Normal" | "Warning", message: string, involved: object = {}) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name, namespace: "default" },
  involvedObject: { apiVersion: "v1", kind: "Service", namespace: "default", name: "web", ...involved },
  reason: "Tested",
  message,
  type,
  source: { component: "tester" },
  firstTimestamp: "2024-01-01T00:00:00Z",
  lastTimestamp: "2024-01-01T00:00:00Z",
  count: 2,
});

/** One file with several objects. */
export const list = (...items: object[]) => ({ apiVersion: "v1", kind: "List", items });
