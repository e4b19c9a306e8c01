/** The gate KubeProxyDrainingTerminatingNodes, switched between starts of the server on the same data. */
import { afterAll, expect, it } from "vitest";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../../support/server/server";
import { PATIENCE } from "../../../support/server/patience";

const TAINT = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

async function create(server: Server, name: string, taints: readonly object[]): Promise<void> {
  const node = { metadata: { name }, spec: { taints }, status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } };
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${server.url}/api/v1/nodes`, { method: "POST", headers, body: JSON.stringify(node) });
  expect(response.status, await response.text()).toBe(201);
}

/** Codes of both checks of both nodes, and the nodes that load balancers may use. */
async function seen(server: Server): Promise<object> {
  const code = async (path: string): Promise<number> => {
    const response = await fetch(`${server.url}/nodes/${path}`);
    await response.text();
    return response.status;
  };
  const { targets } = await getJson<{ targets: { node: string }[] }>(`${server.url}/nodes/targets`);
  return {
    healthz: [await code("drains/healthz"), await code("stays/healthz")],
    livez: [await code("drains/livez"), await code("stays/livez")],
    targets: targets.map(({ node }) => node),
  };
}

const ON = { healthz: [503, 200], livez: [200, 200], targets: ["stays"] };
const OFF = { healthz: [200, 200], livez: [200, 200], targets: ["drains", "stays"] };

async function expectAfterStart(
  gate: boolean,
  want: object,
  first: (server: Server) => Promise<void> = async () => undefined,
): Promise<void> {
  const server = await startServer(folder, ["--var", `FEATURE_GATES=KubeProxyDrainingTerminatingNodes=${String(gate)}`]);
  try {
    await first(server);
    await expect.poll(() => seen(server), PATIENCE).toEqual(want);
  } finally {
    await server.stop();
  }
}

it("on, off, on: a tainted node is red and no target, then green and one, then red again", { timeout: 300_000 }, async () => {
  await expectAfterStart(true, ON, async (server) => {
    await create(server, "drains", [TAINT]);
    await create(server, "stays", []);
  });
  await expectAfterStart(false, OFF);
  await expectAfterStart(true, ON);
});
