/** Heartbeats of Nodes against a running server, with short periods: what becomes of a Node that falls silent, and of its Pod. */
import { expect, it } from "vitest";
import type { Pod } from "../../../src/api/meta/kubernetes";
import { Api } from "../../support/clients/api";
import { BeatingNodes, graceOf, MERGE, NODE_LEASES } from "../../support/clients/beating-nodes";
import { serverForTests } from "../../support/server/server-for-tests";
import { PATIENCE } from "../../support/server/patience";

const PODS = "/api/v1/namespaces/default/pods";

// Long enough for a busy machine that renews every second.
const server = serverForTests(graceOf(8));
const api = new Api(() => server.url);
const nodes = new BeatingNodes(api);

const podReady = async (): Promise<string | undefined> =>
  ((await api.must("GET", `${PODS}/p`)) as Pod).status?.conditions?.find(({ type }) => type === "Ready")?.status;

it("a Node that falls silent: Unknown with taints, its Pod loses Ready; a renewal brings nothing back, its status writer does", async () => {
  await nodes.add("silent");
  await nodes.add("alive");
  await api.must("POST", PODS, {
    body: { metadata: { name: "p" }, spec: { nodeName: "silent", containers: [{ name: "c", image: "i" }] } },
  });
  const conditions = [{ type: "Ready", status: "True" }];
  await api.must("PATCH", `${PODS}/p/status`, { body: { status: { conditions } }, headers: MERGE });
  nodes.renewing.delete("silent");
  await expect.poll(() => nodes.ready("silent"), PATIENCE).toBe("Unknown");
  expect(await nodes.get("silent")).toMatchObject({
    status: {
      conditions: [{ type: "Ready", reason: "NodeStatusUnknown" }, { type: "MemoryPressure", reason: "NodeStatusNeverUpdated" }, {}, {}],
    },
  });
  await expect
    .poll(() => nodes.taints("silent"), PATIENCE)
    .toEqual(["NoExecute", "NoSchedule"].map((effect) => `node.kubernetes.io/unreachable:${effect}`));
  await expect.poll(podReady, PATIENCE).toBe("False");
  const reasons = async (): Promise<string[]> =>
    (await api.must("GET", "/api/v1/events")).items?.map((event) => String(event["reason"])) ?? [];
  await expect.poll(reasons, PATIENCE).toEqual(expect.arrayContaining(["RegisteredNode", "NodeNotReady"]));

  // A renewal is stored, and changes nothing.
  nodes.renewing.add("silent");
  const before = (await api.must("GET", `${NODE_LEASES}/silent`)).metadata?.resourceVersion;
  await expect.poll(async () => (await api.must("GET", `${NODE_LEASES}/silent`)).metadata?.resourceVersion, PATIENCE).not.toBe(before);
  expect([await nodes.ready("silent"), await nodes.ready("alive"), await podReady()]).toEqual(["Unknown", "True", "False"]);
  await nodes.setReady("silent", "True");
  await expect.poll(() => nodes.taints("silent"), PATIENCE).toEqual([]);
});
