/** A backup of one server, restored into another one that clusters reach at another address. */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { EndpointSlice } from "../../../src/api/meta/kubernetes";
import { runProgram } from "../../support/server/program";
import { getJson, removeFolder, temporaryFolder } from "../../support/server/server";
import { serverForTests } from "../../support/server/server-for-tests";

const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
const from = serverForTests(["--var", "ADVERTISE_ADDRESSES=192.0.2.1"]);
const to = serverForTests(["--var", "ADVERTISE_ADDRESSES=192.0.2.2"]);
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

it("a restore: ends well, and clusters are told of the other server's own address", async () => {
  const file = join(folder, "backup");
  await fetch(`${from.url}/api/v1/namespaces/default/configmaps`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ metadata: { name: "kept" } }),
  });
  expect(await runProgram("backup", ["--server", from.url, "--file", file])).toMatchObject({ code: 0 });
  expect(await runProgram("restore", ["--server", to.url, "--file", file])).toMatchObject({ code: 0 });
  await getJson(`${to.url}/api/v1/namespaces/default/configmaps/kept`);
  const { endpoints } = await getJson<EndpointSlice>(to.url + SLICE);
  expect(endpoints.map(({ addresses }) => addresses)).toEqual([["192.0.2.2"]]);
});
