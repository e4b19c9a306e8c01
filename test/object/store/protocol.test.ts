/** Calls between releases, on the real platform: the version that a call names, and verbs and rows that an object does not know. */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { bearerTokens, clusterRecord, controller, storeStub } from "../../../durable-objects/peers/peers";
import type { Env } from "../../../durable-objects/platform/env";
import { naming } from "../../../durable-objects/platform/versions";
import * as product from "../../../src/worker/index";
import { SPOKEN, PROTOCOL_HEADER, UNDERSTOOD, UNSUPPORTED } from "../../../src/api/rpc/protocol";
import type { WriteRequest } from "../../../src/api/rpc/store";
import { COLLECTION_HEADER, encodeCollection } from "../../../src/api/store/list/collection-header";
import { leasesDefinition } from "../../../src/api/registry/leases/definition";
import { OBJECT_BINDINGS } from "../../support/objects/every-object";
import { createIn, freshCluster, storedIn, storeStubOf } from "../../support/objects/store-stubs";
import { aLease as lease, collectionRequest, createRequest } from "../../support/worlds/store-world";

type Callable = Record<string, (...args: unknown[]) => Promise<unknown>>;
const bindings = env as unknown as Env & Record<string, DurableObjectNamespace>;
const LEASES = "leases.coordination.k8s.io";
const aLease = (name: string) => lease(name, {}, { namespace: "default" });
const LATER = UNDERSTOOD.to + 1;
const sevenAnd = (version: number, ...args: unknown[]): unknown[] => [...args, ...Array.from({ length: 7 - args.length }), version];

/** The promise of a call is a function, too, which `expect` would call. */
async function answerOf(call: PromiseLike<unknown> | undefined): Promise<unknown> {
  return call;
}

/** A method of each class of objects, and a name that such an object can have. */
const ASKED: Readonly<Record<string, readonly [name: string, method: string]>> = {
  COORDINATOR: ["coordinator", "topology"],
  SERVICE_CIDR: ["uid", "free"],
  RESOURCE_STORE: ["leases.coordination.k8s.io", "counters"],
  SERVICES_STORE: ["services", "counters"],
  IP_ADDRESSES_STORE: ["ipaddresses.networking.k8s.io", "counters"],
  CONTROLLER: ["controllers/repair", "wipe"],
  PROXY_VIEW: ["proxy-view", "counters"],
  NODE_PROXY: ["node-proxy-1", "wipe"],
  CLUSTER_RECORD: ["record", "look"],
  CLUSTER_NAMES: ["clusters", "areMade"],
  CREDENTIAL_STORE: ["credentials", "listTokens"],
};

describe("a caller's version", () => {
  it("every class of objects has a row here", () => {
    expect(Object.keys(ASKED).sort()).toEqual([...OBJECT_BINDINGS].sort());
  });

  it.each(Object.entries(ASKED))(
    "%s: a version that it does not understand is unsupported, one that it does is not looked at",
    async (binding, [name, method]) => {
      const stub = (): Callable => bindings[binding]?.getByName(`${cluster}/${name}`) as unknown as Callable;
      const cluster = freshCluster();
      await expect(answerOf(stub()[method]?.(...sevenAnd(LATER)))).rejects.toThrow(
        `${UNSUPPORTED}: ${method} in version ${String(LATER)} of the protocol`,
      );
      if (method === "wipe") return;
      const args = method === "areMade" ? [[]] : [];
      const alone = await stub()[method]?.(...args);
      expect(await stub()[method]?.(...sevenAnd(SPOKEN, ...args))).toEqual(alone);
    },
  );

  it("a call that the object's class has and its brain has not: is unsupported", async () => {
    const quotas = () => bindings.CONTROLLER.getByName(`${freshCluster()}/controllers/resource-quotas`) as unknown as Callable;
    for (const method of ["sweep", "askVisits"]) {
      await expect(answerOf(quotas()[method]?.())).rejects.toThrow(`${UNSUPPORTED}: ${method}`);
    }
  });

  it("every stub of a peer names it, in calls and in requests", async () => {
    const seen: unknown[][] = [];
    const inner = {
      look: (...args: unknown[]) => seen.push(args),
      fetch: (request: Request) => seen.push([request.headers.get(PROTOCOL_HEADER)]),
      name: "n",
    };
    const stub = naming(inner) as typeof inner & { then?: unknown; graft?: unknown };
    stub.look("a");
    stub.fetch(new Request("http://store/collection"));
    expect(seen).toEqual([["a", undefined, undefined, undefined, undefined, undefined, undefined, SPOKEN], [String(SPOKEN)]]);
    expect([stub.name, stub.then, stub.graft]).toEqual(["n", undefined, undefined]);
  });

  it("a list in a version that the store does not understand: is unsupported", async () => {
    const request = encodeCollection(collectionRequest(leasesDefinition, {}));
    const ask = (version: number): Promise<Response> =>
      storeStubOf(freshCluster(), LEASES).fetch("http://store/collection", {
        headers: { [COLLECTION_HEADER]: request, [PROTOCOL_HEADER]: String(version) },
      });
    await expect(ask(LATER)).rejects.toThrow(UNSUPPORTED);
    expect((await ask(SPOKEN)).status).toBe(200);
  });

  it("calls with and without arguments between real objects: arrive as they left", async () => {
    const cluster = freshCluster();
    expect(await clusterRecord(bindings, cluster).look()).toMatchObject({ phase: "absent" });
    expect(await bearerTokens(bindings).verifyTokens([])).toEqual([]);
    await controller(bindings, cluster, "namespaces").poke(undefined, true);
    expect(await storeStub(bindings, cluster, leasesDefinition).write(createRequest(aLease("a")))).toMatchObject({ ok: true });
  });
});

describe("what an object does not know", () => {
  it("a verb: unsupported, alone and among others, of which none is carried out", async () => {
    const cluster = freshCluster();
    const graft = { ...createRequest(aLease("a")), verb: "graft" } as unknown as WriteRequest;
    await expect(answerOf(storeStubOf(cluster, LEASES).write(graft))).rejects.toThrow(`${UNSUPPORTED}: write with the verb graft`);
    await expect(answerOf(storeStubOf(cluster, LEASES).writeAll([createRequest(aLease("b")), graft]))).rejects.toThrow(UNSUPPORTED);
    expect(await storedIn(storeStubOf(cluster, LEASES), "default", "b")).toBeUndefined();
    const headers = { [COLLECTION_HEADER]: encodeCollection({ ...collectionRequest(leasesDefinition, {}), verb: "graft" as "list" }) };
    await expect(storeStubOf(cluster, LEASES).fetch("http://store/collection", { headers })).rejects.toThrow(
      `${UNSUPPORTED}: fetch with the verb graft`,
    );
  });
});

/** Answers of the Worker to a client while objects of the cluster are as `change` makes them. */
async function asked(
  cluster: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ code: number; retryAfter: string | null; message: string }> {
  const init = body ? { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : { method };
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined } as unknown as ExecutionContext;
  const request = new Request(`http://servicenet/clusters/${cluster}${path}`, init) as Request<unknown, IncomingRequestCfProperties>;
  const response = await product.default.fetch(request, bindings, context);
  const { message = "" } = await response.json<{ message?: string }>();
  return { code: response.status, retryAfter: response.headers.get("Retry-After"), message };
}

describe("rows that a newer release wrote", () => {
  const PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

  it("an object whose rows this release cannot read: reads and writes are 503 with Retry-After and say why; other objects go on", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const cluster = freshCluster();
    const name = "aaaa";
    expect((await asked(cluster, "POST", PATH, { metadata: { name } })).code).toBe(201);
    const store = () => storeStubOf(cluster, LEASES);
    await runInDurableObject(store(), (_, { storage }) => {
      storage.sql.exec("INSERT INTO _migrations (id, applied_ms) VALUES (99, 1)");
      storage.sql.exec("CREATE TABLE _readable (from_step INTEGER PRIMARY KEY) STRICT");
      storage.sql.exec("INSERT INTO _readable (from_step) VALUES (98)");
    });
    await abortAllDurableObjects();
    const why =
      "a newer release has written this object: it is of schema 99, which is readable from schema 98 on, and this release knows 3";
    const refused = { code: 503, retryAfter: "1", message: `the server is currently unable to handle the request: ${why}` };
    expect(await asked(cluster, "GET", `${PATH}/${name}`)).toEqual(refused);
    expect(await asked(cluster, "GET", PATH)).toEqual(refused);
    expect(await asked(cluster, "POST", PATH, { metadata: { name: "bbbb" } })).toEqual(refused);
    expect((await asked(cluster, "GET", "/api/v1/namespaces/default/configmaps")).code).toBe(200);
  });

  it("what adds only: is read and written on", async () => {
    const cluster = freshCluster();
    await createIn(storeStubOf(cluster, LEASES), aLease("a"));
    await runInDurableObject(storeStubOf(cluster, LEASES), (_, { storage }) =>
      storage.sql.exec("INSERT INTO _migrations (id, applied_ms) VALUES (99, 1)"),
    );
    await abortAllDurableObjects();
    expect(await createIn(storeStubOf(cluster, LEASES), aLease("b"))).toMatchObject({ ok: true });
  });
});
