import { once } from "node:events";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { expect, it } from "vitest";
import { openWatches } from "../../../support/server/observe";
import { serverForTests } from "../../../support/server/server-for-tests";

const server = serverForTests();

const PODS = "/api/v1/namespaces/default/pods";
const watches = () => openWatches(server.url, "pods");

async function watch(query: string): Promise<{ response: IncomingMessage; received(): string }> {
  const [response] = (await once(get(`${server.url}${PODS}?watch=true&${query}`), "response")) as [IncomingMessage];
  let text = "";
  response
    .setEncoding("utf8")
    .on("data", (chunk: string) => (text += chunk))
    .on("error", () => undefined);
  return { response, received: () => text };
}

it("watches of a quiet resource: those whose clients vanished are gone within two minutes, the others go on", async () => {
  const staying = await watch("");
  const leaving = await Promise.all(Array.from({ length: 20 }, (_, i) => watch(i % 2 === 0 ? "" : "allowWatchBookmarks=true")));
  await expect.poll(watches).toBe(21);
  for (const { response } of leaving) response.destroy();
  await expect.poll(watches, { timeout: 120_000, interval: 500 }).toBe(1);
  await fetch(`${server.url}${PODS}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ metadata: { name: "late" }, spec: { containers: [{ name: "a", image: "a" }] } }),
  });
  await expect.poll(() => staying.received()).toContain("\n");
  // One line of valid JSON, for readers of lines and of JSON alike.
  const lines = staying.received().split("\n");
  expect([lines.length, lines[1]]).toEqual([2, ""]);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ type: "ADDED", object: { metadata: { name: "late" } } });
  staying.response.destroy();
}, 150_000);
