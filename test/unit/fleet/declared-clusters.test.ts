import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { alreadyExists, notFound, serviceUnavailable, type Status } from "../../../src/api/meta/status";
import { ADOPTED_ANNOTATION, type Cluster } from "../../../src/api/registry/clusters/cluster";
import { clustersDefinition } from "../../../src/api/registry/clusters/definition";
import type { WriteResult } from "../../../src/api/rpc/store";
import { err, ok, type Result } from "../../../src/core/base/result";
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
const pooled = { metadata: { name: "a" }, spec: { pool: { name: "fleet" } }, status: { phase: "Pending" } };
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
      "one that waits for the range of a pool: its controller alone begins it",
      [pooled],
      {},
      "waits",
      ["get", "pause", "get", "pause", "get"],
    ],
    ["one that has got its range meanwhile", [pooled, { ...pooled, status: { phase: "Active" } }], {}, "found", ["get", "pause", "get"]],
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

const isMeant = (): Promise<Result<boolean, Status>> => Promise.resolve(ok(true));

it("a list of controllers, and null: a patch; the end: a delete; where there is no object: nothing is wrong", async () => {
  const { ports, calls } = storeOf([there]);
  expect(await declareControllers(ports, "a", ["*"], {})).toEqual(ok({ how: "said", source: {} }));
  expect(await declareControllers(ports, "a", null, {})).toEqual(ok({ how: "said", source: {} }));
  expect(await undeclareCluster(ports, "a", isMeant)).toEqual(ok({}));
  expect(calls).toEqual(["get", 'patch {"spec":{"controllers":["*"]}}', "get", 'patch {"spec":{"controllers":null}}', "get", "delete"]);
  const absent = storeOf([undefined], "absent");
  const none = [await declareControllers(absent.ports, "a", null, {}), await declareControllers(absent.ports, "a", null, { uid: "u" })];
  expect([none, await undeclareCluster(absent.ports, "a", isMeant)]).toEqual([[ok({ how: "none" }), ok({ how: "none" })], ok(undefined)]);
});

describe("a list of controllers", () => {
  const one = (uid: string, more: Partial<Cluster> = {}): KubeObject => ({ metadata: { name: "a", uid }, ...more }) as KubeObject;
  const PATCH = 'patch {"metadata":{"uid":"u"},"spec":{"controllers":["*"]}}';
  const said = ok({ how: "said", source: { uid: "u", generation: 4, createdAt: 7_000 } });
  const OBJECT = '{"metadata":{"uid":"u","generation":4,"creationTimestamp":"1970-01-01T00:00:07Z"}}';

  it("for an object that the caller knows: one call, which names the object, and answers the generation that says so", async () => {
    const { ports, calls } = storeOf([one("other")], { object: OBJECT });
    expect(await declareControllers(ports, "a", ["*"], { uid: "u", life: "a" })).toEqual(said);
    expect(calls).toEqual([PATCH]);
  });

  it.each([
    ["says no life yet", one("u"), said],
    ["stands for that life", one("u", { status: { phase: "Active", id: "a" } }), said],
    ["stands for another one", one("u", { status: { phase: "Active", id: "a~2" } }), ok({ how: "other" })],
    [
      "was made for another one",
      { metadata: { name: "a", uid: "u", annotations: { [ADOPTED_ANNOTATION]: "a~2" } } } as KubeObject,
      ok({ how: "other" }),
    ],
  ])("for a life, while the object %s", async (_, object, wanted) => {
    const { ports, calls } = storeOf([object], { object: OBJECT });
    expect(await declareControllers(ports, "a", ["*"], { life: "a" })).toEqual(wanted);
    expect(calls).toEqual(wanted === said ? ["get", PATCH] : ["get"]);
  });

  it("that the store refuses: because of a later object, or the Status", async () => {
    const later = storeOf([one("later")], "exists");
    expect(await declareControllers(later.ports, "a", ["*"], { uid: "u", life: "a" })).toEqual(ok({ how: "other" }));
    const same = storeOf([one("u")], "exists");
    expect(await declareControllers(same.ports, "a", ["*"], { uid: "u", life: "a" })).toMatchObject({ ok: false, error: { code: 409 } });
  });
});

it("the end of an object: asks whether its life is meant; where it is not, or nobody knows, the object stays", async () => {
  const asked: (string | undefined)[] = [];
  const silent = err(serviceUnavailable("silent", 1));
  for (const answer of [ok(false), silent]) {
    const { ports, calls } = storeOf([{ metadata: { name: "a" }, status: { phase: "Active", id: "a~2" } } as KubeObject]);
    const judged = await undeclareCluster(ports, "a", (life) => (asked.push(life), Promise.resolve(answer)));
    expect([judged, calls]).toEqual([answer.ok ? ok(undefined) : silent, ["get"]]);
  }
  expect(asked).toEqual(["a~2", "a~2"]);
});

it("the end of an object: names its uid, so that a late call deletes no later object of the name", async () => {
  const deletions: unknown[] = [];
  const { ports } = storeOf([{ metadata: { name: "a", uid: "u-1" } }]);
  const write: DeclaringPorts["write"] = (request) => {
    if (request.verb === "delete") deletions.push(request.options.preconditions);
    return ports.write(request);
  };
  await undeclareCluster({ ...ports, write }, "a", isMeant);
  expect(deletions).toEqual([{ uid: "u-1" }]);
});
