/** `npm run agent` as a process: a node that comes and goes. Wrong options are in command-lines.test.ts. Longer histories are in slow/agent.test.ts. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { Api } from "../support/clients/api";
import { startProgram } from "../support/server/program";
import { serverForTests } from "../support/server/server-for-tests";

const server = serverForTests();
const api = new Api(() => server.url);
const ADDRESSES = ["--address", "192.0.2.1", "--address", "2001:db8:0::1"];

it("a node that joins and leaves: Ready with its labels, then gone with its Lease", async () => {
  const args = [
    "--node",
    "n1",
    "--server",
    server.url,
    ...ADDRESSES,
    "--zone",
    "z",
    "--label",
    "team=a",
    "--state",
    join(server.folder, "agent"),
  ];
  const agent = await startProgram(
    "agent",
    [...args, "--leave", "--leave-after", "0"],
    /The agent of n1 is ready \(addresses 192.0.2.1, 2001:db8::1,/,
  );
  const { body } = await api.send("GET", "/api/v1/nodes/n1");
  expect(body.metadata?.labels).toMatchObject({ "kubernetes.io/hostname": "n1", "topology.kubernetes.io/zone": "z", team: "a" });
  await expect
    .poll(async () => (await api.send("GET", "/api/v1/nodes/n1")).text, { timeout: 30_000 })
    .toMatch(/"type":"Ready","status":"True"/);
  expect(await agent.stop()).toBe(0);
  expect((await api.send("GET", "/api/v1/nodes/n1")).code).toBe(404);
  expect((await api.send("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1")).code).toBe(404);
});
