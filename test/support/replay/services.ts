/** Services: combinations of members that judge one another, and changes from one type to another. */
import { type Case, get, type Group, JSON_PATCH, MERGE_PATCH, patch, post, put, remove, STRATEGIC_PATCH, alone } from "./step";

type Json = Record<string, unknown>;

const services = "/api/v1/namespaces/$NS/services";
const dry = `${services}?dryRun=All`;
const web = [{ port: 80 }];

/** Specs that are created; what is dynamic in them is named by the server. */
const CREATED: Record<string, Json> = {
  ClusterIP: { ports: web },
  "two ports": {
    ports: [
      { name: "a", port: 80 },
      { name: "b", port: 443, targetPort: "https" },
    ],
  },
  "two ports of one number": {
    ports: [
      { name: "a", port: 53, protocol: "TCP" },
      { name: "b", port: 53, protocol: "UDP" },
    ],
  },
  SCTP: { ports: [{ port: 80, protocol: "SCTP" }] },
  headless: { clusterIP: "None", ports: web },
  "headless without ports": { clusterIP: "None" },
  "headless, with a selector": { clusterIP: "None", selector: { a: "b" } },
  "headless by clusterIPs": { clusterIPs: ["None"] },
  "headless of both families": { clusterIP: "None", ipFamilyPolicy: "PreferDualStack" },
  "headless, RequireDualStack, no selector": { clusterIP: "None", ipFamilyPolicy: "RequireDualStack" },
  "headless, IPv6, no selector": { clusterIP: "None", ipFamilies: ["IPv6"] },
  "a fixed address": { ports: web, clusterIP: "10.96.0.140" },
  "a fixed address in clusterIPs alone": { ports: web, clusterIPs: ["10.96.0.141"] },
  PreferDualStack: { ports: web, ipFamilyPolicy: "PreferDualStack" },
  NodePort: { type: "NodePort", ports: web },
  "NodePort, a fixed port": { type: "NodePort", ports: [{ port: 80, nodePort: 30_001 }] },
  "NodePort, one port for both protocols": {
    type: "NodePort",
    ports: [
      { name: "a", port: 53, protocol: "TCP", nodePort: 30_002 },
      { name: "b", port: 53, protocol: "UDP", nodePort: 30_002 },
    ],
  },
  "NodePort, Local": { type: "NodePort", ports: web, externalTrafficPolicy: "Local" },
  LoadBalancer: { type: "LoadBalancer", ports: web },
  "LoadBalancer, Local": { type: "LoadBalancer", ports: web, externalTrafficPolicy: "Local" },
  "LoadBalancer, Local, a fixed check port": {
    type: "LoadBalancer",
    ports: web,
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 30_003,
  },
  "LoadBalancer without node ports": { type: "LoadBalancer", ports: web, allocateLoadBalancerNodePorts: false },
  "LoadBalancer of a class": { type: "LoadBalancer", ports: web, loadBalancerClass: "example.com/a" },
  "LoadBalancer with ranges": {
    type: "LoadBalancer",
    ports: web,
    loadBalancerSourceRanges: ["192.0.2.0/24", " 198.51.100.0/24 "],
    loadBalancerIP: "192.0.2.7",
  },
  ExternalName: { type: "ExternalName", externalName: "example.com" },
  "ExternalName with a dot at the end": { type: "ExternalName", externalName: "example.com." },
  "ExternalName with ports": { type: "ExternalName", externalName: "example.com", ports: web },
  ClientIP: { ports: web, sessionAffinity: "ClientIP" },
  externalIPs: { ports: web, externalIPs: ["192.0.2.1", "2001:db8::1"] },
  internalTrafficPolicy: { ports: web, internalTrafficPolicy: "Local" },
  trafficDistribution: { ports: web, trafficDistribution: "PreferSameNode" },
  "everything null": { ports: web, clusterIP: null, clusterIPs: null, type: null, selector: null, ipFamilies: null, sessionAffinity: null },
};

/** Specs that are refused, or taken with a warning; tried as dry runs. */
const TRIED: Record<string, Json> = {
  "no ports": {},
  "ports empty": { ports: [] },
  "port 0": { ports: [{ port: 0 }] },
  "port 65536": { ports: [{ port: 65_536 }] },
  "port negative": { ports: [{ port: -1 }] },
  "port a text": { ports: [{ port: "80" }] },
  "port missing": { ports: [{}] },
  "targetPort 0": { ports: [{ port: 80, targetPort: 0 }] },
  "targetPort 65536": { ports: [{ port: 80, targetPort: 65_536 }] },
  "targetPort a long name": { ports: [{ port: 80, targetPort: "a".repeat(16) }] },
  "targetPort an uppercase name": { ports: [{ port: 80, targetPort: "Http" }] },
  "targetPort digits": { ports: [{ port: 80, targetPort: "80" }] },
  "targetPort two dashes": { ports: [{ port: 80, targetPort: "a--b" }] },
  "targetPort true": { ports: [{ port: 80, targetPort: true }] },
  "protocol unknown": { ports: [{ port: 80, protocol: "ICMP" }] },
  "protocol in lower case": { ports: [{ port: 80, protocol: "tcp" }] },
  "protocol empty": { ports: [{ port: 80, protocol: "" }] },
  "two ports without names": { ports: [{ port: 80 }, { port: 81 }] },
  "two ports of one name": {
    ports: [
      { name: "a", port: 80 },
      { name: "a", port: 81 },
    ],
  },
  "two equal ports": {
    ports: [
      { name: "a", port: 80 },
      { name: "b", port: 80 },
    ],
  },
  "name of a port uppercase": { ports: [{ name: "A", port: 80 }] },
  "name of a port too long": { ports: [{ name: "a".repeat(64), port: 80 }] },
  "appProtocol not a name": { ports: [{ port: 80, appProtocol: "a b" }] },
  "nodePort of a ClusterIP": { ports: [{ port: 80, nodePort: 30_004 }] },
  "nodePort outside": { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
  "nodePort 65536": { type: "NodePort", ports: [{ port: 80, nodePort: 65_536 }] },
  "nodePort negative": { type: "NodePort", ports: [{ port: 80, nodePort: -1 }] },
  "nodePort twice": {
    type: "NodePort",
    ports: [
      { name: "a", port: 80, nodePort: 30_005 },
      { name: "b", port: 81, nodePort: 30_005 },
    ],
  },
  "NodePort, headless": { type: "NodePort", ports: web, clusterIP: "None" },
  "LoadBalancer, headless": { type: "LoadBalancer", ports: web, clusterIP: "None" },
  "LoadBalancer without ports": { type: "LoadBalancer" },
  "LoadBalancer, port of the kubelet": { type: "LoadBalancer", ports: [{ port: 10_250 }] },
  "type unknown": { type: "Other", ports: web },
  "type empty": { type: "", ports: web },
  "ExternalName without a name": { type: "ExternalName" },
  "ExternalName with an address": { type: "ExternalName", externalName: "192.0.2.1" },
  "ExternalName not a name": { type: "ExternalName", externalName: "a b" },
  "ExternalName uppercase": { type: "ExternalName", externalName: "Example.com" },
  "ExternalName with a ClusterIP": { type: "ExternalName", externalName: "a.b", clusterIP: "10.96.0.201" },
  "ExternalName, headless": { type: "ExternalName", externalName: "a.b", clusterIP: "None" },
  "ExternalName with families": { type: "ExternalName", externalName: "a.b", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  "ExternalName with externalTrafficPolicy": { type: "ExternalName", externalName: "a.b", externalTrafficPolicy: "Local" },
  "ExternalName with internalTrafficPolicy": { type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "Local" },
  "externalName of a ClusterIP": { ports: web, externalName: "a.b" },
  "clusterIP no address": { ports: web, clusterIP: "x" },
  "clusterIP with zeros": { ports: web, clusterIP: "010.096.001.001" },
  "clusterIP outside": { ports: web, clusterIP: "192.0.2.1" },
  "clusterIP of another family": { ports: web, clusterIP: "2001:db8::1" },
  "clusterIP of the network": { ports: web, clusterIP: "10.96.0.0" },
  "clusterIP of the broadcast": { ports: web, clusterIP: "10.96.255.255" },
  "clusterIP of kubernetes": { ports: web, clusterIP: "10.96.0.1" },
  "clusterIP none": { ports: web, clusterIP: "none" },
  "clusterIPs unlike clusterIP": { ports: web, clusterIP: "10.96.0.201", clusterIPs: ["10.96.0.202"] },
  "clusterIPs of one family": { ports: web, clusterIPs: ["10.96.0.201", "10.96.0.202"] },
  "three clusterIPs": { ports: web, clusterIPs: ["10.96.0.201", "fd00::1", "10.96.0.202"] },
  "clusterIPs with an empty one": { ports: web, clusterIPs: [""] },
  "clusterIPs with None and an address": { ports: web, clusterIPs: ["None", "10.96.0.201"] },
  "clusterIPs of both families": { ports: web, clusterIPs: ["10.96.0.201", "fd00::1"] },
  "clusterIP with clusterIPs of a prefix": { ports: web, clusterIPs: ["10.96.0.201/32"] },
  "ipFamilies unknown": { ports: web, ipFamilies: ["IPv5"] },
  "ipFamilies twice": { ports: web, ipFamilies: ["IPv4", "IPv4"] },
  "ipFamilies both": { ports: web, ipFamilies: ["IPv4", "IPv6"] },
  "ipFamilies both, RequireDualStack": { ports: web, ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" },
  "ipFamilies three": { ports: web, ipFamilies: ["IPv4", "IPv6", "IPv4"] },
  "ipFamilies IPv6": { ports: web, ipFamilies: ["IPv6"] },
  "ipFamilies IPv6, PreferDualStack": { ports: web, ipFamilies: ["IPv6"], ipFamilyPolicy: "PreferDualStack" },
  "ipFamilies unlike clusterIP": { ports: web, ipFamilies: ["IPv6"], clusterIP: "10.96.0.201" },
  "SingleStack with both": { ports: web, ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "SingleStack" },
  RequireDualStack: { ports: web, ipFamilyPolicy: "RequireDualStack" },
  "ipFamilyPolicy unknown": { ports: web, ipFamilyPolicy: "Other" },
  "ipFamilyPolicy empty": { ports: web, ipFamilyPolicy: "" },
  "externalIPs no address": { ports: web, externalIPs: ["x"] },
  "externalIPs loopback": { ports: web, externalIPs: ["127.0.0.1"] },
  "externalIPs link-local": { ports: web, externalIPs: ["169.254.1.1", "224.0.0.1", "0.0.0.0", "fe80::1", "::", "ff02::1"] },
  "externalIPs with zeros": { ports: web, externalIPs: ["192.000.002.001"] },
  "externalIPs not canonical": { ports: web, externalIPs: ["2001:DB8:0::1", "::ffff:192.0.2.1"] },
  "sessionAffinity unknown": { ports: web, sessionAffinity: "Cookie" },
  "sessionAffinity None with a config": { ports: web, sessionAffinity: "None", sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
  "ClientIP timeout 0": { ports: web, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
  "ClientIP timeout above a day": {
    ports: web,
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
  },
  "ClientIP without clientIP": { ports: web, sessionAffinity: "ClientIP", sessionAffinityConfig: {} },
  "ClientIP timeout missing": { ports: web, sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: {} } },
  "sessionAffinity of headless": { clusterIP: "None", sessionAffinity: "ClientIP" },
  "externalTrafficPolicy of a ClusterIP": { ports: web, externalTrafficPolicy: "Cluster" },
  "externalTrafficPolicy of externalIPs": { ports: web, externalTrafficPolicy: "Local", externalIPs: ["192.0.2.1"] },
  "externalTrafficPolicy unknown": { type: "NodePort", ports: web, externalTrafficPolicy: "Other" },
  "externalTrafficPolicy empty": { type: "NodePort", ports: web, externalTrafficPolicy: "" },
  "internalTrafficPolicy unknown": { ports: web, internalTrafficPolicy: "Other" },
  "internalTrafficPolicy empty": { ports: web, internalTrafficPolicy: "" },
  "healthCheckNodePort of a ClusterIP": { ports: web, healthCheckNodePort: 30_006 },
  "healthCheckNodePort, Cluster": { type: "LoadBalancer", ports: web, healthCheckNodePort: 30_006 },
  "healthCheckNodePort negative": { type: "LoadBalancer", ports: web, externalTrafficPolicy: "Local", healthCheckNodePort: -1 },
  "healthCheckNodePort as a node port": {
    type: "LoadBalancer",
    ports: [{ port: 80, nodePort: 30_006 }],
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 30_006,
  },
  "loadBalancerClass of a ClusterIP": { ports: web, loadBalancerClass: "a/b" },
  "loadBalancerClass not a name": { type: "LoadBalancer", ports: web, loadBalancerClass: "a b" },
  "loadBalancerClass empty": { type: "LoadBalancer", ports: web, loadBalancerClass: "" },
  "loadBalancerIP of a ClusterIP": { ports: web, loadBalancerIP: "192.0.2.1" },
  "loadBalancerIP no address": { type: "LoadBalancer", ports: web, loadBalancerIP: "x" },
  "loadBalancerSourceRanges of a ClusterIP": { ports: web, loadBalancerSourceRanges: ["192.0.2.0/24"] },
  "loadBalancerSourceRanges no prefix": {
    type: "LoadBalancer",
    ports: web,
    loadBalancerSourceRanges: ["192.0.2.1", "x", "192.0.2.1/24", ""],
  },
  "allocateLoadBalancerNodePorts of a ClusterIP": { ports: web, allocateLoadBalancerNodePorts: true },
  "trafficDistribution unknown": { ports: web, trafficDistribution: "Other" },
  "trafficDistribution of headless": { clusterIP: "None", trafficDistribution: "PreferClose" },
  "selector not labels": { ports: web, selector: { "a b": "c", d: "e f" } },
  "selector null in it": { ports: web, selector: { a: null } },
  "publishNotReadyAddresses a text": { ports: web, publishNotReadyAddresses: "yes" },
  "unknown in it": { ports: [{ port: 80, unknown: 1 }], unknown: 2 },
  topologyKeys: { ports: web, topologyKeys: ["*"], ipFamily: "IPv4" },
  "many mistakes": {
    type: "NodePort",
    ports: [{ name: "A", port: 0, protocol: "X", nodePort: -1, targetPort: 0 }],
    sessionAffinity: "X",
    clusterIP: "x",
    externalIPs: ["x"],
    internalTrafficPolicy: "X",
  },
};

const ANNOTATIONS: Record<string, Record<string, string>> = {
  "source ranges": { "service.beta.kubernetes.io/load-balancer-source-ranges": "192.0.2.0/24,x" },
  "topology mode": { "service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "Auto" },
  "tolerate unready": { "service.alpha.kubernetes.io/tolerate-unready-endpoints": "true" },
};

/** From one spec to another by a PUT; `null` members are left out of the second. */
const TYPES: Record<string, Json> = {
  ClusterIP: { type: "ClusterIP", ports: web },
  Headless: { type: "ClusterIP", ports: web, clusterIP: "None" },
  NodePort: { type: "NodePort", ports: web },
  LoadBalancer: { type: "LoadBalancer", ports: web },
  "LoadBalancer-Local": { type: "LoadBalancer", ports: web, externalTrafficPolicy: "Local" },
  "LoadBalancer-bare": { type: "LoadBalancer", ports: web, allocateLoadBalancerNodePorts: false },
  "LoadBalancer-class": { type: "LoadBalancer", ports: web, loadBalancerClass: "example.com/a" },
  ExternalName: { type: "ExternalName", externalName: "example.com" },
};

/** Changes of a Service that is there. */
const PATCHES: readonly (readonly [name: string, spec: Json, ...patches: Json[]])[] = [
  [
    "another address",
    { ports: web, clusterIP: "10.96.0.142" },
    { clusterIP: "10.96.0.143" },
    { clusterIPs: ["10.96.0.143"] },
    { clusterIP: "10.96.0.143", clusterIPs: ["10.96.0.143"] },
  ],
  ["no address", { ports: web }, { clusterIP: null }, { clusterIP: "" }, { clusterIP: null, clusterIPs: null }, { clusterIPs: [] }],
  ["to headless", { ports: web }, { clusterIP: "None" }, { clusterIP: "None", clusterIPs: ["None"] }],
  [
    "other families",
    { ports: web },
    { ipFamilies: ["IPv6"] },
    { ipFamilies: null },
    { ipFamilies: ["IPv4", "IPv6"] },
    { ipFamilyPolicy: "PreferDualStack" },
    { ipFamilyPolicy: "RequireDualStack" },
    { ipFamilyPolicy: null },
  ],
  [
    "another class",
    { type: "LoadBalancer", ports: web, loadBalancerClass: "a/b" },
    { loadBalancerClass: "a/c" },
    { loadBalancerClass: null },
    { type: "NodePort" },
    { type: "ClusterIP", loadBalancerClass: null },
  ],
  ["a class afterwards", { type: "LoadBalancer", ports: web }, { loadBalancerClass: "a/b" }],
  [
    "another check port",
    { type: "LoadBalancer", ports: web, externalTrafficPolicy: "Local" },
    { healthCheckNodePort: 30_007 },
    { healthCheckNodePort: 0 },
    { externalTrafficPolicy: "Cluster" },
    { externalTrafficPolicy: "Cluster", healthCheckNodePort: null },
    { externalTrafficPolicy: "Local" },
  ],
  [
    "another node port",
    { type: "NodePort", ports: [{ port: 80, nodePort: 30_008 }] },
    { ports: [{ port: 80, nodePort: 30_009 }] },
    { ports: [{ port: 80 }] },
    { ports: [{ port: 80, nodePort: 0 }] },
    { ports: [{ port: 81, nodePort: 30_009 }] },
  ],
  [
    "more ports",
    { type: "NodePort", ports: [{ name: "a", port: 80 }] },
    {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    },
    {
      ports: [
        { name: "b", port: 81 },
        { name: "a", port: 80 },
      ],
    },
    { ports: [] },
    { ports: null },
  ],
  [
    "affinity",
    { ports: web },
    { sessionAffinity: "ClientIP" },
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } } },
    { sessionAffinity: "None" },
    { sessionAffinity: "None", sessionAffinityConfig: null },
  ],
  [
    "policies",
    { type: "NodePort", ports: web },
    { internalTrafficPolicy: "Local" },
    { externalTrafficPolicy: "Local" },
    { internalTrafficPolicy: null, externalTrafficPolicy: null },
    { type: "ClusterIP" },
    { trafficDistribution: "PreferClose" },
  ],
  [
    "allocation of node ports",
    { type: "LoadBalancer", ports: web },
    { allocateLoadBalancerNodePorts: false },
    { ports: [{ port: 80, nodePort: 0 }] },
    { allocateLoadBalancerNodePorts: true },
    { allocateLoadBalancerNodePorts: null },
  ],
  [
    "external name",
    { type: "ExternalName", externalName: "a.b" },
    { externalName: "c.d" },
    { externalName: null },
    { type: "ClusterIP" },
    { type: "ClusterIP", ports: web, externalName: null },
  ],
];

function* createdCases(): Generator<Case> {
  for (const [index, [name, spec]] of Object.entries(CREATED).entries()) {
    const path = `${services}/s${String(index)}`;
    const body = { metadata: { name: `s${String(index)}` }, spec };
    yield { name, steps: [post(dry, body), { ...post(services, body), managed: true }, get(path), put(path, body), remove(path)] };
  }
}

function* triedCases(): Generator<Case> {
  for (const [index, [name, spec]] of Object.entries(TRIED).entries())
    yield alone(name, post(dry, { metadata: { name: `t${String(index)}` }, spec }));
  for (const [name, annotations] of Object.entries(ANNOTATIONS))
    yield alone(name, post(dry, { metadata: { name: "annotated", annotations }, spec: { type: "LoadBalancer", ports: web } }));
  yield alone("spec missing", post(dry, { metadata: { name: "t" } }));
  yield alone(
    "status given",
    post(dry, { metadata: { name: "t" }, spec: { ports: web }, status: { loadBalancer: { ingress: [{ ip: "x" }] } } }),
  );
}

function* typeCases(): Generator<Case> {
  let n = 0;
  for (const [from, before] of Object.entries(TYPES)) {
    for (const [to, after] of Object.entries(TYPES)) {
      if (from === to) continue;
      const name = `c${String(n++)}`;
      const path = `${services}/${name}`;
      const metadata = { name };
      yield {
        name: `${from} to ${to}`,
        steps: [
          post(services, { metadata, spec: before }),
          patch(`${path}?dryRun=All`, MERGE_PATCH, { spec: { type: after["type"] } }),
          put(path, { metadata, spec: after }),
          remove(path),
        ],
      };
    }
  }
}

function* patchCases(): Generator<Case> {
  for (const [index, [name, spec, ...patches]] of PATCHES.entries()) {
    const object = `p${String(index)}`;
    const path = `${services}/${object}`;
    yield {
      name,
      steps: [
        post(services, { metadata: { name: object }, spec }),
        ...patches.flatMap((one, at) => [
          patch(`${path}?dryRun=All`, MERGE_PATCH, { spec: one }),
          patch(path, at % 2 === 0 ? MERGE_PATCH : STRATEGIC_PATCH, { spec: one }),
        ]),
        remove(path),
      ],
    };
  }
  const path = `${services}/strategic`;
  const ports = (...all: object[]) => ({ spec: { ports: all } });
  yield {
    name: "ports by strategic merge",
    steps: [
      post(services, {
        metadata: { name: "strategic" },
        spec: {
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81 },
          ],
        },
      }),
      patch(path, STRATEGIC_PATCH, ports({ port: 80, targetPort: 8080 })),
      patch(path, STRATEGIC_PATCH, ports({ port: 82, name: "c" })),
      patch(path, STRATEGIC_PATCH, ports({ port: 82, $patch: "delete" })),
      patch(path, STRATEGIC_PATCH, ports({ name: "d" })),
      patch(path, STRATEGIC_PATCH, ports({ $patch: "replace" }, { port: 90 })),
      patch(path, STRATEGIC_PATCH, { spec: { "$setElementOrder/ports": [{ port: 91 }, { port: 90 }], ports: [{ port: 91, name: "e" }] } }),
      patch(path, STRATEGIC_PATCH, { spec: { selector: { a: "b" } } }),
      patch(path, STRATEGIC_PATCH, { spec: { selector: { a: null, c: "d" } } }),
      patch(path, STRATEGIC_PATCH, { spec: { selector: { $patch: "delete" } } }),
      patch(path, STRATEGIC_PATCH, { spec: { $retainKeys: ["ports", "type"], type: "NodePort" } }),
      patch(path, JSON_PATCH, [{ op: "add", path: "/spec/ports/-", value: { name: "z", port: 99 } }]),
      patch(path, JSON_PATCH, [{ op: "remove", path: "/spec/ports/9" }]),
      patch(path, JSON_PATCH, [{ op: "replace", path: "/spec/clusterIP", value: "10.96.0.144" }]),
      patch(path, JSON_PATCH, [{ op: "add", path: "/status/loadBalancer/ingress", value: [{ ip: "192.0.2.1" }] }]),
      patch(`${path}/status`, JSON_PATCH, [{ op: "add", path: "/status/loadBalancer/ingress", value: [{ ip: "192.0.2.1" }] }]),
      patch(`${path}/status`, MERGE_PATCH, { spec: { type: "ClusterIP" } }),
      remove(path),
    ],
  };
  yield {
    name: "an address that is taken",
    steps: [
      post(services, {
        metadata: { name: "first" },
        spec: { ports: [{ port: 80, nodePort: 30_010 }], type: "NodePort", clusterIP: "10.96.0.145" },
      }),
      post(services, { metadata: { name: "second" }, spec: { ports: web, clusterIP: "10.96.0.145" } }),
      post(services, { metadata: { name: "second" }, spec: { ports: [{ port: 80, nodePort: 30_010 }], type: "NodePort" } }),
      post(dry, { metadata: { name: "second" }, spec: { ports: web, clusterIP: "10.96.0.145" } }),
      get("/apis/networking.k8s.io/v1/ipaddresses/10.96.0.145"),
      remove("/apis/networking.k8s.io/v1/ipaddresses/10.96.0.145?dryRun=All"),
      post("/apis/networking.k8s.io/v1/ipaddresses", {
        metadata: { name: "10.96.0.145" },
        spec: { parentRef: { resource: "services", namespace: "$NS", name: "x" } },
      }),
      remove(`${services}/first`),
      get("/apis/networking.k8s.io/v1/ipaddresses/10.96.0.145"),
      post(services, { metadata: { name: "second" }, spec: { ports: web, clusterIP: "10.96.0.145" } }),
      get(`${services}?fieldSelector=spec.clusterIP%3D10.96.0.145`),
      get(`${services}?fieldSelector=spec.type%3DClusterIP,spec.clusterIP!%3DNone`),
      get(`${services}/second/proxy/x`),
      get(`${services}/second:x:y:z/proxy/x`),
      remove(services),
      get(services),
    ],
  };
}

export const serviceGroups: readonly Group[] = [
  { name: "services-created", cases: [...createdCases()] },
  { name: "services-tried", cases: [...triedCases()] },
  { name: "services-types", cases: [...typeCases()] },
  { name: "services-patches", cases: [...patchCases()] },
];
