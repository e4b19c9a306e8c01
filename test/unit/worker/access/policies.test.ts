import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { systemClock, systemDigest } from "../../../../durable-objects/platform/ports";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { PolicyHost } from "../../../../src/access/rbac/policy-host";
import { resourceOfKind } from "../../../../src/access/rbac/rbac-resources";
import type { ObjectFeed } from "../../../../src/api/rpc/object-feed";
import type { StoreCursor } from "../../../../src/api/rpc/object-links";
import type { BatchedStore, ObjectKey, WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import { noteRulesChanged, policyOf, roomForRules, WRITTEN_LENGTH_MAX } from "../../../../src/worker/access/policies";

const SECOND_MS = 1_000;
const READER = { metadata: { name: "reader" }, rules: [{ verbs: ["list"], apiGroups: [""], resources: ["services"] }] };
const BINDING = {
  metadata: { name: "b" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  subjects: [{ kind: "User", name: "bob" }],
};
const TOO_LONG = "x".repeat(9 * 1024 * 1024);
const LIST = resourceAttributes({ verb: "list", resource: "services", namespace: "a" });

let clusters = 0;

/** One cluster whose only role may be bound to bob by another isolate. */
class World {
  readonly cluster = `policies-${String(++clusters)}`;
  readonly history: { deleted: boolean; object: string }[] = [];
  /** calls of the isolate */
  reads = 0;
  isDown = false;
  /** each page comes late, and another one stands behind it */
  isEndless = false;
  beside: Promise<unknown>[] = [];

  readonly env = {
    RESOURCE_STORE: { idFromName: (name: string) => name, get: (name: string) => this.#counted(name) },
  } as unknown as Env;
  #defaults: string | undefined;
  readonly #host = new PolicyHost({
    clock: systemClock,
    digest: systemDigest,
    recorder: { log: () => undefined },
    defaults: { load: () => this.#defaults, save: (version) => void (this.#defaults = version) },
    stored: { load: () => undefined, save: () => undefined, remove: () => undefined },
    store: (kind) => this.#stub(`/${resourceOfKind(kind).resource}.`) as unknown as ObjectFeed & BatchedStore,
  });

  /** @param isOlder its stores are of the release before */
  constructor(public isOlder: boolean) {}

  bind(isBound: boolean): void {
    this.history.push({ deleted: !isBound, object: JSON.stringify(BINDING) });
  }

  /** Makes the rules longer by a binding with this text; "" takes it away. */
  fill(text: string): void {
    this.history.push({
      deleted: text === "",
      object: JSON.stringify({ ...BINDING, metadata: { name: "filler", annotations: { text } } }),
    });
  }

  /** "yes" or "no", or the code of the refusal. */
  async may(): Promise<string> {
    const policy = await policyOf(this.env, this.cluster, (work) => this.beside.push(work));
    if (!policy.ok) return String(policy.error.code);
    return authorizeByRbac(policy.value, { name: "bob", uid: "", groups: [], extra: {} }, LIST).decision === "allow" ? "yes" : "no";
  }

  async settle(): Promise<void> {
    await Promise.all(this.beside.splice(0));
  }

  /** A store as the isolate calls it. */
  #counted(store: string) {
    const stub = this.#stub(store);
    const counted = <A extends unknown[], T>(method: (...args: A) => Promise<T>) => {
      return (...args: A): Promise<T> => {
        this.reads++;
        return method(...args);
      };
    };
    const missing = (method: string): Promise<never> =>
      Promise.reject(new Error(`The RPC receiver does not implement the method "${method}".`));
    const policySince = (version: string): Promise<unknown> => {
      if (this.isOlder) return missing("policySince");
      this.reads++;
      return this.isEndless ? new Promise(() => undefined) : this.#host.policySince(version);
    };
    return {
      policySince,
      ensureDefaults: () => missing("ensureDefaults"),
      objectsAfter: counted(stub.objectsAfter),
      objectsSince: counted(stub.objectsSince),
      objectsNamed: counted(stub.objectsNamed),
      writeAll: stub.writeAll,
    };
  }

  #stub(store: string) {
    const answer = <T>(value: T): Promise<T> => {
      if (this.isEndless) return new Promise((resolve) => setTimeout(() => resolve(value), 3 * SECOND_MS));
      return this.isDown ? Promise.reject(new Error("Network connection lost.")) : Promise.resolve(value);
    };
    const isRoles = store.includes("/clusterroles.");
    const changes = () => (store.includes("/clusterrolebindings.") ? this.history : []);
    const present = () => {
      const last = new Map(changes().map((change) => [(JSON.parse(change.object) as typeof BINDING).metadata.name, change]));
      return [...last.values()].flatMap(({ deleted, object }) => (deleted ? [] : [object]));
    };
    return {
      objectsAfter: () =>
        answer({
          objects: isRoles ? [JSON.stringify(READER)] : present(),
          cursor: { incarnation: "1", revision: changes().length },
          next: this.isEndless ? "a" : "",
        }),
      objectsSince: (cursor: StoreCursor | undefined) =>
        answer({
          kind: "changes" as const,
          changes: changes().slice(cursor?.revision ?? 0),
          cursor: { incarnation: "1", revision: changes().length },
          more: false,
        }),
      objectsNamed: (keys: ObjectKey[]) => answer(keys.map(() => null)),
      // The default roles matter to no test here.
      writeAll: (requests: WriteRequest[]) =>
        Promise.resolve(requests.map((): WriteResult => ({ ok: true, code: 201, object: "{}", warnings: [], gone: false }))),
    };
  }
}

let world: World;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe.each([
  ["this release", false],
  ["the release before", true],
])("the rules that an isolate remembers, with stores of %s", (_release, isOlder) => {
  beforeEach(() => {
    world = new World(isOlder);
  });

  it("a first request: reads them; those of the next two seconds ask no store", async () => {
    expect(await world.may()).toBe("no");
    const { reads } = world;
    for (let i = 0; i < 3; i++) {
      pass(600);
      await world.may();
    }
    expect(world.reads).toBe(reads);
  });

  it("rules younger than five seconds: decide while the next ones are fetched; older ones wait", async () => {
    await world.may();
    await world.settle();
    world.bind(true);
    pass(5 * SECOND_MS - 1);
    const { reads } = world;
    expect(await world.may()).toBe("no");
    await world.settle();
    expect(world.reads - reads).toBe(isOlder ? 4 : 1);
    expect(await world.may()).toBe("yes");
    world.bind(false);
    pass(5 * SECOND_MS);
    expect(await world.may()).toBe("no");
  });

  it("another version of the stores' release in between: nothing is lost or kept too long", async () => {
    await world.may();
    for (const [isBound, wanted] of [
      [true, "yes"],
      [false, "no"],
      [true, "yes"],
    ] as const) {
      world.isOlder = !world.isOlder;
      world.bind(isBound);
      noteRulesChanged(world.cluster);
      expect(await world.may()).toBe(wanted);
    }
  });

  it.each([
    [100, "requests that come all the time"],
    [900, "a request each second"],
    [4_900, "a request after a pause"],
    [60 * SECOND_MS, "a request after a long pause"],
  ])("a change by another isolate (a request each %i ms, %s): counts within five seconds", async (everyMs) => {
    await world.may();
    for (const isBound of [true, false]) {
      world.bind(isBound);
      const changedMs = Date.now();
      const wanted = isBound ? "yes" : "no";
      for (;;) {
        pass(everyMs);
        const found = await world.may();
        await world.settle();
        if (found === wanted) break;
        expect(Date.now() - changedMs).toBeLessThan(5 * SECOND_MS);
      }
    }
  });

  it("a change by this isolate: counts in its next request", async () => {
    await world.may();
    world.bind(true);
    noteRulesChanged(world.cluster);
    expect(await world.may()).toBe("yes");
  });

  it("a change by this isolate while a renewal is under way: counts in its next request", async () => {
    await world.may();
    pass(3 * SECOND_MS);
    await world.may();
    world.bind(true);
    noteRulesChanged(world.cluster);
    expect(await world.may()).toBe("yes");
  });

  it("stores that do not answer: the last copy decides for a minute, then 503, and all is well when they do", async () => {
    world.bind(true);
    expect(await world.may()).toBe("yes");
    const readMs = Date.now();
    world.isDown = true;
    const answers = new Map<string, number>();
    for (let i = 0; i < 35; i++) {
      pass(2 * SECOND_MS);
      const found = await world.may();
      await world.settle();
      answers.set(found, Date.now() - readMs);
    }
    expect([...answers]).toEqual([
      ["yes", 58 * SECOND_MS],
      ["503", 70 * SECOND_MS],
    ]);
    world.isDown = false;
    world.bind(false);
    expect(await world.may()).toBe("no");
  });

  it("stores that have never answered: 503", async () => {
    world.isDown = true;
    expect(await world.may()).toBe("503");
    world.isDown = false;
    expect(await world.may()).toBe("no");
  });

  it("a renewal that does not end: given up after 20 seconds, and the next request begins another", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    world.isEndless = true;
    const answer = world.may();
    await vi.advanceTimersByTimeAsync(20 * SECOND_MS);
    expect(await answer).toBe("503");
    world.isEndless = false;
    expect(await world.may()).toBe("no");
  });

  it("more clusters than an isolate keeps: those that were asked least recently are read again", async () => {
    const others = Array.from({ length: 50 }, () => new World(isOlder));
    for (const each of [world, ...others]) await each.may();
    const [first, last] = [world.reads, others.at(-1)?.reads];
    await others.at(-1)?.may();
    expect(others.at(-1)?.reads).toBe(last);
    await world.may();
    expect(world.reads).toBeGreaterThan(first);
  });

  it("a clock that was set back: the rules are read again", async () => {
    await world.may();
    world.bind(true);
    pass(-3_600 * SECOND_MS);
    expect(await world.may()).toBe("yes");
  });

  it("rules that are too large: 503 without a call each time, and all is well once they fit", async () => {
    world.bind(true);
    world.fill(TOO_LONG);
    expect(await world.may()).toBe("503");
    const { reads } = world;
    expect(await world.may()).toBe("503");
    expect(world.reads).toBe(reads);
    world.fill("");
    noteRulesChanged(world.cluster);
    expect(await world.may()).toBe("yes");
  });

  it("a cluster whose rules are too large: the rules of other clusters stay known", async () => {
    const others = [new World(isOlder), new World(isOlder)];
    for (const other of others) await other.may();
    const reads = others.map((other) => other.reads);
    world.fill(TOO_LONG);
    world.fill(TOO_LONG.repeat(2));
    expect(await world.may()).toBe("503");
    for (const other of others) await other.may();
    expect(others.map((other) => other.reads)).toEqual(reads);
  });

  it("writes that make the rules longer: have the room that is left, those under way together", async () => {
    await world.may();
    const room = () => roomForRules(world.cluster) ?? expect.fail("the rules are known");
    const half = WRITTEN_LENGTH_MAX / 2;
    const [first, second] = [room(), room()];
    expect([first.take(half), second.take(half), second.take(1_000)]).toEqual([true, false, true]);
    // The first is judged again, then fails.
    expect(first.take(half)).toBe(true);
    first.end();
    second.end();
    expect(room().take(half)).toBe(false);
    noteRulesChanged(world.cluster);
    await world.may();
    expect(room().take(half)).toBe(true);
  });

  it("a write that makes the rules shorter: has room, however long they are", async () => {
    world.fill("x".repeat(WRITTEN_LENGTH_MAX));
    await world.may();
    const room = roomForRules(world.cluster);
    expect([room?.take(1), room?.take(0), room?.take(-1)]).toEqual([false, true, true]);
  });

  it("a cluster whose rules this isolate has not read: no room is counted", () => {
    expect(roomForRules(world.cluster)).toBeUndefined();
  });
});
