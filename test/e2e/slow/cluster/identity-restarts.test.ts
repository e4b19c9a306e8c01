/** The identity Lease over restarts: kept by its name, taken back by the next start, left alone while the gate is off, collected when nobody takes it back. */
import { expect, it } from "vitest";
import { Api, type Body } from "../../../support/clients/api";
import { serverForTests } from "../../../support/server/server-for-tests";

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const IDENTITY = { labelSelector: "apiserver.kubernetes.io/identity=kube-apiserver" };

const server = serverForTests(["--var", "HOST_NAME=node-1", "--var", "APISERVER_LEASE_RENEW_SECONDS=1"]);
const api = new Api(() => server.url);
const leases = async (): Promise<Body[]> => (await api.must("GET", LEASES, { query: IDENTITY })).items ?? [];

it("a restart: the same Lease, taken back by a new holder after three missed renewals, one transition more", async () => {
  await expect.poll(leases).toHaveLength(1);
  const [before] = await leases();
  await server.kill();
  await server.start();
  await expect
    .poll(async () => (await leases())[0]?.spec?.["holderIdentity"], { timeout: 20_000 })
    .not.toBe(before?.spec?.["holderIdentity"]);
  const [after, ...more] = await leases();
  expect(more).toEqual([]);
  expect(after?.metadata?.uid).toBe(before?.metadata?.uid);
  expect(after?.spec?.["leaseTransitions"]).toBe(Number(before?.spec?.["leaseTransitions"]) + 1);
});

it("the gate off: nothing is renewed; on again: renewed", async () => {
  const renewTime = async (): Promise<string> => String((await leases())[0]?.spec?.["renewTime"]);
  await server.interrupt();
  await server.start(["--var", "HOST_NAME=node-1", "--var", "FEATURE_GATES=APIServerIdentity=false"]);
  const left = await renewTime();
  // Requests of a second, each of which would renew.
  for (const end = Date.now() + 1_500; Date.now() < end;) expect(await renewTime()).toBe(left);
  await server.interrupt();
  await server.start();
  await expect.poll(renewTime, { timeout: 20_000 }).not.toBe(left);
});

it("kill -9, and a start at another place: the old Lease is collected when it has run out, not before; the new one stays", async () => {
  const hosts = async (): Promise<unknown[]> => (await leases()).map(({ metadata }) => metadata?.labels?.["kubernetes.io/hostname"]);
  const durationSeconds = 10;
  const short = ["--var", `APISERVER_LEASE_DURATION_SECONDS=${String(durationSeconds)}`, "--var", "APISERVER_LEASE_RENEW_SECONDS=1"];
  await server.kill();
  await server.start(["--var", "HOST_NAME=node-1", ...short]);
  await expect.poll(async () => (await leases())[0]?.spec?.["leaseDurationSeconds"], { timeout: 30_000 }).toBe(durationSeconds);
  const [old] = await leases();
  await server.kill();
  await server.start(["--var", "HOST_NAME=node-2", "--var", "APISERVER_LEASE_COLLECT_SECONDS=60", ...short]);
  await expect.poll(hosts, { timeout: 30_000 }).toContain("node-2");
  // Cron comes each minute.
  await expect.poll(hosts, { timeout: 150_000, interval: 500 }).toEqual(["node-2"]);
  expect(Date.now()).toBeGreaterThan(Date.parse(String(old?.spec?.["renewTime"])) + durationSeconds * 1000);
}, 240_000);
