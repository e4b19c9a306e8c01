/** Another cluster of the same server in kubectl's hands. */
import { expect, it, vi } from "vitest";
import { kubectlAgainstServer } from "../../support/clients/kubectl";

const kubectl = kubectlAgainstServer();
const { ok, run } = kubectl;

it("a create: begins the cluster, which its path shows and deletes", async () => {
  const there = `--server ${kubectl.url()}/clusters/red`;
  expect(run(`${there} get services`).err).toContain('clusters "red" not found');
  expect(ok(`${there} create service clusterip web --tcp=80`)).toContain("service/web created");
  expect(ok(`${there} get services -o name`)).toBe("service/kubernetes\nservice/web");
  expect(ok("get --raw /clusters/red")).toContain('"phase":"Active"');
  expect(ok("delete --raw /clusters/red")).toContain('"phase":"Terminating"');
  await vi.waitFor(() => expect(run("get --raw /clusters/red").err).toContain("not found"), { timeout: 40_000, interval: 100 });
  expect(ok("get services -o name")).toBe("service/kubernetes");
});
