/** A server that was killed: the Nodes of which nothing could be heard meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { Api } from "../../../support/clients/api";
import { BeatingNodes, graceOf } from "../../../support/clients/beating-nodes";
import { serverForTests } from "../../../support/server/server-for-tests";
import { LONG_PATIENCE } from "../../../support/server/patience";

const GRACE_SECONDS = 8;

const server = serverForTests(graceOf(GRACE_SECONDS));
const api = new Api(() => server.url);
const nodes = new BeatingNodes(api);

it("a server that was dead for longer than the grace: no Node is written", { timeout: 240_000 }, async () => {
  for (const name of ["one", "two"]) await nodes.add(name);
  const versions = (): Promise<unknown[]> =>
    Promise.all(["one", "two"].map(async (name) => (await nodes.get(name)).metadata?.resourceVersion));
  const before = await versions();
  await server.kill();
  await sleep((GRACE_SECONDS + 4) * 1_000);
  await server.start();
  // The controller works: a Node that is made now and stays silent becomes Unknown.
  await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "new" } } });
  await expect.poll(() => nodes.ready("new"), LONG_PATIENCE).toBe("Unknown");
  expect(await versions()).toEqual(before);
});
