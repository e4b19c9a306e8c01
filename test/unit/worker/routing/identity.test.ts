import { expect, it } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { GIT_VERSION } from "../../../../src/core/config/version";
import { notFound } from "../../../../src/api/meta/status";
import type { WriteRequest } from "../../../../src/api/rpc/store";
import { app } from "../../../../src/worker/app";
import { type Answers, fakeEnv } from "../fake-env";

const LEASE = { group: "coordination.k8s.io", resource: "leases", kind: "Lease" };
let clusters = 0;

/** One instance and a cluster of its own; requests are answered, and what rides behind them is waited for where it ends. */
function instance(vars: Partial<Env>, answers: Answers = {}) {
  const cluster = `identity-${String(++clusters)}`;
  const { env, calls } = fakeEnv({ get: () => ({ ok: false, status: notFound(LEASE, "a") }), ...answers }, vars);
  const behind: Promise<unknown>[] = [];
  const context = { waitUntil: (work: Promise<unknown>) => void behind.push(work), passThroughOnException: () => undefined, props: {} };
  const request = (cf?: object): Promise<Response> => {
    const url = `http://h/clusters/${cluster}/api/v1/namespaces/x/services/a`;
    return Promise.resolve(app.fetch(new Request(url, cf ? { cf } : {}) as Request, env, context));
  };
  const asked = () => calls.filter(({ object }) => object.endsWith("/leases.coordination.k8s.io"));
  const lease = () => {
    const written = asked().find(({ method }) => method === "write")?.argument as Extract<WriteRequest, { verb: "create" }>;
    return JSON.parse(written.object) as { metadata: { labels: Record<string, string> } };
  };
  return { request, asked, lease, settled: () => Promise.all(behind.splice(0)) };
}

it("an answered request: the Lease is renewed behind it, once in an interval", async () => {
  const { request, asked, lease, settled } = instance({ HOST_NAME: "node-1" });
  await request();
  await settled();
  expect(asked().map(({ method }) => method)).toEqual(["get", "write"]);
  expect(lease().metadata.labels["kubernetes.io/hostname"]).toBe("node-1");
  await request();
  await settled();
  expect(asked()).toHaveLength(2);
});

it("store of Leases that does not answer yet: delays no request", async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const missing = { ok: false, status: notFound(LEASE, "a") } as const;
  const { request, asked, settled } = instance(
    { HOST_NAME: "node-1" },
    { get: ({ namespace }) => (namespace === "x" ? { ok: true, object: "{}" } : answered.then(() => missing)) },
  );
  expect([(await request()).status, (await request()).status]).toEqual([200, 200]);
  await expect.poll(() => asked().length).toBe(1);
  answer();
  await settled();
  expect(asked()).toHaveLength(2);
});

it("a deployment: has the data centre of the request and its release as its name", async () => {
  const { request, lease, settled } = instance({ HOST_NAME: "" });
  await request({ colo: "AMS" });
  await settled();
  expect(lease().metadata.labels["kubernetes.io/hostname"]).toBe(`ams-${GIT_VERSION}`);
});

it.each<[string, Partial<Env>]>([
  ["place without a name", { HOST_NAME: "" }],
  ["gate off", { HOST_NAME: "node-1", FEATURE_GATES: "APIServerIdentity=false" }],
])("%s: nothing is renewed", async (_, vars) => {
  const { request, asked, settled } = instance(vars);
  await request();
  await settled();
  expect(asked()).toEqual([]);
});
