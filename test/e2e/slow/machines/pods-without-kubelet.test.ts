/** On a server whose Nodes are only names: a deletion of a Pod ends, and a taint empties its Node. */
import { expect, it } from "vitest";
import { Api, MERGE_PATCH } from "../../../support/clients/api";
import { serverForTests } from "../../../support/server/server-for-tests";
import { PATIENCE } from "../../../support/server/patience";

const PODS = "/api/v1/namespaces/default/pods";
const server = serverForTests(["--var", "NODE_STARTUP_GRACE_PERIOD_SECONDS=2"]);
const api = new Api(() => server.url);

async function pod(name: string, spec: object = {}): Promise<void> {
  const containers = [{ name: "c", image: "i" }];
  await api.must("POST", PODS, {
    body: { metadata: { name }, spec: { nodeName: "n", terminationGracePeriodSeconds: 1, containers, ...spec } },
  });
}

it("a Pod on a Node that nobody hears of: deleted, and evicted by a taint, it is gone after its grace; one that tolerates the taint stays", async () => {
  await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "n" } } });
  await pod("deleted");
  await pod("evicted");
  await pod("tolerant", { tolerations: [{ operator: "Exists" }] });
  const code = async (name: string): Promise<number> => (await api.get(`${PODS}/${name}`)).code;

  expect((await api.must("DELETE", `${PODS}/deleted`)).metadata?.deletionTimestamp).toBeDefined();
  expect((await api.must("GET", `${PODS}/evicted`)).metadata?.deletionTimestamp).toBeUndefined();
  const spec = { taints: [{ key: "example.com/empty", effect: "NoExecute" }] };
  await api.must("PATCH", "/api/v1/nodes/n", { body: { spec }, headers: { "Content-Type": MERGE_PATCH } });

  // Both stay until their Node has been silent for long enough, and go with one look of the collector.
  await expect.poll(() => code("deleted"), PATIENCE).toBe(404);
  await expect.poll(() => code("evicted"), PATIENCE).toBe(404);
  expect(await code("tolerant")).toBe(200);
  const query = { fieldSelector: "reason=TaintManagerEviction" };
  const { items } = (await api.get("/api/v1/namespaces/default/events", query)).body as { items?: { message?: string }[] };
  expect(items?.map(({ message }) => message)).toEqual(["Marking for deletion Pod default/evicted"]);
});
