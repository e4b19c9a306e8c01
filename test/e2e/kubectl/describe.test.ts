import { beforeAll, describe, expect, it } from "vitest";
import { expectLines, kubectlInCluster, OBJECTS_LEFT_ALONE } from "../../support/clients/kubectl";
import { endpoints, endpointSlice, event, lease, list, node, pod, service, serviceCIDR } from "./objects";

const kubectl = kubectlInCluster(OBJECTS_LEFT_ALONE);
const { ok } = kubectl;

beforeAll(() => {
  const taints = { taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }], unschedulable: true };
  const times = { acquireTime: "2024-01-01T00:00:00.000000Z", renewTime: "2024-01-01T00:00:00.123456Z" };
  const file = kubectl.file(
    "all.json",
    list(
      service(
        "web",
        {
          type: "NodePort",
          clusterIP: "10.96.0.20",
          selector: { app: "web" },
          externalIPs: ["192.0.2.80"],
          externalTrafficPolicy: "Local",
          sessionAffinity: "ClientIP",
          ports: [
            { name: "http", port: 80, targetPort: 8080, nodePort: 30080 },
            { name: "https", port: 443, targetPort: "tls", nodePort: 30443, protocol: "TCP" },
          ],
        },
        { labels: { app: "web", tier: "front" }, annotations: { note: "seen" } },
      ),
      service("outside", { type: "ExternalName", externalName: "example.com" }),
      service("balanced", { type: "LoadBalancer", clusterIP: "10.96.0.21", ports: [{ port: 80, nodePort: 30081 }] }),
      endpointSlice("web-abc", "web"),
      endpoints("e1"),
      serviceCIDR("extra", ["10.100.0.0/24"]),
      node("n1", taints),
      lease("n1", { holderIdentity: "n1", leaseDurationSeconds: 40, leaseTransitions: 3, ...times }, { namespace: "kube-node-lease" }),
      pod("p1", { nodeName: "n1" }, { labels: { app: "web" } }),
    ),
  );
  expect(kubectl.run(`create -f ${file}`).code).toBe(0);
  ok(`patch service balanced --subresource=status --type=merge -p {"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.7"}]}}}`);
  // kubectl looks for the events of an object by its uid; kubelets give their node's name as uid
  const uid = ok("get service web -o jsonpath={.metadata.uid}");
  const ofNode = { kind: "Node", namespace: "", name: "n1", uid: "n1" };
  const events = list(event("web.1", "Warning", "it was tested", { uid }), event("n1.1", "Normal", "node was tested", ofNode));
  ok(`create -f ${kubectl.file("events.json", events)}`);
  ok("wait --for=condition=Ready servicecidr/extra --timeout=15s");
});

describe("kubectl describe", () => {
  it("service: shows its addresses, ports, endpoints and events", () => {
    expectLines(ok("describe service web"), [
      "Name: web",
      "Namespace: default",
      "Labels: app=web",
      "tier=front",
      "Annotations: note: seen",
      "Selector: app=web",
      "Type: NodePort",
      "IP Family Policy: SingleStack",
      "IP Families: IPv4",
      "IP: 10.96.0.20",
      "IPs: 10.96.0.20",
      "Port: http 80/TCP",
      "TargetPort: 8080/TCP",
      "NodePort: http 30080/TCP",
      "Endpoints: 10.1.0.1:8080",
      "Port: https 443/TCP",
      "TargetPort: tls/TCP",
      "NodePort: https 30443/TCP",
      "Endpoints: 10.1.0.1:8443",
      "Session Affinity: ClientIP",
      "External Traffic Policy: Local",
      "Internal Traffic Policy: Cluster",
      "Events:",
      "Type Reason Age From Message",
    ]);
    expect(ok("describe service web")).toMatch(/Warning +Tested +\S+ \(x2 over \S+\) +tester +it was tested/);
    expect(ok("describe service web")).toMatch(/External IPs: +192\.0\.2\.80/);
  });

  it("service of the types ExternalName and LoadBalancer: shows the name, or the ingress", () => {
    expectLines(ok("describe service outside"), ["Type: ExternalName", "External Name: example.com", "Session Affinity: None"]);
    const balanced = ok("describe svc balanced");
    expectLines(balanced, ["Type: LoadBalancer", "NodePort: <unset> 30081/TCP", "External Traffic Policy: Cluster"]);
    expect(balanced).toMatch(/LoadBalancer Ingress: +203\.0\.113\.7/);
  });

  it("servicecidr: shows its ranges and its condition", () => {
    expectLines(ok("describe servicecidr extra"), [
      "Name: extra",
      "Labels: <none>",
      "Annotations: <none>",
      "CIDRs: 10.100.0.0/24",
      "Status:",
      "Conditions:",
      "Type Status LastTransitionTime Reason Message",
      "Ready True DATE Kubernetes Service CIDR is ready",
      "Events: <none>",
    ]);
  });

  it("ipaddress: shows its holder", () => {
    expectLines(ok("describe ipaddress 10.96.0.20"), [
      "Name: 10.96.0.20",
      "Labels: ipaddress.kubernetes.io/ip-family=IPv4",
      "ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io",
      "Annotations: <none>",
      "Parent Reference:",
      "Group:",
      "Resource: services",
      "Namespace: default",
      "Name: web",
      "Events: <none>",
    ]);
  });

  it("endpointslice: shows its ports and endpoints", () => {
    expectLines(ok("describe endpointslice web-abc"), [
      "Name: web-abc",
      "Namespace: default",
      "Labels: kubernetes.io/service-name=web",
      "Annotations: <none>",
      "AddressType: IPv4",
      "Ports:",
      "Name Port Protocol",
      "http 8080 TCP",
      "https 8443 TCP",
      "Endpoints:",
      "- Addresses: 10.1.0.1",
      "Conditions:",
      "Ready: true",
      "Hostname: <unset>",
      "TargetRef: Pod/p1",
      "NodeName: n1",
      "Zone: z1",
      "- Addresses: 10.1.0.2",
      "Ready: false",
      "NodeName: <unset>",
      "Zone: <unset>",
      "Events: <none>",
    ]);
  });

  it("node: shows its lease, conditions, pods, their requests, and events", () => {
    const text = ok("describe node n1");
    expectLines(text, [
      "Name: n1",
      "Roles: worker",
      "Labels: kubernetes.io/hostname=n1",
      "node-role.kubernetes.io/worker=",
      "Annotations: <none>",
      "CreationTimestamp: DATE",
      "Taints: dedicated=db:NoSchedule",
      "Unschedulable: true",
      "Lease:",
      "HolderIdentity: n1",
      "AcquireTime: DATE",
      "RenewTime: DATE",
      "Conditions:",
      "Type Status LastHeartbeatTime LastTransitionTime Reason Message",
      "Ready True DATE DATE KubeletReady kubelet is posting ready status",
      "Addresses:",
      "InternalIP: 192.0.2.1",
      "Hostname: n1",
      "Capacity:",
      "cpu: 4",
      "memory: 8Gi",
      "Allocatable:",
      "cpu: 3",
      "memory: 7Gi",
      "System Info:",
      "Machine ID: m1",
      "Kernel Version: 6.1.0",
      "OS Image: Linux",
      "Container Runtime Version: containerd://2.0.0",
      "Kubelet Version: v1.36.2",
      "PodCIDR: 10.244.0.0/24",
      "PodCIDRs: 10.244.0.0/24",
      "ProviderID: test://n1",
      "Non-terminated Pods: (1 in total)",
      "Allocated resources:",
      "cpu 500m (16%) 0 (0%)",
      "memory 1Gi (14%) 0 (0%)",
      "Events:",
    ]);
    expect(text).toMatch(/default +p1 +500m \(16%\) +0 \(0%\) +1Gi \(14%\) +0 \(0%\) +\d+s/);
    expect(text).toMatch(/Normal +Tested +\S+ \(x2 over \S+\) +tester +node was tested/);
  });

  it("lease: shows its times with microseconds", () => {
    expectLines(ok("describe lease n1 -n kube-node-lease"), [
      "Name: n1",
      "Namespace: kube-node-lease",
      "API Version: coordination.k8s.io/v1",
      "Kind: Lease",
      "Metadata:",
      "Spec:",
      "Acquire Time: 2024-01-01T00:00:00.000000Z",
      "Holder Identity: n1",
      "Lease Duration Seconds: 40",
      "Lease Transitions: 3",
      "Renew Time: 2024-01-01T00:00:00.123456Z",
      "Events: <none>",
    ]);
  });

  it("namespace: shows its labels and its phase", () => {
    expectLines(ok("describe namespace default"), [
      "Name: default",
      "Labels: kubernetes.io/metadata.name=default",
      "Annotations: <none>",
      "Status: Active",
    ]);
  });

  it("pod, event and endpoints: shown with their fields", () => {
    expectLines(ok("describe pod p1"), [
      "Name: p1",
      "Namespace: default",
      "Node: n1/",
      "Labels: app=web",
      "Status: Pending",
      "Containers:",
      "main:",
      "Image: example.com/main:1",
      "Port: 8080/TCP",
      "Requests:",
      "cpu: 500m",
      "QoS Class: Burstable",
      "Events: <none>",
    ]);
    expectLines(ok("describe event web.1"), ["Name: web.1", "Kind: Event", "Message: it was tested", "Reason: Tested", "Type: Warning"]);
    expectLines(ok("describe endpoints e1"), [
      "Name: e1",
      "Subsets:",
      "Addresses: 192.0.2.5",
      "NotReadyAddresses: <none>",
      "<unset> 80 TCP",
    ]);
  });

  it("several, by label, by prefix of the name, in all namespaces: each shown", () => {
    const names = (line: string) => [...ok(line).matchAll(/^Name: +(\S+)/gm)].map((match) => match[1]);
    expect(names("describe services -l tier=front")).toEqual(["web"]);
    expect(names("describe services")).toEqual(["balanced", "kubernetes", "outside", "web"]);
    expect(names("describe services outs")).toEqual(["outside"]);
    expect(names("describe leases -A")).toEqual(["n1"]);
    expect(ok("describe service web --show-events=false")).not.toContain("Events:");
  });

  it("a missing object: NotFound", () => {
    expect(kubectl.refused("describe service missing")).toBe('Error from server (NotFound): services "missing" not found');
    expect(kubectl.run("describe services -l none")).toEqual({ code: 0, out: "", err: "No resources found in default namespace.\n" });
  });
});
