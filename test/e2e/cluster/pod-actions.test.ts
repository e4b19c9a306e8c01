/** Documents created under Pods, bindings and evictions, and writes of their status. */
import { describe, expect, it } from "vitest";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();

interface Answer {
  code: number;
  body: Record<string, unknown> & {
    message?: string;
    details?: unknown;
    spec?: Record<string, unknown>;
    metadata?: Record<string, unknown>;
  };
}

async function ask(method: string, path: string, body?: unknown): Promise<Answer> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await fetch(`${cluster.url}/api/v1/${path}`, { method, ...init });
  return { code: response.status, body: (await response.json()) as Answer["body"] };
}

async function patchStatus(name: string, status: unknown): Promise<Answer> {
  const headers = { "Content-Type": "application/merge-patch+json" };
  const init = { method: "PATCH", body: JSON.stringify({ status }), headers };
  const response = await fetch(`${cluster.url}/api/v1/namespaces/default/pods/${name}/status`, init);
  return { code: response.status, body: (await response.json()) as Answer["body"] };
}

async function makePod(name: string, part: Record<string, unknown> = {}, labels = {}): Promise<void> {
  const spec = { containers: [{ name: "c", image: "i" }], ...part };
  expect((await ask("POST", "namespaces/default/pods", { metadata: { name, labels }, spec })).code).toBe(201);
}

const binding = (name: string, node = "n1", metadata = {}) => ({
  apiVersion: "v1",
  kind: "Binding",
  metadata: { name, ...metadata },
  target: { kind: "Node", name: node },
});
const eviction = (name: string, deleteOptions?: unknown, apiVersion = "policy/v1") => ({
  apiVersion,
  kind: "Eviction",
  metadata: { name, namespace: "default" },
  ...(deleteOptions === undefined ? {} : { deleteOptions }),
});
const SUCCESS = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
const pods = "namespaces/default/pods";

describe("pods/binding and bindings", () => {
  it("a binding: puts a Pod on a node, once", async () => {
    await makePod("bound");
    expect(await ask("POST", `${pods}/bound/binding?dryRun=All`, binding("bound"))).toEqual({ code: 201, body: SUCCESS });
    expect((await ask("GET", `${pods}/bound`)).body.spec).not.toHaveProperty("nodeName");
    const annotations = { "example.com/by": "me" };
    expect(await ask("POST", `${pods}/bound/binding`, binding("bound", "n1", { annotations }))).toEqual({ code: 201, body: SUCCESS });
    expect((await ask("GET", `${pods}/bound`)).body).toMatchObject({
      metadata: { annotations },
      spec: { nodeName: "n1" },
      status: { conditions: [{ type: "PodScheduled", status: "True" }] },
    });
    expect(await ask("POST", `${pods}/bound/binding`, binding("bound", "n2"))).toMatchObject({
      code: 409,
      body: {
        reason: "Conflict",
        message: 'Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "n1"',
        details: { name: "bound", kind: "pods/binding" },
      },
    });
  });

  it("the older form without a name in the URL: accepted", async () => {
    await makePod("older");
    expect(await ask("POST", "namespaces/default/bindings", binding("older"))).toEqual({ code: 201, body: SUCCESS });
    expect((await ask("GET", `${pods}/older`)).body.spec).toMatchObject({ nodeName: "n1" });
    expect((await ask("GET", "namespaces/default/bindings")).code).toBe(405);
    expect((await ask("POST", "bindings", binding("older"))).code).toBe(404);
  });

  it.each<[string, unknown, number, string]>([
    ["another name", binding("other"), 400, "name in URL does not match name in Binding object"],
    ["no target", { kind: "Binding", apiVersion: "v1", metadata: { name: "judged" } }, 500, "target.name: Required value"],
    ["the uid of another Pod", binding("judged", "n1", { uid: "other" }), 409, "the UID in the precondition (other) does not match"],
    ["another kind", eviction("judged"), 400, "cannot be handled as a Binding"],
  ])("a binding with %s: refused", async (_, document, code, message) => {
    if ((await ask("GET", `${pods}/judged`)).code === 404) await makePod("judged");
    const answer = await ask("POST", `${pods}/judged/binding`, document);
    expect({ code: answer.code, message: answer.body.message }).toEqual({ code, message: expect.stringContaining(message) as string });
    expect((await ask("GET", `${pods}/judged`)).body.spec).not.toHaveProperty("nodeName");
  });

  it("a binding of a missing Pod: 404", async () => {
    expect(await ask("POST", `${pods}/none/binding`, binding("none"))).toMatchObject({
      code: 404,
      body: { message: 'pods "none" not found' },
    });
  });
});

describe("pods/eviction", () => {
  it("an eviction: deletes with its options", async () => {
    await makePod("evicted", { nodeName: "n1" });
    const own = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 30 };
    expect(await ask("POST", `${pods}/evicted/eviction?dryRun=All`, eviction("evicted"))).toEqual({ code: 201, body: SUCCESS });
    expect((await ask("POST", `${pods}/evicted/eviction`, eviction("evicted", { dryRun: ["All"] }))).code).toBe(201);
    expect((await ask("GET", `${pods}/evicted`)).body.metadata).not.toHaveProperty("deletionTimestamp");
    expect(await ask("POST", `${pods}/evicted/eviction`, eviction("evicted", { preconditions: { uid: "other" } }))).toMatchObject({
      code: 409,
    });
    expect(await ask("POST", `${pods}/evicted/eviction?fieldValidation=Strict`, eviction("evicted", own))).toEqual({
      code: 201,
      body: SUCCESS,
    });
    expect((await ask("GET", `${pods}/evicted`)).body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    const atOnce = eviction("evicted", { gracePeriodSeconds: 0 }, "policy/v1beta1");
    expect((await ask("POST", `${pods}/evicted/eviction`, atOnce)).code).toBe(201);
    expect((await ask("GET", `${pods}/evicted`)).code).toBe(404);
    expect((await ask("POST", `${pods}/evicted/eviction`, eviction("evicted"))).code).toBe(404);
    expect((await ask("GET", `${pods}/evicted/eviction`)).code).toBe(405);
  });

  it("an eviction: its watchers see why the Pod goes before it goes; a dry run shows them nothing", async () => {
    await makePod("disrupted", {}, { suite: "disrupted" });
    const { items, metadata } = (await ask("GET", `${pods}?labelSelector=suite%3Ddisrupted`)).body as unknown as {
      items: unknown[];
      metadata: { resourceVersion: string };
    };
    expect(items).toHaveLength(1);
    expect((await ask("POST", `${pods}/disrupted/eviction?dryRun=All`, eviction("disrupted"))).code).toBe(201);
    expect((await ask("POST", `${pods}/disrupted/eviction`, eviction("disrupted"))).code).toBe(201);
    const query = `watch=true&labelSelector=suite%3Ddisrupted&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
    const events = await (await fetch(`${cluster.url}/api/v1/${pods}?${query}`)).text();
    const seen = events
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; object: Answer["body"] & { status: { conditions: unknown[] } } });
    expect(seen.map(({ type }) => type)).toEqual(["MODIFIED", "DELETED"]);
    for (const { object } of seen) {
      expect(object.status.conditions).toMatchObject([
        { type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI", message: "Eviction API: evicting" },
      ]);
    }
  });

  it("discovery: lists binding, bindings and eviction", async () => {
    const { resources } = (await (await fetch(`${cluster.url}/api/v1`)).json()) as { resources: { name: string }[] };
    const told = resources.filter(({ name }) => /binding|eviction/.test(name));
    const verbs = ["create"];
    expect(told).toEqual([
      { name: "bindings", singularName: "binding", namespaced: true, kind: "Binding", verbs },
      { name: "pods/binding", singularName: "", namespaced: true, kind: "Binding", verbs },
      { name: "pods/eviction", singularName: "", namespaced: true, group: "policy", version: "v1", kind: "Eviction", verbs },
    ]);
  });
});

describe("pods/status", () => {
  it("an address that is none: 422 with upstream's cause, and the stored status stays", async () => {
    await makePod("addressed");
    expect((await patchStatus("addressed", { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] })).code).toBe(200);
    expect(await patchStatus("addressed", { podIP: "999.1.1.1" })).toMatchObject({
      code: 422,
      body: {
        reason: "Invalid",
        details: {
          causes: [
            {
              reason: "FieldValueInvalid",
              message: 'Invalid value: "999.1.1.1": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
              field: "status.podIPs[0]",
            },
          ],
        },
      },
    });
    const stored = (await ask("GET", `${pods}/addressed`)).body;
    expect(stored).toMatchObject({ status: { phase: "Pending", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] } });
    const put = await ask("PUT", `${pods}/addressed/status`, { ...stored, status: { podIPs: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }] } });
    expect(put.code).toBe(422);
    // The main endpoint keeps the stored status, whatever is sent.
    const main = await ask("PUT", `${pods}/addressed`, { ...stored, status: { podIP: "x" } });
    expect(main.body).toMatchObject({ status: { podIP: "10.0.0.1" } });
  });
});

it.each(["v1", "meta.k8s.io/v1", "apps/v1", "policy/v1"])("DeleteOptions of %s: count", async (apiVersion) => {
  const name = `options-${apiVersion.replace("/", "-").replaceAll(".", "-")}`;
  await makePod(name, { nodeName: "n1" });
  const options = { apiVersion, kind: "DeleteOptions", preconditions: { uid: "another" } };
  expect((await ask("DELETE", `${pods}/${name}`, options)).code).toBe(409);
});
