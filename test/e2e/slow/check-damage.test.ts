/** `npm run check` and GET /check on a cluster whose tables were written into, and what a repair makes of it. */
import { expect, it } from "vitest";
import type { CheckReport } from "../../../src/check/check-cluster";
import type { Service } from "../../../src/meta/kubernetes";
import { configWithoutCrons } from "../config-without-crons";
import { damageData } from "../damage";
import { runProgram } from "../program";
import { getJson } from "../server";
import { serverForTests } from "../server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const server = serverForTests(["--config", configWithoutCrons()]);

async function create(name: string, spec: Service["spec"] = {}): Promise<void> {
  const body = JSON.stringify({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  const response = await fetch(server.url + SERVICES, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  expect([response.status, await response.text()]).toEqual([201, expect.anything()]);
}

async function check(
  args: readonly string[] = [],
): Promise<{ code: number | null; report: CheckReport & { repaired?: CheckReport["wrong"] } }> {
  const { code, out, err } = await runProgram("check", ["--server", server.url, "--output", "json", ...args]);
  expect(err).toBe("");
  return { code, report: JSON.parse(out) as CheckReport };
}

const linesOf = (findings: CheckReport["wrong"]): string[] => findings.map(({ rule, message }) => `${rule}: ${message}`).sort();

it("every kind of damage is found by name, a repair mends what can be mended, and the rest goes with its Services", async () => {
  const names = ["first", "second", "unpaired", "gone", "unlabelled", "rowless", "far", "porter", "ported"];
  for (const [index, name] of names.entries())
    await create(name, {
      clusterIP: `10.96.1.${index + 1}`,
      ...(name.startsWith("port") ? { type: "NodePort", ports: [{ port: 80, nodePort: 30_001 + index }] } : {}),
    });
  await expect.poll(async () => (await check()).report.wrong).toEqual([]);
  const { claims } = await getJson<{ claims: { ownerUid: string }[] }>(`${server.url}/check/owners`);
  await server.stop();

  const services = { class: "ServicesStore", name: "default/services" } as const;
  const ipAddresses = { class: "IPAddressesStore", name: "default/ipaddresses.networking.k8s.io" } as const;
  const replaced = (key: string, from: string, to: string) => ({
    sql: "UPDATE objects SET data = replace(data, ?, ?) WHERE key = ?",
    values: [from, to, key],
  });
  await damageData(server.folder, [
    { ...services, ...replaced("default/second", '"10.96.1.2"', '"10.96.1.1"') },
    { ...ipAddresses, sql: "DELETE FROM objects WHERE key = '10.96.1.3'" },
    { ...services, sql: "DELETE FROM objects WHERE key = 'default/gone'" },
    { ...ipAddresses, ...replaced("10.96.1.4", '"creationTimestamp":"20', '"creationTimestamp":"19') },
    { ...ipAddresses, ...replaced("10.96.1.2", '"creationTimestamp":"20', '"creationTimestamp":"19') },
    { ...ipAddresses, ...replaced("10.96.1.7", '"creationTimestamp":"20', '"creationTimestamp":"19') },
    { ...ipAddresses, ...replaced("10.96.1.5", "ipaddress.kubernetes.io/managed-by", "example.com/managed-by") },
    {
      class: "ServiceCIDR",
      name: `default/${claims[0]?.ownerUid ?? ""}`,
      sql: "UPDATE address SET key = '40a6001f0' WHERE name = 'rowless'",
    },
    { ...services, ...replaced("default/far", '"10.96.1.7"', '"10.200.0.7"') },
    { ...services, ...replaced("default/ported", '"nodePort":30009', '"nodePort":30008') },
    // The slice of everything is not due before the check is through.
    {
      class: "Controller",
      name: "default/controllers/repair",
      sql: "UPDATE repair_marks SET value = ? WHERE name = 'slicedAt'",
      values: [Date.now()],
    },
  ]);

  await server.start();
  const [found, raw] = await Promise.all([check(), getJson<CheckReport>(`${server.url}/check`)]);
  const lasting = [
    "I1: 10.96.1.1 is held by default/first and by default/second",
    "I1: node port TCP/30008 is held by default/ported and by default/porter",
    "I2: default/far holds 10.200.0.7, which has no IPAddress",
    "I2: default/second holds 10.96.1.1, whose IPAddress names default/first",
    "I3: no ServiceCIDR covers 10.200.0.7 of default/far",
  ];
  const mendable = [
    "I2: default/unpaired holds 10.96.1.3, which has no IPAddress",
    "I2: the IPAddress 10.96.1.2 names default/second, which does not hold it",
    "I2: the IPAddress 10.96.1.4 names default/gone, which does not hold it",
    "I2: the IPAddress 10.96.1.5 of default/unlabelled lacks the allocator's labels",
    "I2: the IPAddress 10.96.1.7 names default/far, which does not hold it",
    "row: 10.96.1.2 is taken for Service default/second, which does not hold it: nobody can have it",
    "row: 10.96.1.4 is taken for Service default/gone, which is not there: nobody can have it",
    "row: 10.96.1.7 is taken for Service default/far, which does not hold it: nobody can have it",
    "row: default/rowless holds 10.96.1.6, and its owner has no row of it: it can be given out again",
  ];
  expect(found.code).toBe(1);
  expect(linesOf(found.report.wrong)).toEqual(linesOf(raw.wrong));
  expect(linesOf(found.report.wrong)).toEqual([...lasting, ...mendable].sort());

  const repaired = await check(["--repair", "--wait", "60"]);
  expect(repaired.code).toBe(1);
  expect(linesOf(repaired.report.wrong)).toEqual(lasting);
  expect(linesOf(repaired.report.repaired ?? [])).toEqual(mendable);

  for (const name of ["second", "far", "ported"]) await fetch(`${server.url}${SERVICES}/${name}`, { method: "DELETE" });
  expect(await check(["--repair"])).toMatchObject({ code: 0, report: { wrong: [], unchecked: [] } });
}, 300_000);
