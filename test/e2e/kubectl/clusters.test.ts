/** Another cluster of the same server in kubectl's hands. */
import { expect, it, vi } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";

const kubectl = kubectlInCluster();
const { ok, run } = kubectl;

it("a create: begins the cluster, which its path shows and deletes", async () => {
  const server = `--server ${kubectl.cluster.origin}`;
  const there = `${server}/clusters/red`;
  expect(run(`${there} get services`).err).toContain('clusters "red" not found');
  expect(ok(`${there} create service clusterip web --tcp=80`)).toContain("service/web created");
  expect(ok(`${there} get services -o name`)).toBe("service/kubernetes\nservice/web");
  expect(ok(`${server} get --raw /clusters/red`)).toContain('"phase":"Active"');
  expect(ok(`${server} delete --raw /clusters/red`)).toContain('"phase":"Terminating"');
  await vi.waitFor(() => expect(run(`${server} get --raw /clusters/red`).err).toContain("not found"), { timeout: 40_000, interval: 100 });
  expect(ok("get services -o name")).toBe("service/kubernetes");
});
