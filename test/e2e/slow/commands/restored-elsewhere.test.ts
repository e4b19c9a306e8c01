/** A backup of one server, restored into another one: that clusters reach at another address, and whose identity Lease is renewed meanwhile. */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { RestoreReport } from "../../../../scripts/restore/run";
import type { EndpointSlice, Lease } from "../../../../src/api/meta/kubernetes";
import { rfc3339Micros } from "../../../../src/api/meta/time";
import { runProgram } from "../../../support/server/program";
import { getJson, removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const RENEWED = ["--var", "APISERVER_LEASE_RENEW_SECONDS=1"];
const MANY = 300;
const from = serverForTests(["--var", "ADVERTISE_ADDRESSES=192.0.2.1", "--var", "HOST_NAME=node-1", ...RENEWED]);
const to = serverForTests(["--var", "ADVERTISE_ADDRESSES=192.0.2.2", "--var", "HOST_NAME=node-2", ...RENEWED]);
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** A ConfigMap in the first server. */
async function keep(cluster: string, name: string): Promise<void> {
  const { status } = await fetch(`${from.url}${cluster}/api/v1/namespaces/default/configmaps`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ metadata: { name } }),
  });
  expect(status).toBe(201);
}

it("a restore: ends well, and clusters are told of the other server's own address", async () => {
  const file = join(folder, "backup");
  await keep("", "kept");
  expect(await runProgram("backup", ["--server", from.url, "--file", file])).toMatchObject({ code: 0 });
  expect(await runProgram("restore", ["--server", to.url, "--file", file])).toMatchObject({ code: 0 });
  await getJson(`${to.url}/api/v1/namespaces/default/configmaps/kept`);
  const { endpoints } = await getJson<EndpointSlice>(to.url + SLICE);
  expect(endpoints.map(({ addresses }) => addresses)).toEqual([["192.0.2.2"]]);
});

it("a restore into a cluster whose identity Lease is renewed all the while: ends well, and the Lease is there as before", async () => {
  const cluster = "/clusters/renewed";
  const leases = async (url: string): Promise<Lease[]> => (await getJson<{ items: Lease[] }>(`${url}${cluster}${LEASES}`)).items;
  for (let i = 0; i < MANY; i++) await keep(cluster, `kept-${String(i)}`);
  for (const { url } of [from, to]) {
    await fetch(`${url}${cluster}`, { method: "PUT" });
    await expect.poll(() => leases(url), { timeout: 20_000 }).toHaveLength(1);
  }
  const file = join(folder, "renewed");
  expect(await runProgram("backup", ["--server", from.url, "--cluster", "renewed", "--file", file])).toMatchObject({ code: 0 });
  const [before] = await leases(to.url);
  const args = ["--server", to.url, "--cluster", "renewed", "--file", file, "--output", "json"];
  // Besides the server's own renewals, which come once a second: the restore may be quicker.
  let [isOver, renewals] = [false, 0];
  const renewing = (async () => {
    for (; !isOver; renewals++) {
      const body = JSON.stringify({ spec: { renewTime: rfc3339Micros(Date.now()) } });
      const headers = { "Content-Type": "application/merge-patch+json" };
      const { status } = await fetch(`${to.url}${cluster}${LEASES}/${before?.metadata?.name ?? ""}`, { method: "PATCH", headers, body });
      expect(status).toBe(200);
    }
  })();
  const { code, out } = await runProgram("restore", args).finally(() => (isOver = true));
  await renewing;
  expect(renewals).toBeGreaterThan(1);
  const report = JSON.parse(out) as RestoreReport;
  expect({ code, shortcomings: report.shortcomings, wrong: report.check?.wrong }).toEqual({ code: 0, shortcomings: [], wrong: [] });
  expect(report.created).toBeGreaterThanOrEqual(MANY);
  // Of the second server alone.
  const after = await leases(to.url);
  const one = ({ metadata, spec }: Lease) => [metadata?.name, metadata?.uid, spec?.holderIdentity];
  expect(after.map(one)).toEqual(before ? [one(before)] : []);
}, 120_000);
