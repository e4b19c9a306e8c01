import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { alreadyExists, notFound, serviceUnavailable } from "../../../src/api/meta/status";
import { clustersDefinition } from "../../../src/api/registry/clusters/definition";
import type { WriteResult } from "../../../src/api/rpc/store";
import { err, ok } from "../../../src/core/base/result";
import {
  type ClusterWish,
  declareCluster,
  declareControllers,
  type DeclaringPorts,
  undeclareCluster,
} from "../../../src/fleet/declared-clusters";

/** A store with this object at each read, the last one for ever; undefined = there is none. */
function storeOf(
  reads: readonly (KubeObject | undefined)[],
  answer: Partial<Extract<WriteResult, { ok: true }>> | "exists" | "absent" = {},
) {
  const calls: string[] = [];
  let read = 0;
  const result = (): WriteResult => {
    const refused = { exists: alreadyExists(clustersDefinition, "a"), absent: notFound(clustersDefinition, "a") };
    if (typeof answer === "string") return { ok: false, status: refused[answer], warnings: [] };
    return { ok: true, code: 200, object: "{}", warnings: [], gone: false, ...answer };
  };
  const ports: DeclaringPorts = {
    get() {
      const object = reads[Math.min(read++, reads.length - 1)];
      calls.push("get");
      return Promise.resolve(
        ok(object ? { ok: true, object: JSON.stringify(object) } : { ok: false, status: notFound(clustersDefinition, "a") }),
      );
    },
    write(request) {
      calls.push(`${request.verb} ${"object" in request ? request.object : "patch" in request ? request.patch : ""}`.trim());
      return Promise.resolve(ok(result()));
    },
    hurry: () => Promise.resolve(void calls.push("hurry")),
    wait: () => Promise.resolve(void calls.push("pause")),
  };
  return { ports, calls };
}

const there = { metadata: { name: "a" } };
const ending = { metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } };

describe("declareCluster", () => {
  it.each([
    [
      "none: made, with what is wished",
      [undefined],
      {},
      "made",
      ["get", "wish", 'create {"metadata":{"name":"a"},"spec":{"location":"weur"}}'],
    ],
    ["one: nothing is written", [there], {}, "found", ["get"]],
    [
      "one that ends just now: the controller looks, and another one is made",
      [ending, undefined],
      {},
      "made",
      ["get", "hurry", "get", "wish", "create"],
    ],
    ["one that is being deleted: no", [ending], {}, "ending", ["get", "hurry", "get", "pause", "hurry", "get"]],
    ["one that somebody makes meanwhile: that one", [undefined, there], "exists", "found", ["get", "wish", "create", "get"]],
  ] as const)("%s", async (_, reads, answer, wanted, calls) => {
    const store = storeOf(reads, answer);
    const wish = () => Promise.resolve(ok<ClusterWish>({ location: "weur" })).finally(() => store.calls.push("wish"));
    expect(await declareCluster(store.ports, "a", wish)).toMatchObject({ ok: true, value: { how: wanted } });
    expect(store.calls.map((call, i) => (calls[i] === "create" ? call.slice(0, 6) : call))).toEqual([...calls]);
  });

  it.each([
    [{}, {}],
    [
      { location: "weur", serviceCIDRs: ["10.1.0.0/16"], quotas: { pods: "5" } },
      { location: "weur", serviceRanges: ["10.1.0.0/16"], quotas: { pods: "5" } },
    ],
    [{ location: "", serviceCIDRs: [], controllers: ["*"] }, {}],
  ])("an object of the spec %j: says what its cluster begins with", async (spec, wish) => {
    const { ports } = storeOf([{ metadata: { name: "a", uid: "u", generation: 3 }, spec } as KubeObject]);
    expect(await declareCluster(ports, "a", () => Promise.resolve(ok({})))).toEqual(
      ok({ how: "found", wish, source: { uid: "u", generation: 3 } }),
    );
  });

  it("ranges that are wished: stand in the object", async () => {
    const { ports, calls } = storeOf([undefined]);
    await declareCluster(ports, "a", () => Promise.resolve(ok({ serviceRanges: ["10.1.0.0/16"] })));
    expect(calls).toEqual(["get", 'create {"metadata":{"name":"a"},"spec":{"serviceCIDRs":["10.1.0.0/16"]}}']);
  });

  it("a cluster without an object, which is being deleted: gets none", async () => {
    const { ports, calls } = storeOf([undefined]);
    expect(await declareCluster(ports, "a", () => Promise.resolve(ok(undefined)))).toEqual(ok({ how: "ending" }));
    expect(calls).toEqual(["get"]);
  });

  it("a cluster that is there without an object: gets one with what it has, its quotas, too", async () => {
    const { ports, calls } = storeOf([undefined]);
    await declareCluster(ports, "a", () => Promise.resolve(ok({ serviceRanges: ["10.1.0.0/16"], quotas: { pods: "5" } })));
    expect(calls.at(-1)).toBe('create {"metadata":{"name":"a"},"spec":{"serviceCIDRs":["10.1.0.0/16"],"quotas":{"pods":"5"}}}');
  });

  it("a store, or a record, that does not answer: its Status", async () => {
    const { ports, calls } = storeOf([undefined]);
    const silent = err(serviceUnavailable("silent", 1));
    const wish = () => Promise.resolve(ok({}));
    expect(await declareCluster({ ...ports, get: () => Promise.resolve(silent) }, "a", wish)).toEqual(silent);
    expect(await declareCluster(ports, "a", () => Promise.resolve(silent))).toEqual(silent);
    expect(calls).toEqual(["get"]);
  });
});

it("a list of controllers, and null: a patch; the end: a delete; where there is no object: nothing is wrong", async () => {
  const { ports, calls } = storeOf([there]);
  expect(await declareControllers(ports, "a", ["*"])).toEqual(ok({}));
  expect(await declareControllers(ports, "a", null)).toEqual(ok({}));
  expect(await undeclareCluster(ports, "a")).toEqual(ok({}));
  expect(calls).toEqual(['patch {"spec":{"controllers":["*"]}}', 'patch {"spec":{"controllers":null}}', "get", "delete"]);
  const stored = storeOf([there], { object: '{"metadata":{"uid":"u","generation":4}}' });
  expect(await declareControllers(stored.ports, "a", ["*"]), "the generation that says so").toEqual(ok({ uid: "u", generation: 4 }));
  const absent = storeOf([undefined], "absent");
  expect([await declareControllers(absent.ports, "a", null), await undeclareCluster(absent.ports, "a")]).toEqual([
    ok(undefined),
    ok(undefined),
  ]);
});

it("the end of an object: names its uid, so that a late call deletes no later object of the name", async () => {
  const deletions: unknown[] = [];
  const { ports } = storeOf([{ metadata: { name: "a", uid: "u-1" } }]);
  const write: DeclaringPorts["write"] = (request) => {
    if (request.verb === "delete") deletions.push(request.options.preconditions);
    return ports.write(request);
  };
  await undeclareCluster({ ...ports, write }, "a");
  expect(deletions).toEqual([{ uid: "u-1" }]);
});
