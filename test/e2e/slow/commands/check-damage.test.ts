/** `npm run check` and GET /check on a cluster with damaged tables, before and after a repair. */
import { expect, it } from "vitest";
import { encodePage } from "../../../../src/core/bitmap/codec";
import { Page } from "../../../../src/core/bitmap/page";
import type { CheckReport } from "../../../../src/tools/check/check-cluster";
import type { Service } from "../../../../src/api/meta/kubernetes";
import type { RangesView } from "../../../../src/addresses/ranges/service-ranges";
import { configWithoutCrons } from "../../../support/server/own-config";
import { damageData } from "../../../support/server/damage";
import { runProgram } from "../../../support/server/program";
import { getJson } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const SERVICES = "/api/v1/namespaces/default/services";
const server = serverForTests(["--config", configWithoutCrons()]);

const NETWORKING = "/apis/networking.k8s.io/v1";

async function post(path: string, object: object): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(object) });
  expect([response.status, await response.text()]).toEqual([201, expect.anything()]);
}

function create(name: string, spec: Service["spec"] = {}): Promise<void> {
  return post(SERVICES, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
}

/** An IPAddress of a client, whose parent is no Service. */
function createIPAddress(name: string): Promise<void> {
  const parentRef = { group: "example.com", resource: "gateways", namespace: "default", name: "edge" };
  return post(`${NETWORKING}/ipaddresses`, { metadata: { name }, spec: { parentRef } });
}

async function check(
  args: readonly string[] = [],
): Promise<{ code: number | null; report: CheckReport & { repaired?: CheckReport["wrong"] } }> {
  const { code, out, err } = await runProgram("check", ["--server", server.url, "--output", "json", ...args]);
  expect(err).toBe("");
  return { code, report: JSON.parse(out) as CheckReport };
}

/** A page of the bitmap in which one address is taken. */
function hexOf(index: number): string {
  const page = new Page();
  page.add(index);
  return Buffer.from(encodePage(page)).toString("hex");
}

const linesOf = (findings: CheckReport["wrong"]): string[] => findings.map(({ rule, message }) => `${rule}: ${message}`).sort();

it("every kind of damage: the check names it, repair mends what it can, and the rest goes with its Services", async () => {
  const names = [
    "first",
    "second",
    "unpaired",
    "gone",
    "unlabelled",
    "rowless",
    "far",
    "porter",
    "ported",
    "vanished",
    "damaged",
    "portless",
  ];
  for (const [index, name] of names.entries())
    await create(name, {
      clusterIP: `10.96.1.${index + 1}`,
      ...(name.startsWith("port") ? { type: "NodePort", ports: [{ port: 80, nodePort: 30_001 + index }] } : {}),
    });
  await createIPAddress("10.96.2.1");
  await createIPAddress("10.96.2.2");
  await post(`${NETWORKING}/servicecidrs`, { metadata: { name: "second" }, spec: { cidrs: ["10.201.0.0/24"] } });
  await expect
    .poll(async () => (await getJson<RangesView>(`${server.url}/ranges`)).ready.IPv4.prefixes, { timeout: 30_000 })
    .toContain("10.201.0.0/24");
  await create("bitten", { clusterIP: "10.201.0.5" });
  await expect.poll(async () => (await check()).report.wrong, { timeout: 60_000 }).toEqual([]);
  const { claims } = await getJson<{ claims: { prefix: string; ownerUid: string }[] }>(`${server.url}/check/owners`);
  const ownerOf = (isWanted: (prefix: string) => boolean): string => claims.find(({ prefix }) => isWanted(prefix))?.ownerUid ?? "";
  const second = ownerOf((prefix) => prefix === "10.201.0.0/24");
  const first = ownerOf((prefix) => prefix !== "10.201.0.0/24");
  await server.stop();

  const services = { class: "ServicesStore", name: "default/services" } as const;
  const ipAddresses = { class: "IPAddressesStore", name: "default/ipaddresses.networking.k8s.io" } as const;
  const replaced = (key: string, from: string, to: string) => ({
    sql: "UPDATE objects SET data = replace(data, ?, ?) WHERE key = ?",
    values: [from, to, key],
  });
  await damageData(server.folder, [
    // A start of the store sends the IPAddresses of the newest changes again. This damage is older.
    { ...services, sql: "INSERT OR REPLACE INTO marks (name, value) SELECT 'paired', max(revision) FROM history" },
    { ...services, ...replaced("default/second", '"10.96.1.2"', '"10.96.1.1"') },
    { ...ipAddresses, sql: "DELETE FROM objects WHERE key = '10.96.1.3'" },
    { ...services, sql: "DELETE FROM objects WHERE key = 'default/gone'" },
    { ...ipAddresses, ...replaced("10.96.1.4", '"creationTimestamp":"20', '"creationTimestamp":"19') },
    { ...ipAddresses, ...replaced("10.96.1.2", '"creationTimestamp":"20', '"creationTimestamp":"19') },
    { ...ipAddresses, ...replaced("10.96.1.7", '"creationTimestamp":"20', '"creationTimestamp":"19') },
    { ...ipAddresses, ...replaced("10.96.1.5", "ipaddress.kubernetes.io/managed-by", "example.com/managed-by") },
    { class: "ServiceCIDR", name: `default/${first}`, sql: "UPDATE address SET key = '40a6001f0' WHERE name = 'rowless'" },
    { ...services, sql: "DELETE FROM objects WHERE key = 'default/vanished'" },
    { ...ipAddresses, sql: "DELETE FROM objects WHERE key = '10.96.1.10'" },
    { ...services, sql: "UPDATE objects SET data = substr(data, 1, 40) WHERE key = 'default/damaged'" },
    { class: "ServiceCIDR", name: `default/${first}`, sql: "DELETE FROM address WHERE name = '10.96.2.1'" },
    { ...ipAddresses, sql: "DELETE FROM objects WHERE key = '10.96.2.2'" },
    // As many addresses as rows, but one of them differs.
    { class: "ServiceCIDR", name: `default/${second}`, sql: `UPDATE page SET bytes = x'${hexOf(6)}'` },
    { ...services, ...replaced("default/far", '"10.96.1.7"', '"10.200.0.7"') },
    { ...services, ...replaced("default/ported", '"nodePort":30009', '"nodePort":30008') },
    { ...services, sql: "DELETE FROM node_ports WHERE key = 'default/portless'" },
    // The next slice of the sweep is not due before the end of the check.
    {
      class: "Controller",
      name: "default/controllers/repair",
      sql: "UPDATE repair_marks SET value = ? WHERE name = 'portionedAt'",
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
    "object: Service default/damaged is stored, and cannot be read",
    // Freed when repair has seen it three times, three minutes apart.
    "row: node port TCP/30009 is taken for Service default/ported, which does not hold it: nobody can have it",
  ];
  // What a Service no longer holds, the store has given back before it is called wrong: it compares its rows when it begins.
  const mendable = [
    "I2: default/unpaired holds 10.96.1.3, which has no IPAddress",
    "I2: the IPAddress 10.96.1.5 of default/unlabelled lacks the allocator's labels",
    `bitmap: the bitmap of owner ${second} differs from its rows: an address with a row is free`,
    "row: 10.96.2.2 is taken for an IPAddress that is not there: nobody can have it",
    "row: default/portless holds node port TCP/30012, and there is no row of it: it can be given out again",
    "row: default/rowless holds 10.96.1.6, and its owner has no row of it: it can be given out again",
    "row: the IPAddress 10.96.2.1 is there, and its owner has no row of it: it can be given out",
  ];
  expect(found.code).toBe(1);
  expect(linesOf(found.report.wrong)).toEqual(linesOf(raw.wrong));
  expect(linesOf(found.report.wrong)).toEqual([...lasting, ...mendable].sort());

  const repaired = await check(["--repair", "--wait", "1"]);
  expect(repaired.code).toBe(1);
  expect(linesOf(repaired.report.wrong)).toEqual(lasting);
  expect(linesOf(repaired.report.repaired ?? [])).toEqual(mendable);

  await create("heir", { clusterIP: "10.96.1.10" });
  await createIPAddress("10.96.2.2");
  for (const name of ["second", "far", "ported"]) await fetch(`${server.url}${SERVICES}/${name}`, { method: "DELETE" });
  const { report } = await check(["--repair", "--wait", "1"]);
  expect([linesOf(report.wrong), report.unchecked]).toEqual([
    [
      "object: Service default/damaged is stored, and cannot be read",
      "row: node port TCP/30009 is taken for Service default/ported, which is not there: nobody can have it",
    ],
    [],
  ]);
}, 600_000);

it("a lost object that every cluster has, and a range without an owner: the check names both", async () => {
  for (const cluster of ["bare", "ownerless"]) expect((await fetch(`${server.url}/clusters/${cluster}`, { method: "PUT" })).ok).toBe(true);
  await post(`/clusters/ownerless${NETWORKING}/servicecidrs`, { metadata: { name: "second" }, spec: { cidrs: ["10.201.0.0/24"] } });
  for (const cluster of ["bare", "ownerless"])
    await expect
      .poll(async () => (await check(["--cluster", cluster])).report, { timeout: 60_000 })
      .toMatchObject({ wrong: [], notices: [] });
  await server.stop();
  await damageData(server.folder, [
    { class: "ServicesStore", name: "bare/services", sql: "DELETE FROM objects WHERE key = 'default/kubernetes'" },
    { class: "IPAddressesStore", name: "bare/ipaddresses.networking.k8s.io", sql: "DELETE FROM objects" },
    { class: "Coordinator", name: "bare/coordinator", sql: "DELETE FROM objects WHERE key = 'kubernetes'" },
    { class: "Coordinator", name: "ownerless/coordinator", sql: "DELETE FROM claims WHERE prefix = '10.201.0.0/24'" },
  ]);
  await server.start();
  const [bare, ownerless] = await Promise.all([check(["--cluster", "bare"]), check(["--cluster", "ownerless"])]);
  // The Service comes back by itself; in time for the first look, no range covers it.
  expect(bare.code).toBe(1);
  expect(linesOf(bare.report.wrong)).toContain("default: the ServiceCIDR kubernetes is missing");
  expect(bare.report.checked).toMatchObject({ services: 1, ipAddresses: 1, rows: 1 });
  expect([ownerless.code, linesOf(ownerless.report.wrong)]).toEqual([
    1,
    ["claim: a part of 10.201.0.0/24 has no owner, and it gives out addresses"],
  ]);
}, 600_000);
