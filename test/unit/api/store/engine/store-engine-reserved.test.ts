import { describe, expect, it } from "vitest";
import { STORE_OPERATIONS_MAX, STORE_QUEUE_MAX } from "../../../../../src/api/store/state/limits";
import { OPERATION_DEADLINE_MS } from "../../../../../src/core/base/limits";
import { invalid, type Status } from "../../../../../src/api/meta/status";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import type { WriteResult } from "../../../../../src/api/rpc/store";
import type { Operation, StoreExtension } from "../../../../../src/api/store/state/extension";
import { aLease, createRequest, StoreWorld } from "../../../../support/worlds/store-world";

interface Call {
  name: string;
  operation: Operation<string>;
  end(refusal?: Status): void;
}

/** An extension as the services store's: a lease with a holder needs a supply from a peer that the test answers for. */
class Supplying implements StoreExtension<string> {
  readonly calls: Call[] = [];
  readonly log: string[] = [];

  readonly admit: StoreExtension<string>["admit"] = ({ after, dryRun }, operation) => {
    const lease = after as ReturnType<typeof aLease> | undefined;
    if (!lease?.spec?.holderIdentity || dryRun || operation.supply) return { kind: "go" };
    const name = lease.metadata?.name ?? "";
    const supply = () =>
      new Promise<Status | undefined>((resolve) => {
        const end = (refusal?: Status): void => {
          operation.supply = `supply of ${name}`;
          resolve(refusal);
        };
        this.calls.push({ name, operation, end });
      });
    return { kind: "wait", supply };
  };

  readonly committed: StoreExtension<string>["committed"] = (change, operation) => {
    this.log.push(`${change.type} ${change.key} with ${operation?.supply ?? "nothing"}`);
  };

  readonly abandon: StoreExtension<string>["abandon"] = (operation) => {
    this.log.push(`abandon ${operation.supply ?? "nothing"}`);
  };
}

function setting() {
  const extension = new Supplying();
  const world = new StoreWorld<string>({ extension });
  const start = (request: Parameters<typeof world.store.write>[0]) => {
    const state: { result?: WriteResult } = {};
    void world.store.write(request).then((result) => (state.result = result));
    return state;
  };
  const needy = (name: string) => aLease(name, { holderIdentity: "needs a supply" });
  return { extension, world, start, needy, turn: () => world.scheduler.pass(0) };
}

const code = (state: { result?: WriteResult }) => state.result && (state.result.ok ? state.result.code : state.result.status.code);
const refusal = (): Status => invalid(leasesDefinition, "a", []);

describe("a create that waits for its supply", () => {
  it("holds its name: a second create waits, and is refused when the first succeeds", async () => {
    const { extension, start, needy, turn } = setting();
    const first = start(createRequest(needy("a")));
    await turn();
    const second = start(createRequest(needy("a")));
    await turn();
    expect([extension.calls.length, first.result, second.result]).toEqual([1, undefined, undefined]);
    extension.calls[0]?.end();
    await turn();
    expect([code(first), code(second)]).toEqual([201, 409]);
    expect(extension.log).toEqual(["ADDED ns/a with supply of a"]);
  });

  it("its supply fails: a second create of the name succeeds, and the supply of the first goes back", async () => {
    const { extension, start, needy, turn } = setting();
    const first = start(createRequest(needy("a")));
    await turn();
    const second = start(createRequest(needy("a")));
    await turn();
    extension.calls[0]?.end(refusal());
    await turn();
    expect([code(first), second.result, extension.calls.length]).toEqual([422, undefined, 2]);
    extension.calls[1]?.end();
    await turn();
    expect(code(second)).toBe(201);
    expect(extension.log).toEqual(["abandon supply of a", "ADDED ns/a with supply of a"]);
  });

  it("a second create without a supply: waits, overwrites nothing", async () => {
    const { extension, world, start, needy, turn } = setting();
    const first = start(createRequest(needy("a")));
    await turn();
    const second = start(createRequest(aLease("a")));
    await turn();
    expect(second.result).toBeUndefined();
    extension.calls[0]?.end();
    await turn();
    expect([code(first), code(second)]).toEqual([201, 409]);
    expect(world.history()).toEqual(["ADDED ns/a"]);
    expect(world.stored("a")?.spec?.holderIdentity).toBe("needs a supply");
  });

  it("a PUT of the name: waits, then updates", async () => {
    const { extension, world, start, needy, turn } = setting();
    const first = start(createRequest(needy("a")));
    await turn();
    const object = JSON.stringify(aLease("a", { leaseDurationSeconds: 3 }));
    const options = { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false, group: "", version: "v1" } as const;
    const second = start({ verb: "update", key: { namespace: "ns", name: "a" }, subresource: "", object, options });
    await turn();
    expect(second.result).toBeUndefined();
    extension.calls[0]?.end();
    await turn();
    // Updates of leases need a resourceVersion, which this client cannot know.
    expect([code(first), code(second)]).toEqual([201, 422]);
    expect(world.history()).toEqual(["ADDED ns/a"]);
  });

  it("many waiters: served one after the other", async () => {
    const { extension, start, needy, turn } = setting();
    const states = [1, 2, 3, 4].map(() => start(createRequest(needy("a"))));
    await turn();
    extension.calls[0]?.end(refusal());
    await turn();
    extension.calls[1]?.end(refusal());
    await turn();
    extension.calls[2]?.end();
    await turn();
    expect(states.map(code).sort()).toEqual([201, 409, 422, 422]);
    expect(extension.calls).toHaveLength(3);
  });

  it("creates of other names: do not wait; a generated name: not the held one", async () => {
    // Two worlds of one seed draw the same names, as long as they do the same.
    const generated = { metadata: { generateName: "web-", namespace: "ns" } };
    const nameIn = (result: WriteResult) =>
      result.ok ? (JSON.parse(result.object) as ReturnType<typeof aLease>).metadata?.name : undefined;
    const twin = new StoreWorld({ seed: 9 });
    await twin.create(aLease("other"));
    const name = nameIn(await twin.create(generated)) ?? "";
    const world = new StoreWorld<string>({ seed: 9, extension: new Supplying() });
    void world.store.write(createRequest(aLease(name, { holderIdentity: "needs a supply" })));
    await world.scheduler.pass(0);
    const drawn = nameIn(await world.create(generated));
    expect(drawn).toMatch(/^web-.{5}$/);
    expect(drawn).not.toBe(name);
  });

  it("a lost turn: the name is free again", async () => {
    const { extension, world, start, needy, turn } = setting();
    const lost = world.store.write(createRequest(needy("a"))).catch((error: unknown) => String(error));
    await turn();
    const second = start(createRequest(aLease("a")));
    await turn();
    world.storage.crashNext = "beforeCommit";
    extension.calls[0]?.end();
    await turn();
    expect(await lost).toMatch("beforeCommit");
    expect(code(second)).toBe(201);
  });
});

describe("an operation whose supply has come", () => {
  it("an update whose object changed meanwhile: 409, and the supply goes back", async () => {
    const { extension, world, start, turn } = setting();
    await world.create(aLease("a"));
    const stored = world.stored("a");
    const slow = start({
      verb: "update",
      key: { namespace: "ns", name: "a" },
      subresource: "",
      object: JSON.stringify({ ...stored, spec: { holderIdentity: "x" } }),
      options: { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false, group: "", version: "v1" },
    });
    await turn();
    expect((await world.patch("a", "merge", { metadata: { labels: { a: "b" } } })).ok).toBe(true);
    extension.calls[0]?.end();
    await turn();
    expect(code(slow)).toBe(409);
    expect(extension.log.at(-1)).toBe("abandon supply of a");
  });

  it("a patch whose object changed meanwhile: applied to the newest object", async () => {
    const { extension, world, start, turn } = setting();
    await world.create(aLease("a"));
    const slow = start({
      verb: "patch",
      key: { namespace: "ns", name: "a" },
      subresource: "",
      patchType: "merge",
      patch: '{"spec":{"holderIdentity":"x"}}',
      options: { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false, group: "coordination.k8s.io", version: "v1" },
    });
    await turn();
    await world.patch("a", "merge", { metadata: { labels: { a: "b" } } });
    extension.calls[0]?.end();
    await turn();
    expect(code(slow)).toBe(200);
    expect(world.stored("a")).toMatchObject({ metadata: { labels: { a: "b" } }, spec: { holderIdentity: "x" } });
  });

  it("an update of an object that was deleted, or deleted and made again: does not bring it back", async () => {
    for (const again of [false, true]) {
      const { extension, world, start, turn } = setting();
      await world.create(aLease("a"));
      const slow = start({
        verb: "patch",
        key: { namespace: "ns", name: "a" },
        subresource: "",
        patchType: "merge",
        patch: JSON.stringify({ metadata: { uid: world.stored("a")?.metadata?.uid }, spec: { holderIdentity: "x" } }),
        options: { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false, group: "coordination.k8s.io", version: "v1" },
      });
      await turn();
      await world.delete("a");
      if (again) await world.create(aLease("a"));
      extension.calls[0]?.end();
      await turn();
      expect(code(slow)).toBe(again ? 422 : 404);
      expect(world.stored("a")?.spec).toEqual(again ? {} : undefined);
      expect(extension.log.at(-1)).toBe("abandon supply of a");
    }
  });

  it("past the deadline: nothing is committed, and the supply goes back", async () => {
    const { extension, world, start, needy, turn } = setting();
    const late = start(createRequest(needy("a")));
    const intime = start(createRequest(needy("b")));
    await turn();
    await world.scheduler.pass(OPERATION_DEADLINE_MS);
    extension.calls[1]?.end();
    await turn();
    await world.scheduler.pass(1);
    extension.calls[0]?.end();
    await turn();
    expect([code(intime), code(late)]).toEqual([201, 504]);
    expect(extension.log).toEqual(["ADDED ns/b with supply of b", "abandon supply of a"]);
    expect(world.stored("a")).toBeUndefined();
  });

  it("past the deadline, an operation that waited without a supply: commits nothing (rule 7)", async () => {
    const { extension, world, start, needy, turn } = setting();
    start(createRequest(needy("a")));
    await turn();
    const second = start(createRequest(aLease("a")));
    await world.scheduler.pass(OPERATION_DEADLINE_MS + 1);
    extension.calls[0]?.end(refusal());
    await turn();
    expect(code(second)).toBe(504);
    expect(world.history()).toEqual([]);
  });

  it("slow peers: a bounded number of writes waits, the others get 429 (rule 19)", async () => {
    const { extension, start, needy, turn } = setting();
    const states: { result?: WriteResult }[] = [];
    for (let i = 0; i < STORE_OPERATIONS_MAX + 2; i++) {
      states.push(start(createRequest(needy(`a${i}`))));
      if (i % 1_000 === 0) await turn();
    }
    await turn();
    expect(extension.calls).toHaveLength(STORE_OPERATIONS_MAX);
    expect(states.map(code).filter((each) => each === 429)).toHaveLength(2);
    extension.calls[0]?.end();
    await turn();
    const next = start(createRequest(aLease("next")));
    await turn();
    expect(code(next)).toBe(201);
  });

  it("an object that its supply makes too large: 413, and the supply goes back", async () => {
    const { extension, start, turn } = setting();
    const large = start(createRequest(aLease("a", { holderIdentity: "x".repeat(2_000_000) })));
    await turn();
    extension.calls[0]?.end();
    await turn();
    expect(code(large)).toBe(413);
    expect(extension.log).toEqual(["abandon supply of a"]);
  });

  it("a full queue: a supplied operation gets its turn all the same", async () => {
    const { extension, world, start, needy, turn } = setting();
    const supplied = start(createRequest(needy("a")));
    await turn();
    const crowd = Array.from({ length: STORE_QUEUE_MAX + 1 }, (_, i) => start(createRequest(aLease(`a${i}`), { dryRun: true })));
    extension.calls[0]?.end();
    await turn();
    expect(code(supplied)).toBe(201);
    expect(crowd.map(code).filter((each) => each === 429)).toHaveLength(1);
    expect(world.stored("a")).toBeDefined();
  });

  it("an operation whose commit throws: the supply goes back", async () => {
    const { extension, world, start, needy, turn } = setting();
    const failing = start(createRequest(needy("a")));
    await turn();
    const put = world.storage.objectPut.bind(world.storage);
    world.storage.objectPut = () => {
      world.storage.objectPut = put;
      throw new Error("a fault of storage");
    };
    extension.calls[0]?.end();
    await turn();
    expect(code(failing)).toBe(500);
    expect(extension.log).toEqual(["abandon supply of a"]);
  });
});

describe("the answer to an operation", () => {
  it("work that the extension has to settle: done before the answer, and the operation ends once", async () => {
    const log: string[] = [];
    let settle: () => void = () => undefined;
    const world = new StoreWorld({
      extension: {
        settled: () => new Promise<void>((resolve) => (settle = resolve)),
        ended: () => void log.push("ended"),
      },
    });
    void world.store.write(createRequest(aLease("a"))).then(() => log.push("answered"));
    await world.scheduler.pass(0);
    expect([log, world.history()]).toEqual([[], ["ADDED ns/a"]]);
    settle();
    await world.scheduler.pass(0);
    expect(log).toEqual(["ended", "answered"]);
  });
});
