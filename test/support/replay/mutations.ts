/**
 * Each member of a full object in turn takes values that it must not have: another type, nothing, too much. Dry runs, of a create where the kind has no
 * status and of a write of the status where that is meant.
 */
import { collectionOf, type Kind, KINDS, nameOf, titleOf } from "./kinds";
import { alone, type Case, type Group, MERGE_PATCH, patch, post } from "./step";

type Json = Record<string, unknown>;

const meta = { labels: { a: "b" }, annotations: { a: "b" }, finalizers: ["example.com/a"] };

/** Full objects by `apiVersion kind`. */
const FULL: Record<string, Json> = {
  "v1 Service": {
    spec: {
      type: "LoadBalancer",
      ports: [
        { name: "http", protocol: "TCP", port: 80, targetPort: 8080, nodePort: 30_080, appProtocol: "http" },
        { name: "dns", protocol: "UDP", port: 53, targetPort: "dns" },
      ],
      selector: { app: "a" },
      clusterIP: "10.96.0.177",
      clusterIPs: ["10.96.0.177"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      externalIPs: ["192.0.2.1"],
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 100 } },
      loadBalancerIP: "192.0.2.2",
      loadBalancerSourceRanges: ["192.0.2.0/24"],
      loadBalancerClass: "example.com/a",
      allocateLoadBalancerNodePorts: true,
      externalTrafficPolicy: "Local",
      internalTrafficPolicy: "Local",
      healthCheckNodePort: 30_079,
      publishNotReadyAddresses: true,
      trafficDistribution: "PreferClose",
    },
  },
  "discovery.k8s.io/v1 EndpointSlice": {
    addressType: "IPv4",
    endpoints: [
      {
        addresses: ["192.0.2.1"],
        conditions: { ready: true, serving: true, terminating: false },
        hostname: "h",
        targetRef: { kind: "Pod", namespace: "n", name: "p", uid: "u" },
        deprecatedTopology: { a: "b" },
        nodeName: "n",
        zone: "z",
        hints: { forZones: [{ name: "z" }], forNodes: [{ name: "n" }] },
      },
    ],
    ports: [{ name: "a", protocol: "TCP", port: 80, appProtocol: "http" }],
  },
  "v1 Endpoints": {
    subsets: [
      {
        addresses: [{ ip: "192.0.2.1", hostname: "h", nodeName: "n", targetRef: { kind: "Pod", name: "p" } }],
        notReadyAddresses: [{ ip: "192.0.2.2" }],
        ports: [{ name: "a", port: 80, protocol: "TCP", appProtocol: "http" }],
      },
    ],
  },
  "coordination.k8s.io/v1 Lease": {
    spec: {
      holderIdentity: "h",
      leaseDurationSeconds: 10,
      acquireTime: "2020-01-01T00:00:00.000000Z",
      renewTime: "2020-01-01T00:00:00.000000Z",
      leaseTransitions: 1,
    },
  },
  "networking.k8s.io/v1 IPAddress": { spec: { parentRef: { group: "", resource: "services", namespace: "n", name: "s" } } },
  "networking.k8s.io/v1 ServiceCIDR": { spec: { cidrs: ["10.170.0.0/24", "fd00:170::/112"] } },
  "v1 Event": {
    involvedObject: { kind: "Pod", namespace: "$NS", name: "p", uid: "u", apiVersion: "v1", resourceVersion: "5", fieldPath: "spec" },
    reason: "R",
    message: "m",
    source: { component: "c", host: "h" },
    firstTimestamp: "2020-01-01T00:00:00Z",
    lastTimestamp: "2020-01-01T00:00:00Z",
    count: 1,
    type: "Normal",
    eventTime: "2020-01-01T00:00:00.000000Z",
    series: { count: 2, lastObservedTime: "2020-01-01T00:00:00.000000Z" },
    action: "A",
    related: { kind: "Node", name: "n" },
    reportingComponent: "example.com/c",
    reportingInstance: "i",
  },
  "events.k8s.io/v1 Event": {
    eventTime: "2020-01-01T00:00:00.000000Z",
    series: { count: 2, lastObservedTime: "2020-01-01T00:00:00.000000Z" },
    reportingController: "example.com/c",
    reportingInstance: "i",
    action: "A",
    reason: "R",
    regarding: { kind: "Pod", namespace: "$NS", name: "p" },
    related: { kind: "Node", name: "n" },
    note: "m",
    type: "Normal",
  },
  "v1 ConfigMap": { immutable: false, data: { a: "1" }, binaryData: { b: "MQ==" } },
  "v1 Secret": { immutable: false, data: { a: "MQ==" }, stringData: { b: "2" }, type: "example.com/a" },
  "v1 ServiceAccount": { secrets: [{ name: "s" }], imagePullSecrets: [{ name: "s" }], automountServiceAccountToken: true },
  "v1 ResourceQuota": {
    spec: {
      hard: { pods: "5", "requests.cpu": "1", "count/services": "3" },
      scopes: ["NotTerminating"],
      scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["a"] }] },
    },
  },
  "v1 Namespace": { spec: { finalizers: ["kubernetes"] } },
  "v1 Node": {
    spec: {
      podCIDR: "10.244.0.0/24",
      podCIDRs: ["10.244.0.0/24"],
      providerID: "x://a",
      unschedulable: true,
      taints: [{ key: "a", value: "b", effect: "NoSchedule" }],
      configSource: { configMap: { namespace: "n", name: "c", kubeletConfigKey: "k" } },
    },
    status: { capacity: { cpu: "1" }, allocatable: { cpu: "1" } },
  },
  "rbac.authorization.k8s.io/v1 Role": {
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] }],
  },
  "rbac.authorization.k8s.io/v1 ClusterRole": {
    rules: [
      { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
      { verbs: ["get"], nonResourceURLs: ["/a"] },
    ],
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { a: "b" }, matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] }],
    },
  },
  "rbac.authorization.k8s.io/v1 RoleBinding": {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
    subjects: [
      { kind: "ServiceAccount", namespace: "n", name: "s" },
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "u" },
    ],
  },
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": {
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
    subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "g" }],
  },
  "v1 Pod": {
    spec: {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      activeDeadlineSeconds: 100,
      dnsPolicy: "ClusterFirst",
      nodeSelector: { a: "b" },
      serviceAccountName: "s",
      automountServiceAccountToken: true,
      nodeName: "n",
      hostname: "h",
      subdomain: "s",
      priority: 0,
      enableServiceLinks: true,
      tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
      hostAliases: [{ ip: "192.0.2.1", hostnames: ["h"] }],
      dnsConfig: { nameservers: ["192.0.2.1"], searches: ["a.b"], options: [{ name: "ndots", value: "1" }] },
      readinessGates: [{ conditionType: "example.com/a" }],
      securityContext: { runAsUser: 1, fsGroup: 2, supplementalGroups: [3], sysctls: [{ name: "a.b", value: "1" }] },
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "c", configMap: { name: "c", defaultMode: 420, items: [{ key: "k", path: "p", mode: 420 }] } },
      ],
      initContainers: [{ name: "i", image: "i", restartPolicy: "Always" }],
      containers: [
        {
          name: "c",
          image: "i",
          command: ["c"],
          args: ["a"],
          workingDir: "/",
          ports: [{ name: "http", containerPort: 80, hostPort: 0, protocol: "TCP" }],
          env: [
            { name: "A", value: "b" },
            { name: "B", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
          ],
          resources: { requests: { cpu: "1" }, limits: { cpu: "1" } },
          volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true }],
          livenessProbe: { httpGet: { path: "/", port: 80, scheme: "HTTP" }, periodSeconds: 5, failureThreshold: 3 },
          readinessProbe: { exec: { command: ["c"] } },
          lifecycle: { preStop: { sleep: { seconds: 1 } } },
          terminationMessagePath: "/m",
          terminationMessagePolicy: "File",
          imagePullPolicy: "Always",
          securityContext: { runAsNonRoot: true, capabilities: { add: ["A"] } },
          stdin: true,
        },
      ],
    },
  },
};

/** Statuses by kind. */
const STATUS: Record<string, Json> = {
  Service: {
    loadBalancer: { ingress: [{ ip: "192.0.2.1", hostname: "", ipMode: "VIP", ports: [{ port: 80, protocol: "TCP", error: "a/B" }] }] },
    conditions: [
      { type: "a/B", status: "True", reason: "R", message: "m", observedGeneration: 1, lastTransitionTime: "2020-01-01T00:00:00Z" },
    ],
  },
  ServiceCIDR: {
    conditions: [
      { type: "Other", status: "True", reason: "R", message: "m", observedGeneration: 1, lastTransitionTime: "2020-01-01T00:00:00Z" },
    ],
  },
  ResourceQuota: { hard: { pods: "5" }, used: { pods: "1" } },
  Namespace: {
    phase: "Active",
    conditions: [{ type: "A", status: "True", reason: "R", message: "m", lastTransitionTime: "2020-01-01T00:00:00Z" }],
  },
  Node: {
    capacity: { cpu: "1", "example.com/a": "1" },
    allocatable: { cpu: "1" },
    phase: "Running",
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "R",
        message: "m",
        lastHeartbeatTime: "2020-01-01T00:00:00Z",
        lastTransitionTime: "2020-01-01T00:00:00Z",
      },
    ],
    addresses: [{ type: "InternalIP", address: "192.0.2.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: { machineID: "m", bootID: "b" },
    images: [{ names: ["i"], sizeBytes: 5 }],
  },
  Pod: {
    phase: "Running",
    conditions: [
      { type: "Ready", status: "True", reason: "R", message: "m", lastProbeTime: null, lastTransitionTime: "2020-01-01T00:00:00Z" },
    ],
    message: "m",
    reason: "r",
    hostIP: "192.0.2.1",
    podIP: "192.0.2.2",
    podIPs: [{ ip: "192.0.2.2" }],
    startTime: "2020-01-01T00:00:00Z",
    qosClass: "BestEffort",
    containerStatuses: [
      {
        name: "a",
        ready: true,
        restartCount: 0,
        image: "i",
        imageID: "",
        containerID: "x://a",
        started: true,
        state: { running: { startedAt: "2020-01-01T00:00:00Z" } },
      },
    ],
  },
};

/** What a member becomes, by the type that it has. */
function wrongValues(value: unknown): Record<string, unknown> {
  if (Array.isArray(value))
    return {
      null: null,
      "a map": {},
      "a text": "a",
      "an empty list": [],
      "a null in it": [null],
      twice: [...(value as unknown[]), ...(value as unknown[])],
    };
  if (typeof value === "object" && value !== null)
    return { null: null, "a list": [], "a number": 5, "an empty map": {}, "more in it": { ...value, unknown: 1 } };
  if (typeof value === "number")
    return { null: null, "a text": "a", "a fraction": 1.5, negative: -1, "2^31": 2_147_483_648, zero: 0, "70000": 70_000 };
  if (typeof value === "boolean") return { null: null, "a text": "true", "a number": 1 };
  return { null: null, "a number": 5, "a map": {}, empty: "", "a b!": "a b!", "300 characters": "x".repeat(300) };
}

interface Place {
  path: readonly (string | number)[];
  value: unknown;
}

function* placesIn(value: unknown, path: readonly (string | number)[] = []): Generator<Place> {
  if (path.length > 0) yield { path, value };
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) yield* placesIn(member, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** A copy with another value at a place. */
function withValue(object: unknown, [key, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (key === undefined) return value;
  const copy = (Array.isArray(object) ? [...(object as unknown[])] : { ...(object as Json) }) as Json;
  copy[key] = withValue(copy[key], rest, value);
  return copy;
}

/** Kinds with very many members take each wrong value at some of the places alone. */
const SAMPLED: Record<string, number> = { Pod: 3, Node: 2 };

export const mutationGroups: readonly Group[] = KINDS.flatMap((kind): Group[] => {
  const full = FULL[`${kind.apiVersion} ${kind.kind}`];
  const status = STATUS[kind.kind];
  return [
    ...(full === undefined ? [] : [{ name: `members-${titleOf(kind)}`, cases: [...memberCases(kind, full)] }]),
    ...(status === undefined || kind.apiVersion.endsWith("v1beta1")
      ? []
      : [{ name: `status-${titleOf(kind)}`, cases: [...statusCases(kind, status)] }]),
  ];
});

function* wrong(object: Json, every: number): Generator<{ name: string; object: Json }> {
  let n = 0;
  for (const { path, value } of placesIn(object)) {
    for (const [name, instead] of Object.entries(wrongValues(value))) {
      if (n++ % every === 0) yield { name: `${path.join(".")}: ${name}`, object: withValue(object, path, instead) as Json };
    }
  }
}

function* memberCases(kind: Kind, full: Json): Generator<Case> {
  const group = `members-${titleOf(kind)}`;
  const path = `${collectionOf(kind)}?dryRun=All`;
  let n = 0;
  const create = (object: Json) =>
    post(path, { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: nameOf(kind, group, n++), ...meta }, ...object });
  yield alone("full", create(full));
  for (const { name, object } of wrong(full, SAMPLED[kind.kind] ?? 1)) yield alone(name, create(object));
}

function* statusCases(kind: Kind, status: Json): Generator<Case> {
  const name = nameOf(kind, `status-${titleOf(kind)}`, 1);
  const path = `${collectionOf(kind)}/${name}`;
  yield alone("made", post(collectionOf(kind), { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...kind.sample(1) }));
  yield alone("full", patch(`${path}/status?dryRun=All`, MERGE_PATCH, { status }));
  for (const { name: what, object } of wrong(status, SAMPLED[kind.kind] ?? 1)) {
    yield alone(what, patch(`${path}/status?dryRun=All`, MERGE_PATCH, { status: object }));
  }
}
