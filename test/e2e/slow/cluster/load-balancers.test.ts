/** docs/load-balancer-addresses.md by kubectl: each block of commands as it stands there shows the block behind it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kubectlInCluster, WITHOUT_COLLECTOR } from "../../../support/clients/kubectl";
import { kubectlCommand } from "../../../support/clients/kubectl-command";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/load-balancer-addresses.md"), "utf8");
const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

it("the page: its commands show what it says", () => {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```\n\n```text\n(.*?)^```$/gms)];
  expect(blocks).toHaveLength(2);
  for (const [, commands = "", shown = ""] of blocks) {
    const told = sh(commands)
      .split("\n")
      .filter((line) => !/ created$|condition met$|" deleted/.test(line));
    expect(told.join("\n").trim()).toBe(shown.trim());
  }
});

it("what is refused: a pool in use, a rule that cannot be read, and an address in a status by hand", () => {
  expect(refused("delete globalinclusterippool public")).toContain("Pool has IPAddresses allocated.");
  expect(refused("annotate globalinclusterippool public servicenet.dev/priority=first")).toContain("must be a number from 0 to");
  ok("create service loadbalancer other --tcp=80");
  const patch = '{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.51"}]}}}';
  expect(refused(`patch service other --subresource=status --type=merge -p '${patch}'`)).toContain(
    'the address belongs to GlobalInClusterIPPool "public"',
  );
});

it("the IPAddress of a Service: stays while the Service has it, and goes with it", () => {
  const rows = "ipaddresses.ipam.cluster.x-k8s.io -l servicenet.dev/service=two";
  ok(`delete ${rows} --wait=false`);
  expect(ok(`get ${rows} -o jsonpath='{.items[*].spec.address}'`)).toBe("192.0.2.51");
  ok("delete service two");
  expect(ok(`get ${rows} -o name`)).toBe("");
});

it("a namespace with such Services: is deleted", () => {
  ok("create namespace gone");
  ok(`create service loadbalancer web --tcp=80 -n gone`);
  ok(`patch service web -n gone --type=merge -p '{"spec":{"type":"ClusterIP"}}'`);
  ok(`patch service web -n gone --type=merge -p '{"spec":{"type":"LoadBalancer","loadBalancerClass":"servicenet.dev/pool"}}'`);
  expect(ok("get service web -n gone -o jsonpath='{.status.loadBalancer.ingress[0].ip}'")).toBe("192.0.2.51");
  expect(ok("delete namespace gone --timeout=60s")).toContain('"gone" deleted');
});

function sh(commands: string): string {
  const env = { ...WITHOUT_COLLECTOR, PATH: process.env["PATH"], HOME: kubectl.cluster.folder, KUBECONFIG: kubectl.cluster.kubeconfig };
  const script = `kubectl() { ${kubectlCommand()} "$@"; }\n${commands}`;
  const { stdout, stderr, status } = spawnSync("sh", ["-ec", script], { encoding: "utf8", timeout: 120_000, env });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  return stdout;
}
