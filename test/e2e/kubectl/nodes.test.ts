import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster, table } from "../../support/clients/kubectl";
import { NODES_ARE_NAMES } from "../../support/server/cluster-for-tests";
import { list, node, pod } from "./objects";

const kubectl = kubectlInCluster(NODES_ARE_NAMES);
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

describe("kubectl get --raw of nodes/proxy", () => {
  it("a node's health as its proxy has it: by the short path's rules, and Not Found for a missing node", () => {
    expect(JSON.parse(ok("get --raw /api/v1/nodes/n1:10256/proxy/healthz"))).toMatchObject({ nodeEligible: true, healthy: true });
    expect(JSON.parse(ok("get --raw /api/v1/nodes/http:n1:10256/proxy/livez"))).not.toHaveProperty("nodeEligible");
    expect(refused("get --raw /api/v1/nodes/missing:10256/proxy/healthz")).toBe('Error from server (NotFound): nodes "missing" not found');
    expect(refused("get --raw /api/v1/nodes/n1:80/proxy/")).toContain("error trying to reach service: dial tcp");
  });
});

describe("health checks of a node, by curl", () => {
  /** Codes of /healthz and /livez. */
  const codes = () =>
    ["healthz", "livez"]
      .map(
        (path) =>
          spawnSync("curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", `${kubectl.cluster.url}/nodes/n1/${path}`], {
            encoding: "utf8",
          }).stdout,
      )
      .join(" ");
  const becomes = (want: string) => expect.poll(codes, { timeout: 30_000 }).toBe(want);

  it("kubectl taint as the autoscaler does it: red on /healthz alone, green without the taint; kubectl cordon: green", async () => {
    await becomes("200 200");
    ok("taint node n1 ToBeDeletedByClusterAutoscaler=1:NoSchedule");
    await becomes("503 200");
    ok("cordon n1");
    ok("taint node n1 ToBeDeletedByClusterAutoscaler-");
    await becomes("200 200");
    ok("uncordon n1");
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

  describe("drain of a node with pods of several kinds", () => {
    const by = (kind: string) => ({ ownerReferences: [{ apiVersion: "apps/v1", kind, name: "owner", uid: "u", controller: true }] });
    const spec = (grace: number) => ({ nodeName: "n3", terminationGracePeriodSeconds: grace });
    const left = () => ok("get pods -l on=n3 -o name").split("\n").filter(Boolean);
    beforeAll(() => {
      const on = (name: string, grace: number, metadata: object = {}, more: object = {}) =>
        pod(name, { ...spec(grace), ...more }, { labels: { on: "n3", is: name }, ...metadata });
      const scratch = { volumes: [{ name: "scratch", emptyDir: {} }] };
      const pods = [on("slow", 30), on("scratch", 0, {}, scratch), on("daemon", 0, by("DaemonSet")), on("replica", 0, by("ReplicaSet"))];
      ok(`create -f ${kubectl.file("n3.json", list(node("n3"), ...pods))}`);
    });

    it("without flags, and as a dry run: every reason, and no pod goes", () => {
      for (const line of ["drain n3", "drain n3 --dry-run=server"]) {
        const why = refused(line);
        expect(why).toContain("cannot delete Pods with local storage (use --delete-emptydir-data to override): default/scratch");
        expect(why).toContain("cannot delete Pods that declare no controller (use --force to override): default/slow");
        expect(why).toContain("daemonsets.apps is not served");
      }
      expect(left()).toHaveLength(4);
      expect(ok("get nodes --field-selector spec.unschedulable=true -o name")).toBe("node/n3");
    });

    it("--pod-selector: the selected pods alone", () => {
      expect(ok("drain n3 --pod-selector=is=replica").split("\n")).toEqual([
        "node/n3 already cordoned",
        "evicting pod default/replica",
        "pod/replica evicted",
        "node/n3 drained",
      ]);
      const { code, out } = kubectl.run("drain n3 --force --ignore-daemonsets --delete-emptydir-data --pod-selector=is!=slow");
      expect({ code, evicted: out.match(/^pod\/.*$/gm)?.sort() }).toEqual({
        code: 0,
        evicted: ["pod/daemon evicted", "pod/scratch evicted"],
      });
      expect(left()).toEqual(["pod/slow"]);
    });

    it("--grace-period and --timeout: a pod that is still ending is named, with its grace and its condition", async () => {
      // The second is also for the eviction, which a slow machine may not have made by then.
      await expect
        .poll(() => refused("drain n3 --force --grace-period=5 --timeout=1s"))
        .toMatch(/error when waiting for pod "slow" in namespace "default" to terminate/);
      expect(
        ok("get pod slow -o jsonpath={.metadata.deletionGracePeriodSeconds}/{.status.conditions[0].type}/{.status.conditions[0].reason}"),
      ).toBe("5/DisruptionTarget/EvictionByEvictionAPI");
    });

    it("--disable-eviction with --grace-period=0: deletes what is left", () => {
      const { code, out } = kubectl.run("drain n3 --force --grace-period=0 --disable-eviction --timeout=20s");
      expect({ code, lines: out.trimEnd().split("\n").slice(-2) }).toEqual({ code: 0, lines: ["pod/slow deleted", "node/n3 drained"] });
      expect(left()).toEqual([]);
      ok("delete node n3");
    });
  });
});
