import { beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster, table, OBJECTS_LEFT_ALONE } from "../../support/clients/kubectl";
import { endpoints, endpointSlice, event, lease, list, node, pod, service } from "./objects";

const kubectl = kubectlInCluster(OBJECTS_LEFT_ALONE);
const { ok } = kubectl;

const port = (port: number) => [{ name: "http", port }];

beforeAll(() => {
  ok("create namespace team");
  const file = kubectl.file(
    "all.json",
    list(
      service("alpha", { clusterIP: "10.96.0.11", selector: { app: "a", tier: "front" }, ports: port(80) }, { labels: { tier: "front" } }),
      service(
        "beta",
        { clusterIP: "10.96.0.12", type: "NodePort", ports: [{ port: 53, protocol: "UDP", nodePort: 30053 }] },
        { labels: { tier: "back" } },
      ),
      service("gamma", { type: "ExternalName", externalName: "example.com" }),
      service("delta", { clusterIP: "None", ports: port(81) }, { namespace: "team", labels: { tier: "front" } }),
      endpoints("e1"),
      endpointSlice("s1", "alpha"),
      event("e1", "Warning", "it was tested", { name: "alpha" }),
      lease("l1", { holderIdentity: "me" }),
      node("n1"),
      pod("p1"),
    ),
  );
  expect(kubectl.run(`create -f ${file}`).code).toBe(0);
});

const header = ["NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"];
const alpha = ["alpha", "ClusterIP", "10.96.0.11", "<none>", "80/TCP", "AGE"];
const beta = ["beta", "NodePort", "10.96.0.12", "<none>", "53:30053/UDP", "AGE"];
const gamma = ["gamma", "ExternalName", "<none>", "example.com", "<none>", "AGE"];
const kubernetes = ["kubernetes", "ClusterIP", "10.96.0.1", "<none>", "443/TCP", "AGE"];
const delta = ["delta", "ClusterIP", "None", "<none>", "81/TCP", "AGE"];

describe("kubectl get: tables", () => {
  it.each<{ line: string; rows: string[][] }>([
    { line: "get services", rows: [header, alpha, beta, gamma, kubernetes] },
    { line: "get svc alpha", rows: [header, alpha] },
    { line: "get svc/beta svc/alpha", rows: [header, beta, alpha] },
    { line: "get svc gamma --no-headers", rows: [gamma] },
    { line: "get svc -n team", rows: [header, delta] },
    {
      line: "get svc -A -l tier=front",
      rows: [
        ["NAMESPACE", ...header],
        ["default", ...alpha],
        ["team", ...delta],
      ],
    },
    { line: "get svc alpha --show-kind", rows: [header, ["service/alpha", ...alpha.slice(1)]] },
    {
      line: "get svc alpha --show-labels",
      rows: [
        [...header, "LABELS"],
        [...alpha, "tier=front"],
      ],
    },
    {
      line: "get svc beta -L tier,none",
      rows: [
        [...header, "TIER", "NONE"],
        [...beta, "back"],
      ],
    },
    {
      line: "get svc -o wide --field-selector metadata.name!=kubernetes",
      rows: [
        [...header, "SELECTOR"],
        [...alpha, "app=a,tier=front"],
        [...beta, "<none>"],
        [...gamma, "<none>"],
      ],
    },
    { line: "get svc alpha --subresource=status", rows: [header, alpha] },
    {
      line: "get svc alpha --server-print=false",
      rows: [
        ["NAME", "AGE"],
        ["alpha", "AGE"],
      ],
    },
    { line: "get all -l tier=back", rows: [header, ["service/beta", ...beta.slice(1)]] },
    { line: "get svc missing --ignore-not-found", rows: [[""]] },
  ])("$line: the rows of the table", ({ line, rows }) => {
    expect(table(ok(line))).toEqual(rows);
  });

  it("several types in one call: a table each", () => {
    expect(ok("get svc,ns -l tier=front -A").split("\n").length).toBe(3);
    expect(table(ok("get services,namespaces team alpha --ignore-not-found"))).toEqual([
      header,
      ["service/alpha", ...alpha.slice(1)],
      [""],
      ["NAME", "STATUS", "AGE"],
      ["namespace/team", "Active", "AGE"],
    ]);
  });

  it("existing and missing objects: shown and named, exit code 1", () => {
    const { code, out, err } = kubectl.run("get svc missing alpha");
    expect(table(out.trimEnd())).toEqual([header, alpha]);
    expect({ code, err }).toEqual({ code: 1, err: 'Error from server (NotFound): services "missing" not found\n' });
  });

  it("no objects: one line that says so", () => {
    expect(kubectl.run("get pods -n team")).toEqual({ code: 0, out: "", err: "No resources found in team namespace.\n" });
    expect(kubectl.run("get nodes -l none")).toEqual({ code: 0, out: "", err: "No resources found\n" });
  });

  it.each<{ type: string; rows: string[][] }>([
    {
      type: "endpoints",
      rows: [
        ["NAME", "ENDPOINTS", "AGE"],
        ["e1", "192.0.2.5:80", "AGE"],
      ],
    },
    {
      type: "endpointslices",
      rows: [
        ["NAME", "ADDRESSTYPE", "PORTS", "ENDPOINTS", "AGE"],
        ["s1", "IPv4", "8080,8443", "10.1.0.1,10.1.0.2", "AGE"],
      ],
    },
    {
      type: "events",
      rows: [
        ["LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE", "FIRST SEEN", "COUNT", "NAME"],
        ["AGE", "Warning", "Tested", "service/alpha", "tester", "it was tested", "AGE", "2", "e1"],
      ],
    },
    {
      type: "leases",
      rows: [
        ["NAME", "HOLDER", "AGE"],
        ["l1", "me", "AGE"],
      ],
    },
    {
      type: "nodes",
      rows: [
        ["NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"],
        ["n1", "Ready", "worker", "AGE", "v1.36.2", "192.0.2.1", "<none>", "Linux", "6.1.0 (amd64)", "containerd://2.0.0"],
      ],
    },
    {
      type: "pods",
      rows: [
        ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"],
        ["p1", "0/1", "Pending", "0", "AGE", "<none>", "<none>", "<none>", "<none>"],
      ],
    },
    {
      type: "servicecidrs",
      rows: [
        // The last one is our own (docs/tenants.md).
        ["NAME", "CIDRS", "AGE", "NAMESPACES"],
        ["kubernetes", "10.96.0.0/16", "AGE", "<all>"],
      ],
    },
    {
      type: "ipaddresses",
      rows: [
        ["NAME", "PARENTREF"],
        ["10.96.0.1", "services/default/kubernetes"],
        ["10.96.0.11", "services/default/alpha"],
        ["10.96.0.12", "services/default/beta"],
      ],
    },
    {
      type: "namespaces",
      rows: [
        ["NAME", "STATUS", "AGE"],
        ...["default", "kube-node-lease", "kube-public", "kube-system", "team"].map((name) => [name, "Active", "AGE"]),
      ],
    },
  ])("-o wide of $type: upstream's columns", ({ type, rows }) => {
    expect(table(ok(`get ${type} -o wide`))).toEqual(rows);
  });

  it("both versions of a type: served", () => {
    expect(ok("get servicecidrs.v1beta1.networking.k8s.io kubernetes -o jsonpath={.apiVersion}")).toBe("networking.k8s.io/v1beta1");
    expect(ok("get events.v1.events.k8s.io e1 -o jsonpath={.apiVersion}/{.note}")).toBe("events.k8s.io/v1/it was tested");
  });
});

describe("kubectl get: selectors", () => {
  it.each<{ line: string; names: string[] }>([
    { line: "-l tier=front", names: ["alpha"] },
    { line: "-l 'tier in (front,back)'", names: ["alpha", "beta"] },
    { line: "-l !tier", names: ["gamma", "kubernetes"] },
    { line: "--field-selector metadata.name=alpha", names: ["alpha"] },
    { line: "--field-selector spec.type!=ClusterIP,spec.type!=NodePort", names: ["gamma"] },
    { line: "-A --field-selector metadata.namespace=team", names: ["delta"] },
    { line: "-A -l tier=front --field-selector spec.clusterIP=None", names: ["delta"] },
  ])("$line: the selected objects", ({ line, names }) => {
    expect(kubectl.run(`get svc ${line} -o name`).out.split("\n").filter(Boolean)).toEqual(names.map((name) => `service/${name}`));
  });
});

describe("kubectl get: output", () => {
  it("-o json: one object, or a List of many", () => {
    expect(JSON.parse(ok("get svc alpha -o json"))).toMatchObject({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "alpha", namespace: "default", labels: { tier: "front" } },
      spec: { clusterIP: "10.96.0.11", clusterIPs: ["10.96.0.11"], type: "ClusterIP", sessionAffinity: "None", ipFamilies: ["IPv4"] },
      status: { loadBalancer: {} },
    });
    const many = JSON.parse(ok("get svc -A -l tier=front -o json")) as {
      kind: string;
      items: { kind: string; metadata: { name: string } }[];
    };
    expect([many.kind, ...many.items.map((item) => `${item.kind}/${item.metadata.name}`)]).toEqual([
      "List",
      "Service/alpha",
      "Service/delta",
    ]);
  });

  it("--raw: the answer unchanged", () => {
    expect(JSON.parse(ok("get --raw /ranges"))).toMatchObject({
      ready: { IPv4: { prefixes: ["10.96.0.0/16"], zones: ["96.10.in-addr.arpa"] }, IPv6: { prefixes: [], zones: [] } },
    });
  });

  it("-o yaml: the object as YAML", () => {
    const lines = ok("get svc gamma -o yaml").split("\n");
    expect(lines.filter((line) => !/^ {2}(creationTimestamp|resourceVersion|uid|managedFields)|^ {2}- |^ {4}/.test(line))).toEqual([
      "apiVersion: v1",
      "kind: Service",
      "metadata:",
      "  name: gamma",
      "  namespace: default",
      "spec:",
      "  externalName: example.com",
      "  sessionAffinity: None",
      "  type: ExternalName",
      "status:",
      "  loadBalancer: {}",
    ]);
  });

  it.each([
    { line: "get svc,ns alpha team -o name --ignore-not-found", out: "service/alpha\nnamespace/team" },
    { line: "get svc beta -o jsonpath={.spec.ports[0].nodePort}/{.spec.ports[*].protocol}", out: "30053/UDP" },
    {
      line: `get svc -o jsonpath='{range .items[*]}{.metadata.name}={.spec.clusterIP};{end}'`,
      out: "alpha=10.96.0.11;beta=10.96.0.12;gamma=;kubernetes=10.96.0.1;",
    },
    { line: `get svc -o jsonpath='{.items[?(@.spec.type=="NodePort")].metadata.name}'`, out: "beta" },
    { line: "get svc alpha -o jsonpath={.none}", out: "" },
    { line: "get svc alpha -o jsonpath-as-json={.spec.selector.app}", out: '[\n    "a"\n]' },
    { line: `get svc -o go-template='{{range .items}}{{.metadata.name}} {{end}}'`, out: "alpha beta gamma kubernetes" },
  ])("$line: the text of the row", ({ line, out }) => {
    expect(ok(line)).toBe(out);
  });

  it("-o custom-columns: the named fields", () => {
    expect(table(ok("get svc -o custom-columns=NAME:.metadata.name,IP:.spec.clusterIP,PORTS:.spec.ports[*].port"))).toEqual([
      ["NAME", "IP", "PORTS"],
      ["alpha", "10.96.0.11", "80"],
      ["beta", "10.96.0.12", "53"],
      ["gamma", "<none>", "<none>"],
      ["kubernetes", "10.96.0.1", "443"],
    ]);
  });

  it.each([
    { by: ".metadata.name", names: "alpha beta gamma kubernetes" },
    { by: "{.spec.clusterIP}", names: "gamma kubernetes alpha beta" },
    { by: ".spec.type", names: "alpha|kubernetes" },
  ])("--sort-by=$by: objects in order", ({ by, names }) => {
    const order = table(ok(`get svc --sort-by=${by} --no-headers`)).map(([name]) => name);
    if (names.includes("|")) expect([order[0], order[1]].sort()).toEqual(names.split("|"));
    else expect(order.join(" ")).toBe(names);
  });

  it.each([0, 1, 3])("--chunk-size=%d: the same table", (size) => {
    expect(table(ok(`get svc --chunk-size=${String(size)}`))).toEqual([header, alpha, beta, gamma, kubernetes]);
    expect(ok(`get svc -A -o name --chunk-size=${String(size)}`).split("\n").length).toBe(5);
  });

  it("-f: shows the objects of a file", () => {
    const file = kubectl.file("two.json", list(service("alpha"), lease("l1")));
    expect(ok(`get -f ${file} -o name`)).toBe("service/alpha\nlease.coordination.k8s.io/l1");
  });
});

describe("kubectl get --watch", () => {
  it("a Service that comes, changes and goes, or enters and leaves the selector: shown", async () => {
    const all = kubectl.background("get services -w --output-watch-events --no-headers");
    const selected = kubectl.background("get services -l seen=yes -w --output-watch-events --no-headers");
    const only = kubectl.background("get services --watch-only -o jsonpath={.metadata.name}={.metadata.labels.seen};");
    try {
      await all.until(/ADDED +kubernetes/);
      // Nothing that can be seen tells when a watch without objects has begun: ping until it shows.
      let pings = 0;
      await expect
        .poll(
          () => {
            ok(`annotate service alpha ping=${String(pings++)} --overwrite`);
            return only.text();
          },
          { interval: 100 },
        )
        .toContain("alpha=;");
      ok("create service clusterip watched --tcp=80");
      await all.until(/ADDED +watched +ClusterIP +10\.96\.\S+ +<none> +80\/TCP +\d+s/);
      ok("label service watched seen=yes");
      await all.until(/MODIFIED +watched/);
      await selected.until(/ADDED +watched/);
      ok("label service watched seen-");
      await selected.until(/DELETED +watched/);
      ok("delete service watched");
      await all.until(/DELETED +watched/);
      await only.until(/watched=;watched=yes;watched=;watched=;/);
      expect(only.text()).not.toContain("kubernetes");
    } finally {
      for (const watch of [all, selected, only]) watch.stop();
    }
  });

  it("--watch-only -o json: each change as a whole object, and nothing that was there before", async () => {
    ok(`create -f ${kubectl.file("watched.json", lease("watched"))}`);
    const one = kubectl.background("get lease watched --watch-only -o json");
    const all = kubectl.background("get leases --watch-only -o json --output-watch-events");
    try {
      let pings = 0;
      await expect
        .poll(
          () => {
            ok(`annotate lease watched ping=${String(pings++)} --overwrite`);
            return [one, all].every((watch) => watch.text().includes('"ping"'));
          },
          { interval: 100 },
        )
        .toBe(true);
      ok(`patch lease watched -p '{"spec":{"holderIdentity":"me"}}'`);
      await one.until(/"holderIdentity": "me"/);
      ok("delete lease watched");
      await all.until(/^\{"type":"DELETED",.*\n$/m);
      const lines = all.text().trimEnd().split("\n");
      const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
      expect([...new Set(types)]).toEqual(["MODIFIED", "DELETED"]);
      const whole = one.text().split(/^(?<=\}\n)(?=\{$)/m);
      expect(whole.length).toBeGreaterThan(1);
      for (const text of whole) expect(JSON.parse(text)).toMatchObject({ kind: "Lease", metadata: { name: "watched" } });
    } finally {
      for (const watch of [one, all]) watch.stop();
    }
  });

  it("one object: shown once, then its changes", async () => {
    const watch = kubectl.background("get service alpha -w --output-watch-events -o name");
    try {
      await watch.until(/ADDED +service\/alpha|service\/alpha/);
      ok("annotate service alpha touched=yes");
      await expect.poll(() => watch.text().split("\n").filter(Boolean).length).toBeGreaterThan(1);
      expect(watch.text()).not.toContain("beta");
    } finally {
      watch.stop();
    }
  });

  it("--request-timeout=1s: ends the watch", async () => {
    // The second is also for kubectl's first list.
    await expect
      .poll(() => kubectl.beside("get services -w --request-timeout=1s"))
      .toMatchObject({ code: 0, out: expect.stringMatching(/^NAME/) as string });
  });
});
