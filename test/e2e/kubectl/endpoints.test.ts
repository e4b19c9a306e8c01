/** The way from Pods to endpoints as somebody with kubectl alone sees it: the server's controllers write everything that is shown. */
import { expect, it } from "vitest";
import { expectLines, kubectlInCluster, table } from "../../support/clients/kubectl";
import { NODES_ARE_NAMES } from "../../support/server/cluster-for-tests";
import { list, node, pod, service } from "./objects";
import { PATIENCE } from "../../support/server/patience";

const kubectl = kubectlInCluster(NODES_ARE_NAMES);
const { ok } = kubectl;

function ready(name: string, ip: string, isReady = true): void {
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
  const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions };
  ok(`patch pod ${name} --subresource=status --type=merge -p ${JSON.stringify({ status })}`);
}

/** Rows of a table without their header; names of slices without what was drawn. */
const rows = (line: string): string[][] =>
  table(ok(line))
    .slice(1)
    .map(([name = "", ...cells]) => [name.replace(/^(web|hand)-\w{5}$/, "$1-DRAWN"), ...cells]);

it("Pods turn ready, break and go: endpointslices, endpoints and describe service follow", async () => {
  const ports = [{ name: "http", port: 80, targetPort: 8080 }];
  const labels = { app: "web" };
  const pods = ["a", "b", "c", "d", "e"].map((name) => pod(name, { nodeName: "n1" }, { labels }));
  ok(`apply -f ${kubectl.file("web.json", list(node("n1"), service("web", { selector: labels, ports }), ...pods))}`);
  await expect
    .poll(() => rows("get endpointslices -l kubernetes.io/service-name=web"), PATIENCE)
    .toEqual([["web-DRAWN", "IPv4", "<unset>", "<unset>", "AGE"]]);
  await expect.poll(() => rows("get endpoints web"), PATIENCE).toEqual([["web", "<none>", "AGE"]]);

  ready("a", "10.1.0.1");
  ready("b", "10.1.0.2", false);
  await expect
    .poll(() => rows("get endpointslices -l kubernetes.io/service-name=web"), PATIENCE)
    .toEqual([["web-DRAWN", "IPv4", "8080", "10.1.0.1,10.1.0.2", "AGE"]]);
  await expect.poll(() => rows("get endpoints web"), PATIENCE).toEqual([["web", "10.1.0.1:8080", "AGE"]]);
  expectLines(ok("describe service web"), ["Port: http 80/TCP", "TargetPort: 8080/TCP", "Endpoints: 10.1.0.1:8080"]);

  ready("b", "10.1.0.2");
  for (const [i, name] of ["c", "d", "e"].entries()) ready(name, `10.1.0.${i + 3}`);
  await expect
    .poll(() => rows("get endpointslices -l kubernetes.io/service-name=web"), PATIENCE)
    .toEqual([["web-DRAWN", "IPv4", "8080", "10.1.0.1,10.1.0.2,10.1.0.3 + 2 more...", "AGE"]]);
  await expect
    .poll(() => rows("get endpoints web"), PATIENCE)
    .toEqual([["web", "10.1.0.1:8080,10.1.0.2:8080,10.1.0.3:8080 + 2 more...", "AGE"]]);
  expectLines(ok("describe endpoints web"), ["NotReadyAddresses: <none>"]);

  expect(kubectl.run("delete pods --all --force --grace-period=0").code).toBe(0);
  await expect.poll(() => rows("get endpoints web"), PATIENCE).toEqual([["web", "<none>", "AGE"]]);
  await expect
    .poll(() => rows("get endpointslices -l kubernetes.io/service-name=web"), PATIENCE)
    .toEqual([["web-DRAWN", "IPv4", "<unset>", "<unset>", "AGE"]]);
  ok("delete service web");
  await expect.poll(() => ok("get endpointslices -l kubernetes.io/service-name=web -o name"), PATIENCE).toBe("");
  await expect.poll(() => kubectl.run("get endpoints web").code, PATIENCE).toBe(1);
});

it("Endpoints by hand of a Service without a selector: mirrored into a slice that goes with them", async () => {
  ok(`apply -f ${kubectl.file("hand.json", list(service("hand")))}`);
  const endpoints = { subsets: [{ addresses: [{ ip: "10.2.0.1" }], ports: [{ port: 80 }] }] };
  const file = kubectl.file("endpoints.json", { apiVersion: "v1", kind: "Endpoints", metadata: { name: "hand" }, ...endpoints });
  expect(kubectl.run(`apply -f ${file}`).code).toBe(0);
  await expect
    .poll(() => rows("get endpointslices -l kubernetes.io/service-name=hand"), PATIENCE)
    .toEqual([["hand-DRAWN", "IPv4", "80", "10.2.0.1", "AGE"]]);
  ok("delete endpoints hand");
  await expect.poll(() => ok("get endpointslices -l kubernetes.io/service-name=hand -o name"), PATIENCE).toBe("");
});
