import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../support/clients/kubectl";
import { lease, list, service } from "./objects";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

describe("kubectl create service", () => {
  it("clusterip (protobuf body): takes an address and its IPAddress", () => {
    expect(ok("create service clusterip web --tcp=80:8080 --tcp=443")).toBe("service/web created");
    const address = ok("get service web -o jsonpath={.spec.clusterIP}");
    expect(address).toMatch(/^10\.96\.\d+\.\d+$/);
    expect(ok(`get ipaddress ${address} -o jsonpath={.spec.parentRef.resource}/{.spec.parentRef.name}`)).toBe("services/web");
    expect(ok("get service web -o jsonpath={.spec.ports[*].name}/{.spec.ports[*].targetPort}/{.spec.selector}")).toBe(
      '80-8080 443/8080 443/{"app":"web"}',
    );
  });

  it("headless and externalname: hold no address", () => {
    ok("create service clusterip headless --clusterip=None");
    expect(ok("get svc headless -o jsonpath={.spec.clusterIPs}")).toBe('["None"]');
    expect(ok("create service externalname outside --external-name=example.com")).toBe("service/outside created");
    expect(table(ok("get svc outside --no-headers"))).toEqual([["outside", "ExternalName", "<none>", "example.com", "<none>", "AGE"]]);
  });

  it("nodeport, chosen and named: taken; a second holder: refused in upstream's words", () => {
    expect(ok("create service nodeport front --tcp=80:8080")).toBe("service/front created");
    expect(ok("get svc front --no-headers")).toMatch(/^front +NodePort +10\.96\.\d+\.\d+ +<none> +80:3[0-2]\d{3}\/TCP /);
    expect(ok("create service nodeport named --tcp=80 --node-port=30080")).toBe("service/named created");
    expect(refused("create service nodeport named2 --tcp=80 --node-port=30080")).toBe(
      'error: failed to create NodePort service: Service "named2" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    );
    expect(refused("create service nodeport low --tcp=80 --node-port=80")).toBe(
      'error: failed to create NodePort service: Service "low" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
    ok("delete service named");
    expect(ok("create service nodeport named2 --tcp=80 --node-port=30080")).toBe("service/named2 created");
  });

  it("loadbalancer with externalTrafficPolicy Local: has a port for health checks", () => {
    expect(ok("create service loadbalancer balanced --tcp=443:8443")).toBe("service/balanced created");
    expect(ok("get svc balanced --no-headers")).toMatch(/^balanced +LoadBalancer +10\.96\.\d+\.\d+ +<pending> +443:3[0-2]\d{3}\/TCP /);
    const nodePort = ok("get svc balanced -o jsonpath={.spec.ports[0].nodePort}");
    ok('patch service balanced -p {"spec":{"externalTrafficPolicy":"Local"}}');
    expect(ok("get svc balanced -o jsonpath={.spec.ports[0].nodePort}")).toBe(nodePort);
    expect(ok("get svc balanced -o jsonpath={.spec.healthCheckNodePort}")).toMatch(/^3[0-2]\d{3}$/);
    expect(ok("describe service balanced")).toMatch(/HealthCheck NodePort: +3[0-2]\d{3}/);
    ok('patch service balanced -p {"spec":{"externalTrafficPolicy":"Cluster"}}');
    expect(ok("get svc balanced -o jsonpath={.spec.healthCheckNodePort}")).toBe("");
  });
});

describe("kubectl create namespace and files", () => {
  it("namespace (protobuf body): takes Services; a missing namespace: takes none", () => {
    expect(ok("create namespace team")).toBe("namespace/team created");
    expect(ok("get ns team -o jsonpath={.metadata.labels}{.spec.finalizers}{.status.phase}")).toBe(
      '{"kubernetes.io/metadata.name":"team"}["kubernetes"]Active',
    );
    expect(refused("create namespace team")).toBe('Error from server (AlreadyExists): namespaces "team" already exists');
    ok("-n team create service clusterip inner --tcp=80");
    expect(ok("get svc -A -o name --field-selector metadata.namespace=team")).toBe("service/inner");
    expect(refused("-n nowhere create service clusterip lost --tcp=80")).toContain('namespaces "nowhere" not found');
  });

  it("-f with standard input, a file of several YAML documents, a folder, a List: every object is created", () => {
    expect(ok("create -f -", JSON.stringify(service("from-stdin")))).toBe("service/from-stdin created");
    const documents = ["one", "two"].map(
      (name) => `apiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\nspec:\n  ports:\n  - port: 80\n`,
    );
    const yaml = kubectl.file("documents.yaml", documents.join("---\n"));
    expect(ok(`create -f ${yaml}`)).toBe("service/one created\nservice/two created");
    const many = kubectl.file("list.json", list(service("three"), lease("four", {}, { namespace: "team" })));
    expect(ok(`create -f ${many} -o name`)).toBe("service/three\nlease.coordination.k8s.io/four");
    expect(refused(`create -f ${yaml}`).split("\n")).toEqual(
      ["one", "two"].map((name) => `Error from server (AlreadyExists): error when creating "${yaml}": services "${name}" already exists`),
    );
  });

  it("-f with generateName: a generated name", () => {
    const generated = { ...service("x"), metadata: { generateName: "gen-" } };
    expect(ok("create -f - -o name", JSON.stringify(generated))).toMatch(/^service\/gen-[a-z0-9]{5}$/);
  });

  it("--save-config: apply takes over without a warning", () => {
    const file = kubectl.file("saved.json", service("saved"));
    ok(`create -f ${file} --save-config`);
    expect(ok(`apply -f ${file}`)).toBe("service/saved unchanged");
  });

  it("--dry-run=client and =server: nothing stored, nothing allocated", () => {
    expect(ok("create service clusterip dry --tcp=80 --clusterip=10.96.50.50 --dry-run=client")).toBe("service/dry created (dry run)");
    expect(ok("create service clusterip dry --tcp=80 --clusterip=10.96.50.50 --dry-run=server")).toBe(
      "service/dry created (server dry run)",
    );
    expect(ok("create service clusterip dry --tcp=80 --dry-run=server -o jsonpath={.spec.type}/{.spec.ipFamilies}")).toBe(
      'ClusterIP/["IPv4"]',
    );
    expect(refused("get svc dry")).toContain("NotFound");
    expect(refused("get ipaddress 10.96.50.50")).toContain("NotFound");
    expect(ok("create service clusterip dry --tcp=80 --clusterip=10.96.50.50")).toBe("service/dry created");
    // as upstream, which does not look whether the address is free
    expect(ok("create service clusterip wet --tcp=80 --clusterip=10.96.50.50 --dry-run=server")).toBe(
      "service/wet created (server dry run)",
    );
  });
});

describe("kubectl create --validate", () => {
  const typo = () =>
    kubectl.file(
      "typo.yaml",
      "apiVersion: v1\nkind: Service\nmetadata:\n  name: typo\nspec:\n  selectr: {}\n  ports:\n  - port: 80\n    prot: TCP\n",
    );
  const fields = ["spec.ports[0].prot", "spec.selectr"];

  it.each(["", "--validate", "--validate=true", "--validate=strict"])("'%s': unknown fields are refused", (option) => {
    const error = refused(`create -f ${typo()} ${option}`);
    expect(error).toMatch(
      /^Error from server \(BadRequest\): error when creating "\S+": Service in version "v1" cannot be handled as a Service: strict decoding error: /,
    );
    expect([...error.matchAll(/unknown field "([^"]+)"/g)].map((match) => match[1]).sort()).toEqual(fields);
  });

  it("warn: names them and creates", () => {
    const { code, out, err } = kubectl.run(`create -f ${typo()} --validate=warn`);
    expect({ code, out, err: err.trimEnd().split("\n").sort() }).toEqual({
      code: 0,
      out: "service/typo created\n",
      err: fields.map((field) => `Warning: unknown field "${field}"`),
    });
    ok("delete service typo");
  });

  it.each(["ignore", "false"])("%s: creates silently", (value) => {
    expect(ok(`create -f ${typo()} --validate=${value}`)).toBe("service/typo created");
    ok("delete service typo");
  });

  it("duplicate fields: dropped by kubectl, refused when sent raw", () => {
    const twice = '{"metadata":{"name":"twice"},"spec":{"ports":[{"port":80}],"type":"ClusterIP","type":"ClusterIP"}}';
    const raw = (validation: string) => `create --raw /api/v1/namespaces/default/services?fieldValidation=${validation} -f -`;
    expect(refused(raw("Strict"), { input: twice })).toBe(
      'Error from server (BadRequest): Service in version "v1" cannot be handled as a Service: strict decoding error: duplicate field "spec.type"',
    );
    const { code, err } = kubectl.run(raw("Warn"), { input: twice });
    expect({ code, err }).toEqual({ code: 0, err: 'Warning: duplicate field "spec.type"\n' });
  });
});

describe("kubectl create -k", () => {
  it("a kustomization: its resources with prefix and labels, and its ConfigMap; a second time: all refused", () => {
    const folder = dirname(
      kubectl.file(
        "kustomization.yaml",
        "namePrefix: pre-\nlabels: [{pairs: {team: a}}]\nresources: [kustomized.yaml]\nconfigMapGenerator: [{name: conf, literals: [a=b]}]\n",
      ),
    );
    kubectl.file("kustomized.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n  - port: 80\n");
    const names = ok(`create -k ${folder}`).split("\n");
    expect(names).toEqual([expect.stringMatching(/^configmap\/pre-conf-\w+ created$/), "service/pre-web created"]);
    expect(ok("get services -l team=a -o name")).toBe("service/pre-web");
    expect(refused(`create -k ${folder}`).match(/AlreadyExists/g)).toHaveLength(2);
    expect(ok(`delete -k ${folder}`).split("\n")).toHaveLength(2);
  });
});

describe("kubectl expose and run", () => {
  it("expose: type, addresses and labels of its flags", () => {
    ok("create service clusterip source --tcp=80");
    const { code, out } = kubectl.run(
      "expose service source --name=lb --type=LoadBalancer --load-balancer-ip=192.0.2.9 --external-ip=198.51.100.4 --port=80 -l x=y",
    );
    expect({ code, out }).toEqual({ code: 0, out: "service/lb exposed\n" });
    expect(ok("get svc lb -o jsonpath={.spec.type}/{.spec.loadBalancerIP}/{.spec.externalIPs}/{.metadata.labels}")).toBe(
      'LoadBalancer/192.0.2.9/["198.51.100.4"]/{"x":"y"}',
    );
    expect(ok("expose service source --name=no-address --cluster-ip=None --port=80")).toBe("service/no-address exposed");
    expect(ok("get svc no-address -o jsonpath={.spec.clusterIP}")).toBe("None");
    expect(ok("expose service source --name=rehearsed --port=80 --dry-run=server")).toBe("service/rehearsed exposed (server dry run)");
    expect(refused("get svc rehearsed")).toContain("NotFound");
    ok("delete service source lb no-address");
  });

  it.each([
    ["deployment web", 'error: the server doesn\'t have a resource type "deployment"'],
    ["rs web", 'error: the server doesn\'t have a resource type "rs"'],
    ["rc web", 'error: the server doesn\'t have a resource type "rc"'],
    ["configmap missing", 'Error from server (NotFound): configmaps "missing" not found'],
    ["namespace default", "error: cannot expose a Namespace"],
  ])("expose %s: refused with the reason", (what, err) => {
    expect(refused(`expose ${what} --port=80`)).toBe(err);
  });

  it("expose of a Pod without labels: refused by kubectl", () => {
    ok(
      `create -f ${kubectl.file("bare.json", { apiVersion: "v1", kind: "Pod", metadata: { name: "bare" }, spec: { containers: [{ name: "c", image: "i" }] } })}`,
    );
    expect(refused("expose pod bare --port=80")).toContain("the pod has no labels and cannot be exposed");
    ok("delete pod bare");
  });

  it("expose of a Service and of a Pod: makes a Service", () => {
    ok("create service clusterip origin --tcp=80:8080");
    expect(ok("expose service origin --name=copy --port=81 --target-port=9090 --type=NodePort --protocol=UDP")).toBe(
      "service/copy exposed",
    );
    expect(
      ok(
        "get svc copy -o jsonpath={.spec.type}/{.spec.ports[0].port}/{.spec.ports[0].targetPort}/{.spec.ports[0].protocol}/{.spec.selector}",
      ),
    ).toBe('NodePort/81/9090/UDP/{"app":"origin"}');
    ok("run shown --image=example.com/shown:1 --port=8080 --labels=app=shown");
    expect(ok("expose pod shown --selector=app=shown --cluster-ip=10.96.60.60 --session-affinity=ClientIP")).toBe("service/shown exposed");
    expect(ok("get svc shown -o jsonpath={.spec.clusterIP}/{.spec.ports[0].port}/{.spec.sessionAffinity}")).toBe(
      "10.96.60.60/8080/ClientIP",
    );
    expect(refused("expose service origin --port=80")).toBe('Error from server (AlreadyExists): services "origin" already exists');
    expect(refused("expose service missing --port=80")).toBe('Error from server (NotFound): services "missing" not found');
    ok("delete pod shown");
  });

  it("run: makes a Pod, and a Service with --expose", () => {
    expect(ok("run job --image=example.com/job:1 --restart=Never --env=MODE=fast --labels=app=job -- sleep 60")).toBe("pod/job created");
    expect(
      ok("get pod job -o jsonpath={.spec.restartPolicy}/{.spec.containers[0].args}/{.spec.containers[0].env[0].value}/{.status.phase}"),
    ).toBe('Never/["sleep","60"]/fast/Pending');
    expect(ok("run server --image=example.com/server:1 --port=8080 --expose").split("\n").sort()).toEqual([
      "pod/server created",
      "service/server created",
    ]);
    expect(ok("run dry --image=example.com/dry:1 --dry-run=server")).toBe("pod/dry created (server dry run)");
    expect(refused("run job --image=example.com/job:1")).toBe('Error from server (AlreadyExists): pods "job" already exists');
  });
});
