/** A cluster's objects are made where it is, whoever calls them first: its users, its controllers, alarms, crons or its end. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import worker from "../../../src/worker/index";
import { forgetCluster } from "../../../src/worker/routing/known-clusters";
import { AccessWorld } from "../../support/access/access-world";
import { countedCalls } from "../../support/objects/counted-calls";
import { PATIENCE } from "../../support/objects/patience";
import { wipedAtRest } from "../../support/runtime/at-rest";

const bindings = env as unknown as Env;
const PARIS = { colo: "CDG", continent: "EU", country: "FR", longitude: "2.35" };
const RBAC = "rbac.authorization.k8s.io";
const CRONS = ["* * * * *", "*/5 * * * *", "0 * * * *"];

const namespaces = Object.getPrototypeOf(bindings.CONTROLLER) as DurableObjectNamespace;
const get = namespaces.get;
afterEach(() => void (namespaces.get = get));

/** The places of all stubs that are made from now on of objects whose name begins so. No spy of Vitest: countedCalls has one of this method. */
function stubsOf(prefix: string): { object: string; location: string | undefined }[] {
  const made: { object: string; location: string | undefined }[] = [];
  namespaces.get = function (this: DurableObjectNamespace, id, options) {
    if (id.name?.startsWith(prefix)) made.push({ object: id.name.slice(prefix.length), location: options?.locationHint });
    return get.call(this, id, options);
  };
  return made;
}

/** Cron knows this cluster alone. */
async function onlyCluster(id: string): Promise<void> {
  const { keys } = await bindings.DIRECTORY.list();
  await Promise.all(keys.filter(({ name }) => !name.endsWith(`/${id}`)).map(({ name }) => bindings.DIRECTORY.delete(name)));
}

it("a whole life of a cluster: every stub of its objects says where it is", async () => {
  const access = new AccessWorld();
  const { cluster } = access;
  const made = stubsOf(cluster);
  const send = async (method: string, path: string, body?: object, more: { token?: string } = {}) => {
    const answer = await access.ask(method, path, { ...(body ? { body } : {}), ...more });
    expect(answer.code, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  };
  await countedCalls(() => access.ask("PUT", `/clusters/${cluster}`, { cf: PARIS }));
  expect((await send("GET", `/clusters/${cluster}`))["location"]).toBe("weur");
  await countedCalls(async () => {
    await send("POST", `/apis/${RBAC}/v1/clusterroles`, {
      metadata: { name: "r" },
      rules: [{ apiGroups: [""], resources: ["*"], verbs: ["*"] }],
    });
    const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "r" };
    const subjects = [{ apiGroup: RBAC, kind: "User", name: "bob" }];
    await send("POST", `/apis/${RBAC}/v1/clusterrolebindings`, { metadata: { name: "bob" }, roleRef, subjects });
    const token = await access.tokenOf("bob");
    // An isolate that has not met the cluster.
    forgetCluster(access.env, cluster);
    const spec = { selector: { app: "web" }, ports: [{ port: 80 }] };
    await send("POST", "/api/v1/namespaces/default/services", { metadata: { name: "web" }, spec }, { token });
    await send("POST", "/api/v1/nodes", { metadata: { name: "n1" } });
    await send("PUT", "/api/v1/nodes/n1/proxy-health", { IPv4: { appliedAgoMs: 0 } });
    await send("GET", "/api/v1/nodes/n1/proxy-config");
    await send("GET", "/nodes/targets");
    await access.ask("GET", "/nodes/n1/healthz");
    await send("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", { spec: {} }).catch(() => undefined);
    await send("GET", "/api/v1/services?resourceVersion=0");
    for (const path of ["/metrics", "/ranges", "/check", "/check/controllers", "/check/nodeports", "/readyz"])
      await access.ask("GET", path);
    await access.ask("POST", "/check");
  });
  for (const cron of CRONS) {
    await onlyCluster(`${cluster}~4000000001`);
    const scheduled = createScheduledController({ cron, scheduledTime: Date.UTC(2026, 0, 1, 0, 7) });
    await countedCalls(async () => worker.scheduled(scheduled, access.env, createExecutionContext()));
  }
  const living = made.length;
  expect((await access.ask("DELETE", `/clusters/${cluster}`)).code).toBe(202);
  await vi.waitUntil(async () => (await access.ask("GET", `/clusters/${cluster}`)).code === 404, { timeout: 100_000, interval: 50 });
  // Of a cluster that ends the list tells no id, and its record is there.
  const elsewhere = made.filter(({ object, location }, index) => location !== "weur" && (index < living || object !== "/record"));
  expect(elsewhere).toEqual([]);
  const objects = new Set(made.map(({ object }) => object));
  expect([...objects].filter((object) => !object.startsWith("~4000000001/") && object !== "/record")).toEqual([]);
  const wanted = ["services", "coordinator", "controllers/repair", "controllers/namespaces", "credentials", "proxy-view", "pods", "events"];
  for (const object of wanted) expect(objects).toContain(`~4000000001/${object}`);
  expect([...objects].filter((object) => /\/[0-9a-f]{8}-/.test(object))).not.toEqual([]);
}, 120_000);

it("the next cluster of the name: lives where its own maker says, and nothing of the one before is there", async () => {
  const access = new AccessWorld();
  const path = `/clusters/${access.cluster}`;
  const put = (body?: object) => access.ask("PUT", path, { ...(body ? { body } : {}), cf: PARIS });
  expect(await put({ location: "apac-ne" })).toMatchObject({ code: 201, body: { location: "apac-ne" } });
  expect(await put({ location: "weur" })).toMatchObject({ code: 422, body: { reason: "Invalid" } });
  expect(await put()).toMatchObject({ code: 200, body: { location: "apac-ne" } });
  await access.make("/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
  expect((await access.ask("DELETE", path)).code).toBe(202);
  await vi.waitUntil(async () => (await access.ask("GET", path)).code === 404, { timeout: 100_000, interval: 50 });
  const made = stubsOf(access.cluster);
  expect(await put()).toMatchObject({ code: 201, body: { location: "weur" } });
  expect((await access.ask("GET", "/api/v1/namespaces/default/configmaps/a")).code).toBe(404);
  expect((await access.ask("GET", "/api/v1/namespaces/default/services/kubernetes")).code).toBe(200);
  // The record of a name is where its first life was: whoever looks at the end of that one may still name its place.
  expect(made.filter(({ location, object }) => location !== "weur" && object !== "/record")).toEqual([]);
  expect(made.some(({ object }) => object.startsWith("~4000000002/"))).toBe(true);
}, 120_000);

it("the cluster default of a deployment: is where its maker says; probes find it there, and make nothing before", async () => {
  const access = new AccessWorld({ IMPLICIT_DEFAULT_CLUSTER: "false" });
  const made = stubsOf("default");
  // A late object of a test whose configuration takes this cluster as made may enter it in the directory behind the wipe: then everything is wiped again.
  await vi.waitFor(async () => {
    await wipedAtRest();
    forgetCluster(access.env, "default");
    made.length = 0;
    for (const probe of ["/healthz", "/livez", "/readyz"]) expect((await access.ask("GET", probe, { token: "" })).code).toBe(200);
    expect(made).toEqual([]);
    expect(await access.ask("PUT", "/clusters/default", { body: { location: "oc" } })).toMatchObject({
      code: 201,
      body: { location: "oc" },
    });
  }, PATIENCE);
  // An isolate that has not met it.
  forgetCluster(access.env, "default");
  await vi.waitUntil(async () => (await access.ask("GET", "/readyz", { token: "" })).code === 200, { timeout: 30_000, interval: 200 });
  expect((await access.ask("GET", "/livez", { token: "" })).code).toBe(200);
  expect((await access.ask("GET", "/clusters/default/api/v1/namespaces/default/services/kubernetes")).code).toBe(200);
  expect(made.filter(({ location }) => location !== "oc")).toEqual([]);
  expect(made.map(({ object }) => object)).toContain("~7000000001/coordinator");
}, 120_000);
