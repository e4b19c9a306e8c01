/** What the checks of a simulated cluster notice, by hand in its tables. */
import { expect, it } from "vitest";
import { objectOf, SimApi } from "../support/sim/api";
import { checkQuiet } from "../support/sim/watches/checks";

/** A quiet cluster with a Service and somebody's own IPAddress. */
async function quiet(): Promise<SimApi> {
  const api = await new SimApi().ready();
  objectOf(await api.create("web", { clusterIP: "10.0.0.5" }));
  objectOf(await api.createIPAddress("10.0.0.6"));
  await api.cluster.quiesce();
  expect(await checkQuiet(api.cluster)).toEqual([]);
  return api;
}

it.each([
  ["10.0.0.5", "row: default/web holds 10.0.0.5, and its owner has no row of it: it can be given out again"],
  ["10.0.0.6", "row: the IPAddress 10.0.0.6 is there, and its owner has no row of it: it can be given out"],
])("an owner that has lost its row of %s: the check names the row", async (address, violation) => {
  const { cluster } = await quiet();
  for (const { node, storage } of cluster.owners.values()) {
    const lost = (await node.brain.rowsSince(0, 10_000)).rows.find((row) => row.address === address);
    const stored = storage.rowsSince(0, 10_000).find(({ token }) => token === lost?.token);
    if (stored) storage.rowDelete(stored.key, stored.token);
  }
  expect(await checkQuiet(cluster)).toContain(violation);
});

it.each([
  ["10.0.0.5", "row: 10.0.0.5 is taken for Service default/web, which is not there: nobody can have it"],
  ["10.0.0.6", "row: 10.0.0.6 is taken for an IPAddress that is not there: nobody can have it"],
])("an object that is lost, %s: the check names its address", async (address, violation) => {
  const { cluster } = await quiet();
  const { services, ipAddresses } = cluster.tables;
  if (address === "10.0.0.5") services.store.objectDelete("default/web");
  ipAddresses.store.objectDelete(address);
  expect(await checkQuiet(cluster)).toContain(violation);
});
