/** Another cluster of the same server in kubectl's hands. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";

const kubectl = kubectlInCluster({ args: ["--var", "IMPLICIT_CLUSTERS=false"] });
const { ok, run } = kubectl;

it("a cluster: no write makes it; its path makes, shows and deletes it, and the list has it meanwhile", async () => {
  const server = `--server ${kubectl.cluster.origin}`;
  const there = `${server}/clusters/red`;
  const listed = () => (JSON.parse(ok(`${server} get --raw /clusters`)) as { items: { metadata: { name: string } }[] }).items;
  const isListed = () => listed().some(({ metadata }) => metadata.name === "red");
  expect(run(`${there} get services`).err).toContain('clusters "red" not found');
  expect(run(`${there} create service clusterip web --tcp=80`).err).toContain("no write makes a cluster; PUT /clusters/red does");
  expect(isListed()).toBe(false);
  writeFileSync(join(kubectl.cluster.folder, "red.json"), "{}");
  expect(ok(`${server} replace --raw /clusters/red -f ${join(kubectl.cluster.folder, "red.json")}`)).toContain('"phase":"Active"');
  expect(isListed()).toBe(true);
  expect(ok(`${there} create service clusterip web --tcp=80`)).toContain("service/web created");
  expect(ok(`${there} get services -o name`)).toBe("service/kubernetes\nservice/web");
  expect(ok(`${server} get --raw /clusters/red`)).toContain('"phase":"Active"');
  expect(ok(`${server} delete --raw /clusters/red`)).toContain('"phase":"Terminating"');
  await vi.waitFor(() => expect(run(`${server} get --raw /clusters/red`).err).toContain("not found"), { timeout: 40_000, interval: 100 });
  expect([ok("get services -o name"), isListed()]).toEqual(["service/kubernetes", false]);
});
