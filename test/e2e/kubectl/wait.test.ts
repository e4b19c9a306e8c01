import { beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { lease, list, pod, service, serviceCIDR } from "./objects";

const kubectl = kubectlInCluster();
const { ok } = kubectl;

beforeAll(() => {
  ok(`create -f ${kubectl.file("all.json", list(service("web"), pod("p1"), serviceCIDR("extra", ["10.100.0.0/24"])))}`);
});

describe("kubectl wait for a condition that holds", () => {
  it.each([
    { line: "--for=condition=Ready servicecidr/kubernetes", out: "servicecidr.networking.k8s.io/kubernetes condition met" },
    { line: "--for=condition=Ready=true servicecidr/extra", out: "servicecidr.networking.k8s.io/extra condition met" },
    { line: "--for=jsonpath={.spec.type}=ClusterIP service/web", out: "service/web condition met" },
    { line: "--for=jsonpath={.spec.clusterIP} service/web", out: "service/web condition met" },
    { line: "--for=jsonpath={.status.phase}=Pending pods --all", out: "pod/p1 condition met" },
    {
      line: `--for=jsonpath='{.status.conditions[?(@.type=="Ready")].status}'=True servicecidr/kubernetes`,
      out: "servicecidr.networking.k8s.io/kubernetes condition met",
    },
    { line: "--for=jsonpath={.spec.ports[0].port}=80 service/web", out: "service/web condition met" },
    { line: "--for=create service/web", out: "service/web condition met" },
    { line: "--for=delete service/gone", out: "" },
    { line: "--for=delete services -l none=none", out: "" },
  ])("wait $line: exit code 0", ({ line, out }) => {
    expect(ok(`wait ${line} --timeout=15s`)).toBe(out);
  });
});

describe("kubectl wait for a later condition", () => {
  it("the condition of a new ServiceCIDR: met", () => {
    ok(`create -f ${kubectl.file("cidr.json", serviceCIDR("late", ["10.102.0.0/24"]))}`);
    expect(ok("wait --for=condition=Ready servicecidr/late --timeout=15s")).toBe("servicecidr.networking.k8s.io/late condition met");
    ok(`create -f ${kubectl.file("late.json", service("in-late", { clusterIP: "10.102.0.20", ports: [{ port: 80 }] }))}`);
    ok("delete servicecidr late --wait=false");
    expect(ok("wait --for=condition=Ready=false servicecidr/late --timeout=15s")).toBe("servicecidr.networking.k8s.io/late condition met");
    ok("delete service in-late");
    ok("wait --for=delete servicecidr/late --timeout=20s");
  });

  it("jsonpath, a condition in a status, creation and deletion: met through watches", async () => {
    ok(`create -f ${kubectl.file("l1.json", lease("l1"))}`);
    const held = kubectl.background("wait --for=jsonpath={.spec.holderIdentity}=me lease/l1 --timeout=20s");
    const ready = kubectl.background("wait --for=condition=Ready pod/p1 --timeout=20s");
    const created = kubectl.background("wait --for=create lease/l2 --timeout=20s");
    const gone = kubectl.background("wait --for=delete service/web --timeout=20s");
    ok(`patch lease l1 -p '{"spec":{"holderIdentity":"other"}}'`);
    ok(`patch lease l1 -p '{"spec":{"holderIdentity":"me"}}'`);
    ok(`patch pod p1 --subresource=status -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'`);
    ok(`create -f ${kubectl.file("l2.json", lease("l2"))}`);
    ok("delete service web");
    expect(await Promise.all([held.ended, ready.ended, created.ended, gone.ended])).toEqual([0, 0, 0, 0]);
    expect([held.text(), ready.text(), created.text()]).toEqual([
      "lease.coordination.k8s.io/l1 condition met\n",
      "pod/p1 condition met\n",
      "lease.coordination.k8s.io/l2 condition met\n",
    ]);
  });
});

describe.concurrent("kubectl wait for a condition that does not hold", () => {
  it.for([
    {
      line: "--for=condition=Nope servicecidr/kubernetes --timeout=1s",
      err: "error: timed out waiting for the condition on servicecidrs/kubernetes",
    },
    {
      line: "--for=jsonpath={.spec.type}=Nope service/kubernetes --timeout=1s",
      err: "error: timed out waiting for the condition on services/kubernetes",
    },
    {
      line: "--for=jsonpath={.nope}=x service/kubernetes --timeout=1s",
      err: "error: timed out waiting for the condition on services/kubernetes",
    },
    { line: "--for=delete service/kubernetes --timeout=1s", err: "error: timed out waiting for the condition on services/kubernetes" },
    { line: "--for=condition=Nope servicecidr/kubernetes --timeout=0", err: "error: condition not met for servicecidrs/kubernetes" },
    { line: "--for=create service/never --timeout=1s", err: "error: timed out waiting for the condition" },
    { line: "--for=condition=Ready service/never --timeout=1s", err: 'Error from server (NotFound): services "never" not found' },
    { line: "--for=condition=Ready services -l none=none --timeout=1s", err: "error: no matching resources found" },
    { line: "--for=nope service/kubernetes", err: 'error: unrecognized condition: "nope"' },
  ])("wait $line: exit code 1 with the reason", async ({ line, err }, { expect }) => {
    // The second is also for kubectl's first list.
    const last = async () => {
      const { code, err: told } = await kubectl.beside(`wait ${line}`);
      return [code, told.trimEnd().split("\n").at(-1)];
    };
    await expect.poll(last).toEqual([1, err]);
  });
});
