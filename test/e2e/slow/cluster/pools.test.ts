/** docs/address-plan.md by kubectl: each block of commands as it stands there shows the block behind it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kubectlInCluster, WITHOUT_COLLECTOR } from "../../../support/clients/kubectl";
import { kubectlCommand } from "../../../support/clients/kubectl-command";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/address-plan.md"), "utf8");
const kubectl = kubectlInCluster();
const { ok, refused, file } = kubectl;
const GROUP = "ipam.cluster.x-k8s.io";

it("the page: its commands show what it says", () => {
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```\n\n```text\n(.*?)^```$/gms)];
  expect(blocks).toHaveLength(5);
  for (const [, commands = "", shown = ""] of blocks) {
    const output = sh(commands);
    const told = output.split("\n").filter((line) => !/ created$|condition met$|" deleted/.test(line));
    expect(told.join("\n").trim()).toBe(shown.trim());
  }
});

it("columns, explain, and ipaddresses, which mean those of Services", () => {
  expect(ok("get ipaddresses -o name")).toContain("ipaddress.networking.k8s.io/");
  expect(ok(`get ipaddressclaims`).split("\n")[0]?.trim()).toMatch(/^NAME +POOL NAME +POOL KIND +AGE$/);
  expect(ok("get inclusterippools").split("\n")[0]?.trim()).toMatch(/^NAME +ADDRESSES +TOTAL +FREE +USED +AGE$/);
  expect(ok("get globalinclusterprefixpools").split("\n")[0]?.trim()).toMatch(/^NAME +PREFIXES +TOTAL +FREE +USED +AGE$/);
  expect(ok(`explain inclusterprefixpool.spec.allocationPrefixLength --api-version=${GROUP}/v1alpha2`)).toContain("64 if an IPv6 pool");
  expect(ok(`explain inclusterippool.spec.excludedAddresses --api-version=${GROUP}/v1alpha2`)).toContain("never given out");
  expect(ok("get cluster-api -o name")).toContain("ipaddressclaim.ipam.cluster.x-k8s.io/m2");
});

it("what is refused: a pool in use, one that overlaps another one, and another pool for a claim", () => {
  expect(refused("delete inclusterippool machines")).toContain(
    "Pool has IPAddresses allocated. Cannot delete Pool until all IPAddresses have been removed.",
  );
  const spec = { addresses: ["192.0.2.0/24"], prefix: 24 };
  const other = file("other.json", { apiVersion: `${GROUP}/v1alpha2`, kind: "GlobalInClusterIPPool", metadata: { name: "other" }, spec });
  expect(refused(`create -f ${other}`)).toContain('overlaps with InClusterIPPool "default/machines"');
  const network = { prefixes: ["192.0.2.0/26"], allocationPrefixLength: 28 };
  const prefixes = file("prefixes.json", {
    apiVersion: `${GROUP}/v1alpha2`,
    kind: "InClusterPrefixPool",
    metadata: { name: "p" },
    spec: network,
  });
  expect(refused(`create -f ${prefixes}`)).toContain('overlaps with InClusterIPPool "default/machines"');
  expect(refused(`patch globalinclusterprefixpool sites --type=merge -p '{"spec":{"excludedPrefixes":["10.128.1.9"]}}'`)).toContain(
    "existing allocations become non-allocatable: [10.128.1.0]",
  );
  expect(refused(`patch globalinclusterprefixpool sites --type=merge -p '{"spec":{"allocationPrefixLength":25}}'`)).toContain(
    "spec.allocationPrefixLength is immutable",
  );
  const shrunk = '{"spec":{"addresses":["192.0.2.11"]}}';
  expect(refused(`patch inclusterippool machines --type=merge -p '${shrunk}'`)).toContain(
    "pool addresses do not contain allocated addresses: [192.0.2.10-192.0.2.10]",
  );
  expect(refused(`patch ipaddressclaim m2 --type=merge -p '{"spec":{"poolRef":{"name":"x"}}}'`)).toContain(
    "IPAddressClaim spec is immutable",
  );
});

it("the namespace of a pool: goes with its claims and addresses", () => {
  ok("create namespace gone");
  const metadata = { name: "p", namespace: "gone" };
  const pool = { apiVersion: `${GROUP}/v1alpha2`, kind: "InClusterIPPool", metadata, spec: { addresses: ["198.51.100.1"], prefix: 24 } };
  const poolRef = { apiGroup: GROUP, kind: "InClusterIPPool", name: "p" };
  const claim = { apiVersion: `${GROUP}/v1beta2`, kind: "IPAddressClaim", metadata, spec: { poolRef } };
  ok(`create -f ${file("pool.json", pool)} -f ${file("claim.json", claim)}`);
  ok("wait --for=condition=Ready ipaddressclaim/p -n gone --timeout=20s");
  expect(ok("delete namespace gone --timeout=60s")).toContain('"gone" deleted');
});

function sh(commands: string): string {
  const env = {
    ...WITHOUT_COLLECTOR,
    PATH: process.env["PATH"],
    HOME: kubectl.cluster.folder,
    KUBECONFIG: kubectl.cluster.kubeconfig,
    SERVER: kubectl.cluster.origin,
  };
  const script = `kubectl() { ${kubectlCommand()} "$@"; }\n${commands}`;
  const { stdout, stderr, status } = spawnSync("sh", ["-ec", script], { encoding: "utf8", timeout: 120_000, env });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  return stdout;
}
