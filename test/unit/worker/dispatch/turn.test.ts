/** What a small request leaves out: the platform makes each of these when it is asked for, and each costs a hundredth of the request or more. */
import { expect, it } from "vitest";
import { app } from "../../../../src/worker/app";
import { type Answers, fakeEnv } from "../fake-env";

const OBJECT = '{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}';
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/x/leases";
const LEASE = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: { name: "a", resourceVersion: "6" } };

/** Sends two requests of a kind into one cluster. Answers what the second one read of the request, and how often it was kept. */
async function second(method: string, path: string, body?: object) {
  const answers: Answers = {
    get: () => ({ ok: true, object: OBJECT }),
    write: () => ({ ok: true, code: 200, object: OBJECT, warnings: [], gone: false }),
  };
  const { env } = fakeEnv(answers, { HOST_NAME: "node-1" });
  let kept: Promise<unknown>[] = [];
  const read: string[] = [];
  const context = { waitUntil: (work: Promise<unknown>) => void kept.push(work), passThroughOnException: () => undefined, props: {} };
  const send = async (): Promise<number> => {
    const init = body ? { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : { method };
    const request = new Request(`http://h${path}`, init);
    for (const name of ["signal", "cf"] as const) {
      const value: unknown = Reflect.get(request, name);
      Object.defineProperty(request, name, { get: () => (read.push(name), value) });
    }
    return (await app.fetch(request, env, context)).status;
  };
  await send();
  await Promise.all(kept);
  kept = [];
  read.length = 0;
  const code = await send();
  await Promise.all(kept);
  return { code, kept: kept.length, read };
}

it.each([
  ["GET", `${LEASES}/a`, undefined],
  ["PUT", `${LEASES}/a`, LEASE],
  ["POST", LEASES, LEASE],
  ["DELETE", `${LEASES}/a`, undefined],
])("%s %s: is kept once, and nobody asks when its client leaves or where he is", async (method, path, body) => {
  expect(await second(method, path, body)).toEqual({ code: 200, kept: 1, read: [] });
});
