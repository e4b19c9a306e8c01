/** Health checks of nodes as docs/load-balancer-health-checks.md describes them, against the started server. */
import { expect, it } from "vitest";
import { serverForTests } from "../../support/server/server-for-tests";
import { PATIENCE } from "../../support/server/patience";

const NODES = "/api/v1/nodes";
const server = serverForTests(["--var", "DRAINING_TAINTS=karpenter.sh/disrupted"]);

async function send(method: string, path: string, body: object): Promise<number> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(server.url + path, { method, headers: { "Content-Type": type }, body: JSON.stringify(body) });
  await response.text();
  return response.status;
}

/** Codes of /healthz and /livez; GET and HEAD agree. */
async function codes(node: string, cluster = ""): Promise<string> {
  const found: string[] = [];
  for (const path of ["healthz", "livez"]) {
    const url = `${server.url}${cluster}/nodes/${node}/${path}`;
    const [get, head] = [await fetch(url), await fetch(url, { method: "HEAD" })];
    expect([head.status, await head.text()]).toEqual([get.status, ""]);
    expect(JSON.parse(await get.text())).toMatchObject({ healthy: expect.any(Boolean) as boolean });
    found.push(String(get.status));
  }
  return found.join(" ");
}

it("node of a cluster: drains by a taint of DRAINING_TAINTS, in its own cluster alone, and leaves the targets there", async () => {
  for (const cluster of ["", "/clusters/blue"]) {
    expect(await send("POST", cluster + NODES, { metadata: { name: "drains" } })).toBe(201);
    expect(await codes("drains", cluster)).toBe("200 200");
  }
  const taints = [{ key: "karpenter.sh/disrupted", effect: "NoSchedule" }];
  expect(await send("PATCH", `/clusters/blue${NODES}/drains`, { spec: { taints } })).toBe(200);
  await expect.poll(() => codes("drains", "/clusters/blue"), PATIENCE).toBe("503 200");
  expect(await codes("drains")).toBe("200 200");
  const targets = async (path: string) => {
    const { targets: found } = (await (await fetch(server.url + path)).json()) as { targets: { node: string; weight: number }[] };
    return found.map(({ node, weight }) => `${node} ${String(weight)}`);
  };
  const lists = ["/nodes/targets", "/clusters/blue/nodes/targets", "/clusters/blue/nodes/targets?draining=true"].map(targets);
  expect(await Promise.all(lists)).toEqual([["drains 1"], [], ["drains 0"]]);
});

it("kill -9 of the server: the last reports go on after its next start", async () => {
  for (const name of ["good", "late"]) expect(await send("POST", NODES, { metadata: { name } })).toBe(201);
  expect(await send("PUT", `${NODES}/good/proxy-health`, { IPv4: { appliedAgoMs: 1_000, queuedForMs: 500 } })).toBe(200);
  expect(await send("PUT", `${NODES}/late/proxy-health`, { IPv6: { healthy: false } })).toBe(200);
  const both = async (): Promise<string[]> => [await codes("good"), await codes("late")];
  expect(await both()).toEqual(["200 200", "503 503"]);
  await server.kill();
  await server.start();
  expect(await both()).toEqual(["200 200", "503 503"]);
});
