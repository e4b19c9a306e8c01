import { describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { lease, list, pod, service, serviceCIDR } from "./objects";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

const create = (...objects: object[]) => ok(`create -f ${kubectl.file("create.json", list(...objects))}`);
const get = (path: string, name: string) => ok(`get ${name} -o jsonpath=${path}`);
/** A line like `service "web" deleted`; newer kubectls add the namespace. */
const deleted = (...names: string[]) => new RegExp(`^${names.map((name) => `${name} deleted( from \\S+ namespace)?`).join("\n")}$`);

describe("kubectl replace", () => {
  it("a file: keeps address and uid, removes fields that it lacks", () => {
    create(service("web", { selector: { app: "web" }, ports: [{ port: 80 }] }, { labels: { tier: "front" } }));
    const before = get("{.metadata.uid}/{.spec.clusterIP}", "svc/web");
    expect(ok(`replace -f ${kubectl.file("web.json", service("web", { ports: [{ port: 81 }] }))}`)).toBe("service/web replaced");
    expect(get("{.metadata.uid}/{.spec.clusterIP}", "svc/web")).toBe(before);
    expect(get("{.spec.ports[0].port}{.spec.selector}{.metadata.labels}", "svc/web")).toBe("81");
  });

  it("a stale resourceVersion, a missing object, an immutable field: refused", () => {
    const stale = kubectl.file("stale.json", service("web", { ports: [{ port: 82 }] }, { resourceVersion: "1" }));
    expect(refused(`replace -f ${stale}`)).toBe(
      `Error from server (Conflict): error when replacing "${stale}": Operation cannot be fulfilled on services "web": the object has been modified; please apply your changes to the latest version and try again`,
    );
    const missing = kubectl.file("missing.json", serviceCIDR("missing", ["10.99.0.0/24"]));
    expect(refused(`replace -f ${missing}`)).toBe(
      `Error from server (NotFound): error when replacing "${missing}": servicecidrs.networking.k8s.io "missing" not found`,
    );
    const moved = kubectl.file("moved.json", service("web", { clusterIP: "10.96.9.9", ports: [{ port: 80 }] }));
    expect(refused(`replace -f ${moved}`)).toBe(
      'The Service "web" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.9.9"]: may not change once set',
    );
    expect(refused(`replace -f ${kubectl.file("bad.json", service("web", { ports: [{ port: 80, nope: 1 }] }))}`)).toContain(
      'strict decoding error: unknown field "spec.ports[0].nope"',
    );
  });

  it("--force: deletes and creates again, with the file's address", () => {
    const uid = get("{.metadata.uid}", "svc/web");
    const file = kubectl.file("forced.json", service("web", { clusterIP: get("{.spec.clusterIP}", "svc/web"), ports: [{ port: 83 }] }));
    expect(ok(`replace --force -f ${file}`)).toMatch(/^service "web" deleted( from \S+ namespace)?\nservice\/web replaced$/);
    expect(get("{.metadata.uid}", "svc/web")).not.toBe(uid);
    expect(get("{.spec.ports[0].port}", "svc/web")).toBe("83");
  });

  it("a missing Service: created, as upstream", () => {
    expect(ok(`replace -f ${kubectl.file("absent.json", service("absent"))}`)).toBe("service/absent replaced");
    expect(get("{.spec.clusterIP}", "svc/absent")).toMatch(/^10\.96\./);
  });

  it("other types: replaced", () => {
    create(lease("l1", { holderIdentity: "a" }));
    expect(ok(`replace -f ${kubectl.file("lease.json", lease("l1", { holderIdentity: "b" }))}`)).toBe(
      "lease.coordination.k8s.io/l1 replaced",
    );
    expect(get("{.spec.holderIdentity}", "lease/l1")).toBe("b");
  });
});

describe("kubectl delete", () => {
  it("names, type/name, a file: deleted; a missing object: named", () => {
    create(service("a"), service("b"), service("c"), lease("d"));
    expect(ok("delete service a b")).toMatch(deleted('service "a"', 'service "b"'));
    expect(ok("delete svc/c lease/d")).toMatch(deleted('service "c"', 'lease.coordination.k8s.io "d"'));
    expect(refused("delete service a")).toBe('Error from server (NotFound): services "a" not found');
    expect(ok("delete service a --ignore-not-found")).toBe("");
    const file = kubectl.file("e.json", list(service("e"), lease("e")));
    ok(`create -f ${file}`);
    expect(ok(`delete -f ${file}`)).toMatch(deleted('service "e"', 'lease.coordination.k8s.io "e"'));
    expect(refused(`delete -f ${file}`).split("\n")[0]).toBe(
      `Error from server (NotFound): error when deleting "${file}": services "e" not found`,
    );
    expect(ok("delete service a -o name --ignore-not-found")).toBe("");
  });

  it("by label, by field, --all: the selected objects go", () => {
    create(...["a", "b"].map((name) => lease(name, {}, { labels: { set: "x" } })), lease("c"), lease("d"));
    expect(ok("delete leases -l set=x")).toMatch(deleted('lease.coordination.k8s.io "a"', 'lease.coordination.k8s.io "b"'));
    expect(ok("delete leases --field-selector metadata.name=c")).toMatch(deleted('lease.coordination.k8s.io "c"'));
    expect(ok("delete leases --all")).toMatch(/"d" deleted/);
    expect(ok("get leases -o name")).toBe("");
    expect(kubectl.run("delete leases --all")).toEqual({ code: 0, out: "No resources found\n", err: "" });
    expect(refused("delete leases")).toBe("error: resource(s) were provided, but no name was specified");
  });

  it("--dry-run: nothing is deleted", () => {
    create(lease("dry"));
    expect(ok("delete lease dry --dry-run=client")).toMatch(/^lease\.coordination\.k8s\.io "dry" deleted.* ?\(dry run\)/);
    expect(ok("delete lease dry --dry-run=server")).toMatch(/^lease\.coordination\.k8s\.io "dry" deleted.* ?\(server dry run\)/);
    expect(ok("get lease dry -o name")).toBe("lease.coordination.k8s.io/dry");
  });

  it("finalizers: waited for, with --timeout=1s and --wait=false", async () => {
    create(lease("held", {}, { finalizers: ["example.com/hold"] }));
    // The second is also for the deletion itself.
    await expect
      .poll(() => refused("delete lease held --timeout=1s"))
      .toMatch(/error: timed out waiting for the condition on leases\/held$/);
    expect(ok("delete lease held --wait=false")).toMatch(/"held" deleted/);
    expect(get("{.metadata.deletionTimestamp}", "lease/held")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(refused(`patch lease held --type=merge -p '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'`)).toBe(
      'The Lease "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/more"}',
    );
    const waiting = kubectl.background("delete lease held --timeout=20s");
    await waiting.until(/"held" deleted/);
    ok(`patch lease held --type=merge -p '{"metadata":{"finalizers":null}}'`);
    expect(await waiting.ended).toBe(0);
    expect(refused("get lease held")).toContain("NotFound");
  });

  it("a pod on a node: waited for; --now and --force --grace-period=0", () => {
    create(pod("graceful", { nodeName: "n1" }), pod("quick"), pod("unbound"));
    expect(ok("delete pod unbound --now")).toMatch(/^pod "unbound" deleted/);
    expect(ok("delete pod quick --grace-period=1")).toMatch(/^pod "quick" deleted/);
    ok("delete pod graceful --wait=false");
    expect(ok("get pod graceful --no-headers")).toMatch(/^graceful +0\/1 +Terminating /);
    const forced = kubectl.run("delete pod graceful --force --grace-period=0");
    expect(forced.code).toBe(0);
    expect(forced.out).toMatch(/^pod "graceful" force deleted/);
    expect(forced.err).toMatch(/^Warning: Immediate deletion does not wait for confirmation/);
    expect(ok("get pods -o name")).toBe("");
  });

  it("--raw: the object is deleted", () => {
    create(lease("raw"));
    expect(JSON.parse(ok("delete --raw /apis/coordination.k8s.io/v1/namespaces/default/leases/raw"))).toMatchObject({
      kind: "Status",
      status: "Success",
      details: { name: "raw", group: "coordination.k8s.io", kind: "leases" },
    });
  });
});

describe("kubectl delete namespace", () => {
  it("a namespace: emptied first, and a new one of the name is empty", () => {
    ok("create namespace team");
    create(
      service("inner", { clusterIP: "10.96.40.40", ports: [{ port: 80 }] }, { namespace: "team" }),
      lease("inner", {}, { namespace: "team" }),
    );
    expect(ok("delete namespace team --timeout=30s")).toMatch(/^namespace "team" deleted/);
    expect(refused("get namespace team")).toBe('Error from server (NotFound): namespaces "team" not found');
    expect(refused("get ipaddress 10.96.40.40")).toContain("NotFound");
    ok("create namespace team");
    expect(ok("get services,leases -n team -o name")).toBe("");
  });

  it("a namespace being deleted: refuses content; a system namespace: stays", () => {
    ok("create namespace held");
    create(lease("hold", {}, { namespace: "held", finalizers: ["example.com/hold"] }));
    ok("delete namespace held --wait=false");
    expect(ok("get namespace held --no-headers")).toMatch(/^held +Terminating /);
    expect(refused("-n held create service clusterip late --tcp=80")).toContain(
      'services "late" is forbidden: unable to create new content in namespace held because it is being terminated',
    );
    ok(`-n held patch lease hold --type=merge -p '{"metadata":{"finalizers":null}}'`);
    ok("wait --for=delete namespace/held --timeout=30s");
    for (const name of ["default", "kube-system", "kube-public"]) {
      expect(refused(`delete namespace ${name}`)).toBe(
        `Error from server (Forbidden): namespaces "${name}" is forbidden: this namespace may not be deleted`,
      );
    }
  });
});

describe("kubectl delete of an owner", () => {
  const owned = (name: string) => {
    create(service(name));
    const owner = { apiVersion: "v1", kind: "Service", blockOwnerDeletion: true, name, uid: get("{.metadata.uid}", `svc/${name}`) };
    create(lease(`of-${name}`, {}, { ownerReferences: [owner] }));
  };

  it("--cascade=foreground: the dependents are gone when the command returns", () => {
    owned("foremost");
    expect(ok("delete service foremost --cascade=foreground --timeout=20s")).toMatch(deleted('service "foremost"'));
    expect(refused("get lease of-foremost")).toBe('Error from server (NotFound): leases.coordination.k8s.io "of-foremost" not found');
  });

  it("--cascade=orphan: the dependents stay, without the owner", () => {
    owned("orphaned");
    expect(ok("delete service orphaned --cascade=orphan --timeout=20s")).toMatch(deleted('service "orphaned"'));
    expect(get("{.metadata.name}{.metadata.ownerReferences}", "lease/of-orphaned")).toBe("of-orphaned");
  });

  it("--cascade=background and the default: the dependents follow", () => {
    owned("back");
    ok("delete service back");
    ok("wait --for=delete lease/of-back --timeout=20s");
    owned("behind");
    ok("delete service behind --cascade=background");
    ok("wait --for=delete lease/of-behind --timeout=20s");
  });
});
