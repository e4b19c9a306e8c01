import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../support/clients/kubectl";

const kubectl = kubectlInCluster({ name: "default" });
const { ok, refused } = kubectl;

const all = "create,delete,deletecollection,get,list,patch,update,watch";
const some = "create,delete,get,list,patch,update,watch";
/** name, short names, group and version, namespaced, kind, verbs, categories */
const resources: [string, string, string, boolean, string, string, string][] = [
  ["bindings", "", "v1", true, "Binding", "create", ""],
  ["configmaps", "cm", "v1", true, "ConfigMap", all, ""],
  ["endpoints", "ep", "v1", true, "Endpoints", all, ""],
  ["events", "ev", "v1", true, "Event", all, ""],
  ["namespaces", "ns", "v1", false, "Namespace", some, ""],
  ["nodes", "no", "v1", false, "Node", all, ""],
  ["pods", "po", "v1", true, "Pod", all, "all"],
  ["podtemplates", "", "v1", true, "PodTemplate", all, ""],
  ["resourcequotas", "quota", "v1", true, "ResourceQuota", all, ""],
  ["secrets", "", "v1", true, "Secret", all, ""],
  ["serviceaccounts", "sa", "v1", true, "ServiceAccount", all, ""],
  ["services", "svc", "v1", true, "Service", all, "all"],
  ["customresourcedefinitions", "crd,crds", "apiextensions.k8s.io/v1", false, "CustomResourceDefinition", "get,list", "api-extensions"],
  ["selfsubjectreviews", "", "authentication.k8s.io/v1", false, "SelfSubjectReview", "create", ""],
  ["tokenreviews", "", "authentication.k8s.io/v1", false, "TokenReview", "create", ""],
  ["localsubjectaccessreviews", "", "authorization.k8s.io/v1", true, "LocalSubjectAccessReview", "create", ""],
  ["selfsubjectaccessreviews", "", "authorization.k8s.io/v1", false, "SelfSubjectAccessReview", "create", ""],
  ["selfsubjectrulesreviews", "", "authorization.k8s.io/v1", false, "SelfSubjectRulesReview", "create", ""],
  ["subjectaccessreviews", "", "authorization.k8s.io/v1", false, "SubjectAccessReview", "create", ""],
  ["leases", "", "coordination.k8s.io/v1", true, "Lease", all, ""],
  ["endpointslices", "", "discovery.k8s.io/v1", true, "EndpointSlice", all, ""],
  ["events", "ev", "events.k8s.io/v1", true, "Event", all, ""],
  ["ipaddresses", "ip", "networking.k8s.io/v1", false, "IPAddress", all, ""],
  ["servicecidrs", "", "networking.k8s.io/v1", false, "ServiceCIDR", all, ""],
  ["clusterrolebindings", "", "rbac.authorization.k8s.io/v1", false, "ClusterRoleBinding", all, ""],
  ["clusterroles", "", "rbac.authorization.k8s.io/v1", false, "ClusterRole", all, ""],
  ["rolebindings", "", "rbac.authorization.k8s.io/v1", true, "RoleBinding", all, ""],
  ["roles", "", "rbac.authorization.k8s.io/v1", true, "Role", all, ""],
  ["clusters", "", "servicenet.dev/v1alpha1", false, "Cluster", some, ""],
  ["clusterprofiles", "", "multicluster.x-k8s.io/v1alpha1", true, "ClusterProfile", "get,list,watch", ""],
  ["ipaddressclaims", "", "ipam.cluster.x-k8s.io/v1beta2", true, "IPAddressClaim", all, "cluster-api"],
  ["ipaddresses", "", "ipam.cluster.x-k8s.io/v1beta2", true, "IPAddress", all, "cluster-api"],
  ["inclusterippools", "", "ipam.cluster.x-k8s.io/v1alpha2", true, "InClusterIPPool", all, "cluster-api"],
  ["globalinclusterippools", "", "ipam.cluster.x-k8s.io/v1alpha2", false, "GlobalInClusterIPPool", all, "cluster-api"],
  ["inclusterprefixpools", "", "ipam.cluster.x-k8s.io/v1alpha2", true, "InClusterPrefixPool", all, "cluster-api"],
  ["globalinclusterprefixpools", "", "ipam.cluster.x-k8s.io/v1alpha2", false, "GlobalInClusterPrefixPool", all, "cluster-api"],
];
type Row = (typeof resources)[number];
const fullName = ([name, , version]: Row) => (version.includes("/") ? `${name}.${String(version.split("/")[0])}` : name);
const names = (wanted: (row: Row) => boolean) => resources.filter(wanted).map(fullName).sort();

describe("kubectl api-resources", () => {
  it("each served resource: one row", () => {
    const [header, ...rows] = ok("api-resources -o wide").split("\n");
    expect(header?.split(/ +/).filter(Boolean)).toEqual(["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND", "VERBS", "CATEGORIES"]);
    const seen = rows.map((row) => row.split(/ +/).filter(Boolean).join(" "));
    expect(seen.sort()).toEqual(resources.map((row) => row.filter((cell) => cell !== "").join(" ")).sort());
  });

  it.each<{ line: string; wanted: (row: Row) => boolean }>([
    { line: "--namespaced=true", wanted: (row) => row[3] },
    { line: "--namespaced=false", wanted: (row) => !row[3] },
    { line: "--verbs=list,watch", wanted: (row) => row[5].includes("watch") },
    { line: "--verbs=deletecollection", wanted: (row) => row[5] === all },
    { line: "--categories=all", wanted: (row) => row[6] === "all" },
    { line: "--api-group=networking.k8s.io", wanted: (row) => row[2] === "networking.k8s.io/v1" },
    { line: "--api-group=", wanted: (row) => row[2] === "v1" },
    { line: "--verbs=nope", wanted: () => false },
  ])("$line: the types of the row", ({ line, wanted }) => {
    expect(ok(`api-resources -o name ${line}`).split("\n").filter(Boolean).sort()).toEqual(names(wanted));
  });

  it("short names, singular names, kinds and groups: resolve", () => {
    const line =
      "get svc,service,Service,po,no,ns,ev,ep,ip,cm,sa,secret,quota,podtemplate,ipaddress,servicecidr,role,rolebinding,clusterrole,clusterrolebinding,lease,endpointslice.discovery.k8s.io,leases.v1.coordination.k8s.io";
    expect(kubectl.run(`${line} -A`).code).toBe(0);
    expect(kubectl.run("get all -A").out).toContain("service/kubernetes");
  });

  it("custom resource definitions: there are none, and none can be made", () => {
    expect(kubectl.run("get crd").err).toContain("No resources found");
    expect(refused("get crd a.example.com")).toBe(
      'Error from server (NotFound): customresourcedefinitions.apiextensions.k8s.io "a.example.com" not found',
    );
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "a.example.com" },
      spec: {},
    };
    for (const line of ["create -f -", "create -f - --validate=false", "apply -f - --server-side"]) {
      expect(refused(line, { input: JSON.stringify(definition) })).toContain(
        "customresourcedefinitions.apiextensions.k8s.io is not served",
      );
    }
  });
});

describe("kubectl api-versions, version, cluster-info, get --raw", () => {
  it("api-versions: the served versions", () => {
    expect(ok("api-versions").split("\n")).toEqual([
      "apiextensions.k8s.io/v1",
      "authentication.k8s.io/v1",
      "authorization.k8s.io/v1",
      "coordination.k8s.io/v1",
      "discovery.k8s.io/v1",
      "events.k8s.io/v1",
      "ipam.cluster.x-k8s.io/v1alpha2",
      "ipam.cluster.x-k8s.io/v1beta1",
      "ipam.cluster.x-k8s.io/v1beta2",
      "multicluster.x-k8s.io/v1alpha1",
      "networking.k8s.io/v1",
      "networking.k8s.io/v1beta1",
      "rbac.authorization.k8s.io/v1",
      "servicenet.dev/v1alpha1",
      "v1",
    ]);
  });

  it("version: the server's version beside the client's, without a warning", () => {
    const { clientVersion, serverVersion } = JSON.parse(ok("version -o json")) as Record<string, { gitVersion: string }>;
    expect(clientVersion?.gitVersion).toMatch(/^v1\.3[67]\./);
    expect(serverVersion).toMatchObject({
      major: "1",
      minor: "36",
      gitVersion: expect.stringMatching(/^v1\.36\.2-servicenet\.\d+$/) as unknown,
    });
    expect(ok("version")).toMatch(/^Server Version: v1\.36\.2-servicenet\.\d+$/m);
  });

  it("cluster-info: the address of the server", () => {
    expect(ok("cluster-info").split("\n")[0]).toBe(`Kubernetes control plane is running at ${kubectl.cluster.url}`);
  });

  it("get --raw: the answer of the path", () => {
    expect(ok("get --raw /healthz")).toBe("ok");
    expect(ok("get --raw /readyz?verbose")).toMatch(/^\[\+\]ping ok\n[\s\S]*\nreadyz check passed$/);
    const hook = "poststarthook/start-kubernetes-service-cidr-controller";
    expect(ok("get --raw /readyz?verbose")).toContain(`\n[+]${hook} ok\n`);
    expect(ok(`get --raw /livez/${hook}`)).toBe("ok");
    expect(ok("get --raw /metrics/slis")).toContain(`kubernetes_healthcheck{name="${hook}",type="readyz"} 1`);
    expect(JSON.parse(ok("get --raw /apis/networking.k8s.io"))).toMatchObject({ kind: "APIGroup", name: "networking.k8s.io" });
    expect(JSON.parse(ok("get --raw /api/v1/namespaces/default/services/kubernetes"))).toMatchObject({ kind: "Service" });
    expect(JSON.parse(ok("get --raw /check"))).toMatchObject({ wrong: [], unchecked: [], checked: { serviceCIDRs: 1, owners: 1 } });
    expect(refused("get --raw /nope")).toBe("Error from server (NotFound): the server could not find the requested resource");
    expect(refused("get --raw /api/v1/nope")).toBe("Error from server (NotFound): the server could not find the requested resource");
  });
});

describe("kubectl auth", () => {
  it("whoami: system:anonymous", () => {
    expect(table(ok("auth whoami"))).toEqual([
      ["ATTRIBUTE", "VALUE"],
      ["Username", "system:anonymous"],
      ["Groups", "[system:unauthenticated]"],
    ]);
    expect(JSON.parse(ok("auth whoami -o json"))).toMatchObject({
      kind: "SelfSubjectReview",
      status: { userInfo: { username: "system:anonymous", groups: ["system:unauthenticated"] } },
    });
  });

  it.each(["create services", "delete svc/web -n team", "get services --subresource=status", "list nodes", "get /metrics", "'*' '*' -A"])(
    "can-i %s: yes",
    (what) => {
      const { code, out } = kubectl.run(`auth can-i ${what}`);
      expect({ code, out }).toEqual({ code: 0, out: "yes\n" });
    },
  );

  it("can-i --list: every verb of every resource", () => {
    const [header, ...rows] = ok("auth can-i --list").split("\n");
    expect(header).toMatch(/^Resources +Non-Resource URLs +Resource Names +Verbs$/);
    expect(rows.map((row) => row.trim().split(/ +/))).toEqual([
      ["*.*", "[]", "[]", "[*]"],
      ["[*]", "[]", "[*]"],
    ]);
  });
});

describe("kubectl explain", () => {
  it("service.spec: every field with its type", () => {
    const text = ok("explain service.spec");
    expect(text).toMatch(/^KIND: +Service\nVERSION: +v1\n\nFIELD: spec <ServiceSpec>\n/);
    const fields = [...text.matchAll(/^ {2}(\w+)\t<(.+)>/gm)].map((match) => `${String(match[1])} ${String(match[2])}`);
    expect(fields).toEqual([
      "allocateLoadBalancerNodePorts boolean",
      "clusterIP string",
      "clusterIPs []string",
      "externalIPs []string",
      "externalName string",
      "externalTrafficPolicy string",
      "healthCheckNodePort integer",
      "internalTrafficPolicy string",
      "ipFamilies []string",
      "ipFamilyPolicy string",
      "loadBalancerClass string",
      "loadBalancerIP string",
      "loadBalancerSourceRanges []string",
      "ports []ServicePort",
      "publishNotReadyAddresses boolean",
      "selector map[string]string",
      "sessionAffinity string",
      "sessionAffinityConfig SessionAffinityConfig",
      "trafficDistribution string",
      "type string",
    ]);
  });

  it("a field inside a list: shown with its required members and its enum", () => {
    const text = ok("explain svc.spec.ports");
    expect(text).toMatch(/FIELD: ports <\[\]ServicePort>/);
    expect(text).toMatch(/^ {2}port\t<integer> -required-$/m);
    expect(text).toMatch(/^ {2}protocol\t<string>\n {2}enum: .*TCP/m);
    expect(ok("explain service.metadata.labels")).toMatch(/FIELD: labels <map\[string\]string>/);
  });

  it("--recursive: shows every leaf", () => {
    const text = ok("explain service --recursive");
    for (const [depth, field] of [
      [1, "spec\t<ServiceSpec>"],
      [3, "nodePort\t<integer>"],
      [4, "timeoutSeconds\t<integer>"],
      [5, "protocol\t<string> -required-"],
    ] as const) {
      expect(text).toContain(`\n${"  ".repeat(depth)}${field}`);
    }
    expect(ok("explain pods.spec.containers --recursive").split("\n").length).toBeGreaterThan(200);
  });

  it.each([
    { type: "services", kind: "Service", fields: ["metadata", "spec", "status"] },
    { type: "pods", kind: "Pod", fields: ["metadata", "spec", "status"] },
    { type: "nodes", kind: "Node", fields: ["metadata", "spec", "status"] },
    { type: "namespaces", kind: "Namespace", fields: ["metadata", "spec", "status"] },
    { type: "endpoints", kind: "Endpoints", fields: ["metadata", "subsets"] },
    { type: "events", kind: "Event", fields: ["involvedObject", "message", "metadata", "reason", "type"] },
    { type: "events --api-version=events.k8s.io/v1", kind: "Event", fields: ["eventTime", "note", "regarding", "reportingController"] },
    { type: "servicecidrs", kind: "ServiceCIDR", fields: ["metadata", "spec", "status"] },
    { type: "servicecidrs --api-version=networking.k8s.io/v1beta1", kind: "ServiceCIDR", fields: ["metadata", "spec", "status"] },
    { type: "ipaddresses", kind: "IPAddress", fields: ["metadata", "spec"] },
    { type: "leases", kind: "Lease", fields: ["metadata", "spec"] },
    { type: "endpointslices", kind: "EndpointSlice", fields: ["addressType", "endpoints", "metadata", "ports"] },
    { type: "roles", kind: "Role", fields: ["metadata", "rules"] },
    { type: "clusterroles", kind: "ClusterRole", fields: ["aggregationRule", "metadata", "rules"] },
    { type: "rolebindings", kind: "RoleBinding", fields: ["metadata", "roleRef", "subjects"] },
    { type: "clusterrolebindings", kind: "ClusterRoleBinding", fields: ["metadata", "roleRef", "subjects"] },
    { type: "subjectaccessreviews", kind: "SubjectAccessReview", fields: ["metadata", "spec", "status"] },
  ])("$type: kind and fields", ({ type, kind, fields }) => {
    const text = ok(`explain ${type}`);
    expect(text).toMatch(new RegExp(`^(GROUP: +\\S+\\n)?KIND: +${kind}\\nVERSION: +v1(beta1)?\\n\\nDESCRIPTION:\\n +\\S`));
    for (const field of fields) expect(text).toMatch(new RegExp(`^ {2}${field}\t<`, "m"));
  });

  it("an unknown type and an unknown field: named", () => {
    expect(refused("explain nosuch")).toContain('the server doesn\'t have a resource type "nosuch"');
    expect(refused("explain service.nosuch")).toBe('error: field "nosuch" does not exist');
  });
});

// A dump waits between its requests.
describe.concurrent("kubectl commands that ask for everything", () => {
  beforeAll(() => {
    ok("run logged --image=example.com/logged:1");
    ok("create namespace elsewhere");
  });
  afterAll(() => {
    ok("delete pod logged");
    ok("delete namespace elsewhere");
  });

  it.for(["get all", "get all -A", "api-resources", "cluster-info", "cluster-info dump", "cluster-info dump -A -o yaml"])(
    "%s: no error for what is not served",
    async (line, { expect }) => {
      const { out, ...rest } = await kubectl.beside(line);
      expect(rest).toEqual({ code: 0, err: "" });
      expect(out.trimEnd()).not.toBe("");
    },
  );

  it("cluster-info dump: every list, and for each log that there is none", async ({ expect }) => {
    const folder = kubectl.file("dump", "").replace(/dump$/, "dumped");
    const dumped = await kubectl.beside(`cluster-info dump -A --output-directory=${folder}`);
    expect(dumped).toEqual({ code: 0, out: `Cluster info dumped to ${folder}\n`, err: "" });
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    for (const kind of ["daemonset", "deployment", "replicaset", "replication-controller"]) {
      expect(JSON.parse(read(`elsewhere/${kind}s.json`))).toMatchObject({ metadata: { resourceVersion: "1" } });
    }
    expect(read("default/services.json")).toContain('"name": "kubernetes"');
    expect(read("default/pods.json")).toContain('"name": "logged"');
    expect(read("default/logged/logs.txt")).toContain("Request log error: the server could not find the requested resource");
  });
});

describe("kubectl and resources that are not served", () => {
  const noType = (type: string) => `error: the server doesn't have a resource type "${type}"`;
  const notFound = "Error from server (NotFound): the server could not find the requested resource";
  const notServed = (name: string) =>
    `the server could not find the requested resource: ${name} is not served; see kubectl api-resources and docs/compatibility.md for what is`;
  it.each([
    { line: "get deployments", err: noType("deployments") },
    { line: "get limitranges,services", err: noType("limitranges") },
    { line: "autoscale deployment web --max=3", err: noType("deployment") },
    { line: "autoscale rs web --min=1 --max=3", err: noType("rs") },
    {
      line: "autoscale service kubernetes --max=3",
      err: "error: cannot autoscale a Service: could not find scale subresource for /v1, Resource=services in discovery information",
    },
    { line: "rollout status deployment/web", err: noType("deployment") },
    { line: "rollout restart service/kubernetes", err: 'error: services "kubernetes" restarting is not supported' },
    { line: "certificate approve csr", err: noType("certificatesigningrequests") },
    { line: "top nodes", err: "error: Metrics API not available" },
    { line: "scale service kubernetes --replicas=2", err: notFound },
    { line: "get service kubernetes --subresource=scale", err: notFound },
    { line: "create deployment d --image=i", err: `error: failed to create deployment: ${notServed("deployments.apps")}` },
    { line: "create job j --image=i", err: `error: failed to create job: ${notServed("jobs.batch")}` },
    { line: "get --raw /api/v1/persistentvolumes", err: `Error from server (NotFound): ${notServed("persistentvolumes")}` },
  ])("$line: refused with the reason", ({ line, err }) => {
    expect(refused(line).replace(/ \(post \S+\)$/, "")).toBe(err);
  });

  it("logs and exec of a pod: 404", () => {
    ok("run p1 --image=example.com/p1:1");
    expect(refused("logs p1")).toBe(`Error from server (NotFound): ${notServed("pods/log")}`);
    expect(refused("exec p1 -- ls")).toContain("the server could not find the requested resource");
    ok("delete pod p1");
  });
});
