import { spawn, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findKubectl } from "../../scripts/kubectl";
import { removeFolder, startServer, temporaryFolder } from "./server";
import type { Server } from "./server";

const folder = temporaryFolder();
const command = findKubectl();
let server: Server;

beforeAll(async () => {
  server = await startServer(join(folder, "data"));
  mkdirSync(join(folder, "home"));
});
afterAll(async () => {
  await server.kill();
  removeFolder(folder);
});

const environment = () => ({ PATH: process.env["PATH"], HOME: join(folder, "home"), KUBECONFIG: server.kubeconfig });

function run(args: string[], input?: string): { code: number | null; out: string; err: string } {
  if (!command) throw new Error("there is no kubectl 1.32 or newer: put one on the PATH or name it in $KUBECTL");
  const result = spawnSync(command, args, { encoding: "utf8", input, env: environment(), timeout: 30_000 });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

/** Output of a kubectl command that has to succeed without a warning. */
function kubectl(line: string, input?: string): string {
  const { code, out, err } = run(line.split(" "), input);
  expect({ line, code, err }).toEqual({ line, code: 0, err: "" });
  return out.trimEnd();
}

/** Error text of a kubectl command that has to fail. */
function refused(line: string, input?: string): string {
  const { code, err } = run(line.split(" "), input);
  expect({ line, failed: code !== 0 }).toEqual({ line, failed: true });
  return err.trimEnd();
}

const manifest = (name: string, port: number, label = "one") =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, labels: { tier: label } },
    spec: { selector: { app: name }, ports: [{ name: "http", port }] },
  });

describe("kubectl: the tour", () => {
  it("version and api-resources", () => {
    // kubectl itself warns when it is older than the server by more than one minor version, so only its output counts here.
    expect(run(["version"]).out).toMatch(/Server Version: v1\.36\.2-servicenet\.\d+/);
    const resources = kubectl("api-resources --no-headers");
    for (const name of [
      "services",
      "namespaces",
      "nodes",
      "pods",
      "endpoints",
      "events",
      "servicecidrs",
      "ipaddresses",
      "leases",
      "endpointslices",
    ]) {
      expect(resources).toMatch(new RegExp(`^${name}\\s`, "m"));
    }
  });

  it("get of what a new cluster has", () => {
    expect(kubectl("get services")).toMatch(
      /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\nkubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP +\d+s$/,
    );
    expect(kubectl("get servicecidrs")).toMatch(/^NAME +CIDRS +AGE\nkubernetes +10\.96\.0\.0\/16 +\d+s$/);
    expect(kubectl("get ipaddresses")).toMatch(/^NAME +PARENTREF\n10\.96\.0\.1 +services\/default\/kubernetes$/);
    expect(kubectl("get namespaces -o name").split("\n").sort()).toEqual(
      ["default", "kube-node-lease", "kube-public", "kube-system"].map((name) => `namespace/${name}`),
    );
  });
});

describe("kubectl: create, read and delete a Service", () => {
  it("create service clusterip (protobuf body) takes an address and its IPAddress", () => {
    expect(kubectl("create service clusterip web --tcp=80:8080")).toBe("service/web created");
    const address = kubectl("get service web -o jsonpath={.spec.clusterIP}");
    expect(address).toMatch(/^10\.96\.\d+\.\d+$/);
    expect(kubectl(`get ipaddress ${address} -o jsonpath={.spec.parentRef.resource}/{.spec.parentRef.name}`)).toBe("services/web");
    expect(kubectl("get svc web -o wide")).toMatch(/SELECTOR\nweb .* app=web$/);
    expect(kubectl("get svc -l app=web -o name")).toBe("service/web");
    expect(kubectl("get svc --field-selector metadata.name=web -o name")).toBe("service/web");
  });

  it("create service clusterip with a given address; a second one is refused in upstream's words", () => {
    expect(kubectl("create service clusterip fixed --tcp=80 --clusterip=10.96.77.7")).toBe("service/fixed created");
    expect(refused("create service clusterip fixed2 --tcp=80 --clusterip=10.96.77.7")).toContain(
      'Service "fixed2" is invalid: spec.clusterIPs: Invalid value: ["10.96.77.7"]: failed to allocate IP 10.96.77.7: provided IP is already allocated',
    );
    expect(refused("get service fixed2")).toBe('Error from server (NotFound): services "fixed2" not found');
  });

  it("headless and ExternalName Services hold no address", () => {
    kubectl("create service clusterip headless --clusterip=None");
    expect(kubectl("get svc headless -o jsonpath={.spec.clusterIPs}")).toBe('["None"]');
    kubectl("create service externalname outside --external-name=example.com");
    expect(kubectl("get svc outside --no-headers")).toMatch(/^outside +ExternalName +<none> +example\.com +<none>/);
  });

  it("describe service, servicecidr and ipaddress", () => {
    expect(kubectl("describe service kubernetes")).toMatch(/^Name: +kubernetes\n[\s\S]*\nIP: +10\.96\.0\.1\n/);
    expect(kubectl("describe servicecidr kubernetes")).toMatch(/^Name: +kubernetes\n[\s\S]*CIDRs: +10\.96\.0\.0\/16\n/);
    expect(kubectl("describe ipaddress 10.96.0.1")).toMatch(/^Name: +10\.96\.0\.1\n[\s\S]*Name: +kubernetes/);
  });

  it("label and annotate", () => {
    expect(kubectl("label service web tier=front")).toBe("service/web labeled");
    expect(kubectl("get svc -l tier=front -o name")).toBe("service/web");
    expect(kubectl("annotate service web note=seen")).toBe("service/web annotated");
    expect(kubectl("label service web tier-")).toBe("service/web unlabeled");
  });

  it("patch by merge and by JSON patch", () => {
    kubectl('patch service web --type=merge -p {"spec":{"sessionAffinity":"ClientIP"}}');
    expect(kubectl("get svc web -o jsonpath={.spec.sessionAffinity}")).toBe("ClientIP");
    kubectl('patch service web --type=json -p [{"op":"replace","path":"/spec/ports/0/port","value":81}]');
    expect(kubectl("get svc web -o jsonpath={.spec.ports[0].port}")).toBe("81");
  });

  it("delete gives the address back", () => {
    const address = kubectl("get service web -o jsonpath={.spec.clusterIP}");
    expect(kubectl("delete service web")).toMatch(/^service "web" deleted/);
    expect(refused("get service web")).toContain("NotFound");
    expect(refused(`get ipaddress ${address}`)).toContain("NotFound");
    expect(kubectl(`create service clusterip again --tcp=80 --clusterip=${address}`)).toBe("service/again created");
  });
});

describe("kubectl: node ports", () => {
  it("create service nodeport, chosen and named; a second holder is refused in upstream's words", () => {
    expect(kubectl("create service nodeport front --tcp=80:8080")).toBe("service/front created");
    expect(kubectl("get svc front --no-headers")).toMatch(/^front +NodePort +10\.96\.\d+\.\d+ +<none> +80:3[0-2]\d{3}\/TCP /);
    expect(kubectl("create service nodeport named --tcp=80 --node-port=30080")).toBe("service/named created");
    expect(refused("create service nodeport named2 --tcp=80 --node-port=30080")).toContain(
      'Service "named2" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    );
    expect(refused("create service nodeport low --tcp=80 --node-port=80")).toContain(
      "provided port is not in the valid range. The range of valid ports is 30000-32767",
    );
    expect(kubectl("describe service named")).toMatch(/NodePort: +80 +30080\/TCP/);
    kubectl("delete service named");
    expect(kubectl("create service nodeport named2 --tcp=80 --node-port=30080")).toBe("service/named2 created");
  });

  it("create service loadbalancer; externalTrafficPolicy Local brings the port of health checks", () => {
    expect(kubectl("create service loadbalancer balanced --tcp=443:8443")).toBe("service/balanced created");
    expect(kubectl("get svc balanced --no-headers")).toMatch(/^balanced +LoadBalancer +10\.96\.\d+\.\d+ +<pending> +443:3[0-2]\d{3}\/TCP /);
    const nodePort = kubectl("get svc balanced -o jsonpath={.spec.ports[0].nodePort}");
    kubectl('patch service balanced -p {"spec":{"externalTrafficPolicy":"Local"}}');
    expect(kubectl("get svc balanced -o jsonpath={.spec.ports[0].nodePort}")).toBe(nodePort);
    expect(kubectl("get svc balanced -o jsonpath={.spec.healthCheckNodePort}")).toMatch(/^3[0-2]\d{3}$/);
    expect(kubectl("describe service balanced")).toMatch(/HealthCheck NodePort: +3[0-2]\d{3}/);
    kubectl('patch service balanced -p {"spec":{"externalTrafficPolicy":"Cluster"}}');
    expect(kubectl("get svc balanced -o jsonpath={.spec.healthCheckNodePort}")).toBe("");
  });

  it("edit of the type: ClusterIP to NodePort and back", () => {
    const edit = (from: string, to: string) => {
      const editor = { EDITOR: `sed -i -e "s/type: ${from}/type: ${to}/"` };
      const result = spawnSync(command ?? "", ["edit", "service", "front"], {
        encoding: "utf8",
        env: { ...environment(), ...editor },
        timeout: 30_000,
      });
      expect([result.status, result.stdout.trimEnd()]).toEqual([0, "service/front edited"]);
    };
    const address = kubectl("get svc front -o jsonpath={.spec.clusterIP}");
    edit("NodePort", "ClusterIP");
    expect(kubectl("get svc front -o jsonpath={.spec.type}/{.spec.ports[0].nodePort}/{.spec.clusterIP}")).toBe(`ClusterIP//${address}`);
    edit("ClusterIP", "NodePort");
    expect(kubectl("get svc front -o jsonpath={.spec.type}/{.spec.ports[0].nodePort}/{.spec.clusterIP}")).toMatch(
      new RegExp(`^NodePort/3[0-2]\\d{3}/${address.replaceAll(".", "\\.")}$`),
    );
    kubectl("delete service front named2 balanced");
  });
});

describe("kubectl: files", () => {
  it("create -f validates against the published OpenAPI and creates", () => {
    expect(kubectl("create -f -", manifest("from-file", 80))).toBe("service/from-file created");
    expect(refused("create -f -", manifest("typo", 80).replace('"selector"', '"selectr"'))).toContain('unknown field "spec.selectr"');
    expect(refused("create -f -", manifest("from-file", 80))).toContain('services "from-file" already exists');
  });

  it("client-side apply creates, changes, and leaves alone what is the same", () => {
    expect(kubectl("apply -f -", manifest("applied", 80))).toBe("service/applied created");
    const address = kubectl("get svc applied -o jsonpath={.spec.clusterIP}");
    expect(kubectl("apply -f -", manifest("applied", 8080, "two"))).toBe("service/applied configured");
    expect(kubectl("get svc applied -o jsonpath={.spec.ports[*].port}/{.metadata.labels.tier}/{.spec.clusterIP}")).toBe(
      `8080/two/${address}`,
    );
    expect(kubectl("apply -f -", manifest("applied", 8080, "two"))).toBe("service/applied unchanged");
  });

  it("ServiceCIDRs and IPAddresses from files", () => {
    const cidr = {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name: "extra" },
      spec: { cidrs: ["10.100.0.0/24"] },
    };
    expect(kubectl("create -f -", JSON.stringify(cidr))).toBe("servicecidr.networking.k8s.io/extra created");
    kubectl("wait --for=condition=Ready servicecidr/extra --timeout=15s");
    kubectl("create service clusterip in-extra --tcp=80 --clusterip=10.100.0.20");
    kubectl("delete service in-extra");
    expect(kubectl("delete servicecidr extra --timeout=20s")).toMatch(/"extra" deleted/);
  });
});

describe("kubectl: namespaces and watches", () => {
  it("create namespace (protobuf body), Services inside it, and none in a missing one", () => {
    expect(kubectl("create namespace team")).toBe("namespace/team created");
    kubectl("-n team create service clusterip inner --tcp=80");
    expect(kubectl("get svc -A -o name --field-selector metadata.namespace=team")).toBe("service/inner");
    expect(refused("-n nowhere create service clusterip lost --tcp=80")).toContain('namespaces "nowhere" not found');
  });

  it("get --watch shows a Service that comes and goes", async () => {
    if (!command) throw new Error("no kubectl");
    const watch = spawn(command, ["get", "services", "--watch", "--output-watch-events", "--no-headers"], { env: environment() });
    let seen = "";
    watch.stdout.setEncoding("utf8").on("data", (chunk: string) => (seen += chunk));
    const until = async (pattern: RegExp) => {
      await expect.poll(() => seen, { timeout: 15_000, interval: 50 }).toMatch(pattern);
    };
    try {
      await until(/ADDED +kubernetes/);
      kubectl("create service clusterip watched --tcp=80");
      await until(/ADDED +watched +ClusterIP +10\.96\./);
      kubectl("label service watched seen=yes");
      await until(/MODIFIED +watched/);
      kubectl("delete service watched");
      await until(/DELETED +watched/);
    } finally {
      watch.kill();
    }
  });
});

describe("kubectl: delete --cascade", () => {
  const lease = (name: string, owner?: { name: string; uid: string }) =>
    JSON.stringify({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name,
        ...(owner ? { ownerReferences: [{ apiVersion: "v1", kind: "Service", blockOwnerDeletion: true, ...owner }] } : {}),
      },
      spec: {},
    });
  const owned = (name: string) => {
    kubectl("create -f -", manifest(name, 80));
    const uid = kubectl(`get service ${name} -o jsonpath={.metadata.uid}`);
    kubectl("create -f -", lease(`of-${name}`, { name, uid }));
  };

  it("=foreground: the dependents are gone when the command returns", () => {
    owned("foremost");
    expect(kubectl("delete service foremost --cascade=foreground --timeout=20s")).toMatch(/^service "foremost" deleted/);
    expect(refused("get lease of-foremost")).toContain("not found");
  });

  it("=orphan: the dependents stay, without the owner", () => {
    owned("orphaned");
    expect(kubectl("delete service orphaned --cascade=orphan --timeout=20s")).toMatch(/^service "orphaned" deleted/);
    expect(kubectl("get lease of-orphaned -o jsonpath={.metadata.name}{.metadata.ownerReferences}")).toBe("of-orphaned");
    kubectl("delete lease of-orphaned");
  });

  it("=background (the default): the dependents follow", () => {
    owned("back");
    kubectl("delete service back");
    kubectl("wait --for=delete lease/of-back --timeout=20s");
  });
});
