/** ResourceQuotas with kubectl. */
import { expect, it } from "vitest";
import { kubectlInCluster, table } from "../../support/clients/kubectl";

const kubectl = kubectlInCluster();
const { ok, refused } = kubectl;

it("create, get, describe and delete quota: what is used, what is allowed, and the refusal beyond it", async () => {
  ok("create quota limits --hard=count/configmaps=2,pods=10,limits.cpu=4");
  ok("create configmap a --from-literal=a=1");
  ok("create configmap b --from-literal=a=1");
  // The answer to a new quota waits for the stores, but not for long.
  await expect.poll(() => kubectl.run("create configmap c --from-literal=a=1 --dry-run=server").code).toBe(1);
  expect(refused("create configmap c --from-literal=a=1")).toBe(
    'error: failed to create configmap: configmaps "c" is forbidden: exceeded quota: limits, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
  );
  const shown = () => table(ok("get quota"))[1];
  await expect
    .poll(shown, { timeout: 20_000 })
    .toEqual(["limits", "count/configmaps: 2/2, pods: 0/10", "limits.cpu: 0/4", expect.any(String)]);
  expect(
    ok("describe quota limits")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s{2,}/)),
  ).toEqual([
    ["Name:", "limits"],
    ["Namespace:", "default"],
    ["Resource", "Used", "Hard"],
    ["--------", "----", "----"],
    ["count/configmaps", "2", "2"],
    ["limits.cpu", "0", "4"],
    ["pods", "0", "10"],
  ]);
  expect(ok("describe namespace default")).toMatch(/Resource Quotas\n\s+Name:\s+limits\n[\s\S]*count\/configmaps\s+2\s+2/);
  ok("delete quota limits");
  await expect.poll(() => kubectl.run("create configmap c --from-literal=a=1").code).toBe(0);
});
