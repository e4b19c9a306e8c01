import { beforeAll, describe, expect, it } from "vitest";
import { kubectlAgainstServer, table } from "../../support/clients/kubectl";
import { list, node, pod } from "./objects";

const kubectl = kubectlAgainstServer();
const { ok, refused } = kubectl;

const taints = (name = "n1") => JSON.parse(ok(`get node ${name} -o jsonpath={.spec.taints}`) || "[]") as object[];

beforeAll(() => {
  ok(`create -f ${kubectl.file("nodes.json", list(node("n1"), node("n2")))}`);
});

describe("kubectl taint", () => {
  it("a taint: added, changed, removed", () => {
    expect(ok("taint node n1 dedicated=db:NoSchedule")).toBe("node/n1 tainted");
    expect(ok("taint node n1 broken:NoExecute")).toBe("node/n1 tainted");
    expect(taints()).toEqual([
      { key: "broken", effect: "NoExecute" },
      { key: "dedicated", value: "db", effect: "NoSchedule" },
    ]);
    expect(refused("taint node n1 dedicated=web:NoSchedule")).toBe(
      "error: node n1 already has dedicated taint(s) with same effect(s) and --overwrite is false",
    );
    expect(ok("taint node n1 dedicated=web:NoSchedule --overwrite")).toBe("node/n1 modified");
    expect(taints()).toContainEqual({ key: "dedicated", value: "web", effect: "NoSchedule" });
    expect(ok("taint node n1 broken-")).toBe("node/n1 untainted");
    expect(ok("taint node n1 dedicated:NoSchedule-")).toBe("node/n1 untainted");
    expect(taints()).toEqual([]);
    expect(refused("taint node n1 dedicated-")).toBe('error: taint "dedicated" not found');
  });

  it("nodes by label and --all: tainted", () => {
    expect(ok("taint nodes -l kubernetes.io/hostname=n2 a=b:PreferNoSchedule")).toBe("node/n2 tainted");
    expect(ok("taint nodes --all c=d:NoSchedule").split("\n")).toEqual(["node/n1 tainted", "node/n2 tainted"]);
    expect(taints("n2").length).toBe(2);
    ok("taint nodes --all c-");
  });

  it("a malformed taint and a missing node: refused", () => {
    expect(refused("taint node missing a=b:NoSchedule")).toBe('Error from server (NotFound): nodes "missing" not found');
    expect(refused("taint node n1 a=b:Nope")).toContain("invalid taint effect: Nope");
  });
});

describe("kubectl cordon, uncordon and drain", () => {
  it("cordon and uncordon: change spec.unschedulable", () => {
    expect(ok("cordon n1")).toBe("node/n1 cordoned");
    expect(ok("cordon n1")).toBe("node/n1 already cordoned");
    expect(table(ok("get nodes"))).toEqual([
      ["NAME", "STATUS", "ROLES", "AGE", "VERSION"],
      ["n1", "Ready,SchedulingDisabled", "worker", "AGE", "v1.36.2"],
      ["n2", "Ready", "worker", "AGE", "v1.36.2"],
    ]);
    expect(ok("get nodes --field-selector spec.unschedulable=true -o name")).toBe("node/n1");
    expect(ok("uncordon n1")).toBe("node/n1 uncordoned");
    expect(ok("uncordon n1")).toBe("node/n1 already uncordoned");
    expect(ok("get nodes --field-selector spec.unschedulable=true -o name")).toBe("");
    expect(refused("cordon missing")).toBe('Error from server (NotFound): nodes "missing" not found');
  });

  it("drain: removes the pods of a node", () => {
    ok(`create -f ${kubectl.file("pod.json", pod("worker", { nodeName: "n2", terminationGracePeriodSeconds: 0 }))}`);
    ok(`create -f ${kubectl.file("elsewhere.json", pod("elsewhere", { nodeName: "n1" }))}`);
    const unmanaged = refused("drain n2");
    expect(unmanaged).toContain("default/worker");
    expect(unmanaged).toContain("--force");
    const { code, out } = kubectl.run("drain n2 --force --grace-period=0 --timeout=20s");
    expect({ code, last: out.trimEnd().split("\n").at(-1) }).toEqual({ code: 0, last: "node/n2 drained" });
    expect(refused("get pod worker")).toContain("NotFound");
    expect(ok("get pod elsewhere -o name")).toBe("pod/elsewhere");
    ok("uncordon n2");
  });
});
