import { describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { NODES_ARE_NAMES } from "../../support/server/cluster-for-tests";
import { endpoints, endpointSlice, event, lease, list, node, pod, service, serviceCIDR } from "./objects";

const kubectl = kubectlInCluster(NODES_ARE_NAMES);
const { ok, refused } = kubectl;

const first = service(
  "app",
  {
    selector: { app: "x", tier: "one" },
    ports: [
      { name: "http", port: 80, targetPort: 8080 },
      { name: "https", port: 443 },
    ],
  },
  { labels: { kept: "yes", dropped: "soon" }, annotations: { dropped: "soon" } },
);
const second = service(
  "app",
  { selector: { app: "x" }, sessionAffinity: "ClientIP", ports: [{ name: "https", port: 443 }] },
  { labels: { kept: "yes" } },
);

describe("kubectl apply (client side)", () => {
  it("a file: created, unchanged, changed, and removed fields pruned", () => {
    const one = kubectl.file("first.json", first);
    const two = kubectl.file("second.json", second);
    expect(ok(`apply -f ${one}`)).toBe("service/app created");
    const before = ok("get service app -o jsonpath={.spec.clusterIP}/{.metadata.uid}/{.metadata.resourceVersion}");
    expect(ok(`apply -f ${one}`)).toBe("service/app unchanged");
    expect(ok("get service app -o jsonpath={.spec.clusterIP}/{.metadata.uid}/{.metadata.resourceVersion}")).toBe(before);

    ok("label service app by=others");
    expect(ok(`apply -f ${two} --dry-run=client`)).toBe("service/app configured (dry run)");
    expect(ok(`apply -f ${two} --dry-run=server`)).toBe("service/app configured (server dry run)");
    expect(ok("get service app -o jsonpath={.spec.ports[*].port}")).toBe("80 443");
    expect(ok(`apply -f ${two}`)).toBe("service/app configured");
    const after = JSON.parse(ok("get service app -o json")) as { metadata: { labels: object; annotations: object }; spec: object };
    expect(after.metadata.labels).toEqual({ kept: "yes", by: "others" });
    expect(Object.keys(after.metadata.annotations)).toEqual(["kubectl.kubernetes.io/last-applied-configuration"]);
    expect(after.spec).toMatchObject({
      clusterIP: before.split("/")[0],
      selector: { app: "x" },
      sessionAffinity: "ClientIP",
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 443 }],
    });
    expect(ok(`apply -f ${one}`)).toBe("service/app configured");
    expect(ok("get service app -o jsonpath={.spec.ports[*].targetPort}/{.spec.sessionAffinity}")).toBe("8080 443/None");
  });

  it("view-last-applied, set-last-applied and edit-last-applied: show and write the annotation", () => {
    ok(`apply -f ${kubectl.file("viewed.json", service("viewed", { ports: [{ port: 80 }] }))}`);
    expect(JSON.parse(ok("apply view-last-applied service viewed -o json"))).toMatchObject({ spec: { ports: [{ port: 80 }] } });
    const set = kubectl.file("set.json", service("viewed", { ports: [{ port: 80 }] }, { labels: { from: "set" } }));
    expect(ok(`apply set-last-applied -f ${set}`)).toBe("service/viewed configured");
    expect(ok("apply view-last-applied svc/viewed")).toContain("from: set");
    const env = { KUBE_EDITOR: kubectl.editor("set.sh", 'sed -i -e "s/from: set/from: edit/" "$1"') };
    expect(kubectl.run("apply edit-last-applied svc/viewed", { env })).toMatchObject({ code: 0, out: "service/viewed edited\n" });
    expect(ok("apply view-last-applied svc/viewed")).toContain("from: edit");
  });

  it("an object that was created otherwise: a warning, then taken over", () => {
    ok("create service clusterip taken --tcp=80");
    const file = kubectl.file("taken.json", service("taken", { ports: [{ name: "80", port: 80 }] }, { labels: { by: "apply" } }));
    const { code, out, err } = kubectl.run(`apply -f ${file}`);
    expect({ code, out }).toEqual({ code: 0, out: "service/taken configured\n" });
    expect(err).toMatch(/^Warning: resource services\/taken is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/);
    expect(ok(`apply -f ${file}`)).toBe("service/taken unchanged");
  });

  it("each served type: created, then unchanged", () => {
    const all = list(
      service("each"),
      endpointSlice("each", "each"),
      event("each", "Normal", "applied"),
      lease("each", { holderIdentity: "me", renewTime: "2024-01-01T00:00:00.000000Z" }),
      node("each"),
      pod("each"),
      serviceCIDR("each", ["10.101.0.0/24"]),
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "IPAddress",
        metadata: { name: "10.101.0.9" },
        spec: { parentRef: { resource: "things", name: "x" } },
      },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "each" } },
    );
    const file = kubectl.file("each.json", all);
    const names = [
      "service/each",
      "endpointslice.discovery.k8s.io/each",
      "event/each",
      "lease.coordination.k8s.io/each",
      "node/each",
      "pod/each",
      "servicecidr.networking.k8s.io/each",
      "ipaddress.networking.k8s.io/10.101.0.9",
      "namespace/each",
    ];
    expect(ok(`apply -f ${file}`).split("\n")).toEqual(names.map((name) => `${name} created`));
    expect(ok(`apply -f ${file}`).split("\n")).toEqual(names.map((name) => `${name} unchanged`));
    const deprecated = kubectl.run("apply -f -", { input: JSON.stringify(endpoints("each")) });
    expect(deprecated).toEqual({
      code: 0,
      out: "endpoints/each created\n",
      err: "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n",
    });
  });

  it("--prune: deletes labelled objects that the file lacks", () => {
    const labelled = (name: string) => service(name, { ports: [{ port: 80 }] }, { labels: { set: "pruned" } });
    ok(`apply -f ${kubectl.file("both.json", list(labelled("stays"), labelled("goes")))}`);
    const prune = "--prune -l set=pruned --prune-allowlist=core/v1/Service";
    expect(ok(`apply -f ${kubectl.file("one.json", list(labelled("stays")))} ${prune}`).split("\n")).toEqual([
      "service/stays unchanged",
      "service/goes pruned",
    ]);
    expect(ok("get services -l set=pruned -o name")).toBe("service/stays");
  });

  it("an immutable field: refused with upstream's text", () => {
    ok(`apply -f ${kubectl.file("fixed.json", service("fixed", { clusterIP: "10.96.3.3", ports: [{ port: 80 }] }))}`);
    const moved = kubectl.file("moved.json", service("fixed", { clusterIP: "10.96.3.4", ports: [{ port: 80 }] }));
    expect(refused(`apply -f ${moved}`)).toBe(
      'The Service "fixed" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.3.4"]: may not change once set',
    );
    const replaced = kubectl.run(`apply -f ${moved} --force`);
    expect(replaced).toMatchObject({ code: 0, out: expect.stringMatching(/service\/fixed configured\n$/) as unknown });
    expect(ok("get service fixed -o jsonpath={.spec.clusterIP}")).toBe("10.96.3.4");
  });

  it("unknown fields: refused", () => {
    const file = kubectl.file("unknown.json", service("unknown", { ports: [{ port: 80 }], nope: 1 }));
    expect(refused(`apply -f ${file}`)).toMatch(/strict decoding error: unknown field "spec\.nope"$/);
    expect(kubectl.run(`apply -f ${file} --validate=warn`)).toEqual({
      code: 0,
      out: "service/unknown created\n",
      err: 'Warning: unknown field "spec.nope"\n',
    });
  });
});

describe("kubectl diff", () => {
  it("no difference: exit code 0, no output", () => {
    const file = kubectl.file("same.json", service("same"));
    ok(`apply -f ${file}`);
    expect(ok(`diff -f ${file}`)).toBe("");
  });

  it("a difference: exit code 1, shown and not applied", () => {
    ok(`apply -f ${kubectl.file("old.json", service("diffed", { selector: { app: "old" }, ports: [{ name: "http", port: 80 }] }))}`);
    const version = ok("get service diffed -o jsonpath={.metadata.resourceVersion}");
    const file = kubectl.file("new.json", service("diffed", { sessionAffinity: "ClientIP", ports: [{ name: "http", port: 81 }] }));
    const { code, out, err } = kubectl.run(`diff -f ${file}`);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    const changed = out.split("\n").filter((line) => /^[+-] /.test(line));
    expect(changed.map((line) => line.replaceAll(/ +/g, " "))).toEqual([
      "- port: 80",
      "+ port: 81",
      "- targetPort: 80",
      "- selector:",
      "- app: old",
      "- sessionAffinity: None",
      "+ targetPort: 81",
      "+ sessionAffinity: ClientIP",
      "+ sessionAffinityConfig:",
      "+ clientIP:",
      "+ timeoutSeconds: 10800",
    ]);
    expect(ok("get service diffed -o jsonpath={.metadata.resourceVersion}")).toBe(version);
  });

  it("a missing object: shown as a whole", () => {
    const { code, out } = kubectl.run(`diff -f ${kubectl.file("absent.json", service("absent"))}`);
    expect(code).toBe(1);
    expect(out).toMatch(/^\+kind: Service$/m);
    expect(refused("get service absent")).toContain("NotFound");
  });

  it("a failure: exit code above 1", () => {
    const { code, err } = kubectl.run(`diff -f ${kubectl.file("invalid.json", service("absent", { ports: [{ port: 0 }] }))}`);
    expect(code).toBeGreaterThan(1);
    expect(err).toContain("must be between 1 and 65535, inclusive");
  });
});
