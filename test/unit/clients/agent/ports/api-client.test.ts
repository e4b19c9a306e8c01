import { expect, it } from "vitest";
import type { AgentPorts } from "../../../../../src/clients/agent/ports/agent-ports";
import { type ApiReply, SentApi } from "../../../../../src/clients/agent/ports/api-client";
import type { KubeObject, Node } from "../../../../../src/api/meta/kubernetes";
import { nodesDefinition } from "../../../../../src/api/registry/nodes/definition";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { ApiWorld, SimProcess } from "../../../../support/worlds/api-world";

const NODES = "/api/v1/nodes";

function setUp() {
  const world = new ApiWorld([nodesDefinition]);
  const process = new SimProcess(world);
  const api: AgentPorts["api"] = new SentApi(process.send, process.clock, seededRandom(1));
  const ask = (...of: Parameters<AgentPorts["api"]["request"]>): Promise<ApiReply<KubeObject>> => world.scheduler.run(api.request(...of));
  return { world, process, api, ask };
}

it("request: objects, refusals and missing answers are data", async () => {
  const { world, process, ask } = setUp();
  expect(await ask("POST", NODES, { metadata: { name: "a" } })).toMatchObject({ kind: "done", object: { metadata: { name: "a" } } });
  expect(await ask("PATCH", `${NODES}/a`, { metadata: { labels: { x: "1" } } })).toMatchObject({
    object: { metadata: { labels: { x: "1" } } },
  });
  expect(await ask("GET", `${NODES}/b`)).toEqual({ kind: "refused", code: 404, message: 'nodes "b" not found' });
  world.refuse = () => 403;
  expect(await ask("GET", `${NODES}/a`)).toEqual({ kind: "refused", code: 403, message: "refused" });
  world.stopServer();
  expect(await ask("GET", `${NODES}/a`)).toEqual({ kind: "unanswered", message: "connection refused" });
  process.isLost = () => true;
  expect(await ask("GET", `${NODES}/a`)).toEqual({ kind: "unanswered", message: "no answer within 5000 ms" });
});

it.each([
  ["a proxy's page", 502, " <html>bad gateway", "502 <html>bad gateway"],
  ["a proxy's page for a path that it does not know", 404, "<html>not found", "404 <html>not found"],
  ["a path that the server does not know", 404, "404 page not found", "404 404 page not found"],
  ["a Status of another reason", 404, '{"kind":"Status","message":"no"}', '404 {"kind":"Status","message":"no"}'],
  ["a page for all paths", 200, "<html>log in", "200 <html>log in"],
  ["JSON that is no object of the API", 200, "{}", "200 {}"],
  ["null", 200, "null", "200 null"],
  ["a redirect", 302, "<html>moved", "302 <html>moved"],
])("%s: is no answer of the server", async (_, status, text, told) => {
  const { process } = setUp();
  const api = new SentApi(() => Promise.resolve({ status, text: () => Promise.resolve(text), body: null }), process.clock, seededRandom(1));
  expect(await api.request("GET", NODES)).toEqual({ kind: "unanswered", message: `no answer of an API server: ${told}` });
});

it("follow: after an outage of an hour the collection is followed again within 10 s", async () => {
  const { world, api, ask } = setUp();
  const seen: string[] = [];
  let errors = 0;
  const stop = api.follow<Node>({
    path: NODES,
    fieldSelector: "metadata.name=a",
    onStep: (step) => {
      const nodes = step.kind === "list" ? step.objects : step.changes.map(({ object }) => object);
      seen.push(...nodes.map(({ metadata }) => metadata?.name ?? ""));
    },
    onError: () => errors++,
  });
  await world.scheduler.pass(1_000);
  world.stopServer();
  await world.scheduler.pass(3_600_000);
  world.startServer();
  await ask("POST", NODES, { metadata: { name: "a" } });
  await world.scheduler.pass(10_000);
  expect(seen).toEqual(["a"]);
  expect(errors).toBeGreaterThan(3_600 / 5);
  stop();
});

/** Follows Nodes; the names that it hears, and what it is told of errors. */
function following(api: AgentPorts["api"]) {
  const seen: string[] = [];
  const errors: string[] = [];
  api.follow<Node>({
    path: NODES,
    onStep: (step) => {
      const nodes = step.kind === "list" ? step.objects : step.changes.map(({ object }) => object);
      seen.push(...nodes.map(({ metadata }) => metadata?.name ?? ""));
    },
    onError: ({ message }) => errors.push(message),
  });
  return { seen, errors };
}

it("follow: a list without an answer is given up after 30 s and asked again", async () => {
  const { world, process, api, ask } = setUp();
  await ask("POST", NODES, { metadata: { name: "a" } });
  process.isLost = () => true;
  const { seen, errors } = following(api);
  await world.scheduler.pass(31_000);
  expect(errors).toEqual(["no answer within 30000 ms"]);
  process.isLost = () => false;
  await world.scheduler.pass(31_000);
  expect(seen).toEqual(["a"]);
});

it("follow: a watch whose connection is lost is given up after 90 s, and misses nothing", async () => {
  const { world, process, api, ask } = setUp();
  const { seen, errors } = following(api);
  await world.scheduler.pass(1_000);
  process.isLost = () => true;
  await world.scheduler.pass(61_000);
  process.isLost = () => false;
  await ask("POST", NODES, { metadata: { name: "a" } });
  expect(seen).toEqual([]);
  await world.scheduler.pass(32_000);
  expect(seen).toEqual(["a"]);
  expect(errors).toEqual(["no answer within 90000 ms"]);
});

it("follow: an idle hour breaks no watch", async () => {
  const { world, api } = setUp();
  const { errors } = following(api);
  await world.scheduler.pass(3_600_000);
  expect(errors).toEqual([]);
});

it("followAnew: a watch whose connection is lost goes on at once where it was, and no error is told", async () => {
  const { world, process, api, ask } = setUp();
  const { seen, errors } = following(api);
  await ask("POST", NODES, { metadata: { name: "a" } });
  await world.scheduler.pass(5_000);
  process.isLost = () => true;
  await world.store("nodes").create({ metadata: { name: "b" } }, { group: "" });
  await world.scheduler.pass(5_000);
  process.isLost = () => false;
  await world.scheduler.pass(5_000);
  expect(seen).toEqual(["a"]);
  api.followAnew();
  await world.scheduler.pass(1_000);
  expect([seen, errors]).toEqual([["a", "b"], []]);
});
