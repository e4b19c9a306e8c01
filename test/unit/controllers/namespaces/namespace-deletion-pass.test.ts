/** The pass of the controller "namespaces" on the real store of namespaces; the stores of their content answer what the test says. */
import { describe, expect, it } from "vitest";
import type { Namespace } from "../../../../src/api/meta/kubernetes";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import type { CollectionRequest, NamespaceRemains, WriteRequest } from "../../../../src/api/rpc/store";
import { PASS_MAX_MS, type PassResult } from "../../../../src/controllers/frame/controller";
import { namespaceDeletionPass } from "../../../../src/controllers/namespaces/namespace-deletion-pass";
import { collectionRequest, StoreWorld, WRITE } from "../../../support/worlds/store-world";

const NOTHING: NamespaceRemains = { objects: 0, finalizers: [] };
const MINUTE_MS = 60_000;

class World {
  readonly store = new StoreWorld({ definition: namespacesDefinition });
  /** what the store of leases answers to each call, the last one for ever */
  remains: (NamespaceRemains | "notClosed" | "never" | Error)[] = [NOTHING];
  readonly calls: string[] = [];
  readonly listed: CollectionRequest[] = [];
  readonly logged: string[] = [];
  /** of the namespaces that were listed last */
  readonly uids = new Map<string, string>();
  /** happens before each write of the pass */
  beforeWrite: (request: WriteRequest) => void | Promise<unknown> = () => undefined;
  list: (request: CollectionRequest) => Promise<{ items?: Namespace[] }> = (request) => {
    this.listed.push(request);
    return Promise.resolve({ items: this.#terminating() });
  };
  readonly #pass = namespaceDeletionPass({
    clock: this.store.scheduler.clock(),
    recorder: { log: (level, event, fields) => void this.logged.push(`${level} ${event} ${String(fields?.["error"])}`) },
    namespaces: () => ({
      get: (key, resourceVersion) => Promise.resolve(this.store.store.get(key, resourceVersion)),
      write: async (request) => {
        await this.beforeWrite(request);
        if ("subresource" in request) this.calls.push(request.subresource);
        return this.store.store.write(request);
      },
    }),
    list: (request) => this.list(request),
    stores: [
      {
        definition: { group: "coordination.k8s.io", resource: "leases", namespaced: true },
        store: () => ({
          closeNamespace: (name, uid) => {
            this.calls.push(`close ${name} ${this.uids.get(name) === uid ? "" : "of another life"}`.trim());
            return Promise.resolve();
          },
          emptyNamespace: (name) => {
            this.calls.push(`empty ${name}`);
            const answer = (this.remains.length > 1 ? this.remains.shift() : this.remains[0]) ?? NOTHING;
            if (answer instanceof Error) return Promise.reject(answer);
            return answer === "never" ? new Promise(() => undefined) : Promise.resolve(answer);
          },
        }),
      },
    ],
  });

  /** A namespace whose DELETE was answered. */
  async terminating(name: string): Promise<void> {
    await this.store.create({ metadata: { name } });
    await this.store.delete(name, {}, "");
  }

  async pass(): Promise<{ left: boolean }> {
    const { left } = await this.result();
    return { left };
  }

  result(): Promise<PassResult> {
    return this.store.scheduler.run(this.#pass(true));
  }

  stored(name: string): Namespace | undefined {
    return this.store.stored<Namespace>(name);
  }

  /** `Type` of each condition that says True */
  troubles(name: string): string[] {
    return (this.stored(name)?.status?.conditions ?? []).flatMap(({ type, status }) => (status === "True" ? [type] : []));
  }

  #terminating(): Namespace[] {
    const all = [...this.store.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as Namespace);
    const found = all.filter(({ metadata }) => metadata?.deletionTimestamp);
    for (const { metadata } of found) this.uids.set(metadata?.name ?? "", metadata?.uid ?? "");
    return found;
  }
}

describe("the pass of the namespace controller", () => {
  it("a cluster without a Terminating namespace: asks for them alone, leaves nothing, and calls no store", async () => {
    const world = new World();
    await world.store.create({ metadata: { name: "alive" } });
    expect(await world.pass()).toEqual({ left: false });
    expect(world.listed.map(({ verb, fieldSelector, limit }) => [verb, fieldSelector, limit])).toEqual([
      ["list", "status.phase=Terminating", 0],
    ]);
    expect(world.calls).toEqual([]);
  });

  it("an empty namespace: is closed, emptied, reported and gone in one pass; the last write says that it is fenced", async () => {
    const world = new World();
    const fenced: (string | undefined)[] = [];
    world.beforeWrite = (request) => void fenced.push(request.verb === "update" ? request.fencedUid : "");
    await world.terminating("a");
    expect(await world.pass()).toEqual({ left: false });
    expect(world.calls).toEqual(["close a", "empty a", "status", "finalize"]);
    expect(world.stored("a")).toBeUndefined();
    expect(fenced).toEqual([undefined, world.uids.get("a")]);
  });

  it("a namespace with objects behind finalizers: stays, its conditions say what is left, and it goes with the last object", async () => {
    const world = new World();
    world.remains = [{ objects: 2, finalizers: [["example.com/x", 2]] }, NOTHING];
    await world.terminating("a");
    expect(await world.pass()).toEqual({ left: true });
    expect(world.troubles("a")).toEqual(["NamespaceContentRemaining", "NamespaceFinalizersRemaining"]);
    expect(world.stored("a")?.spec?.finalizers).toEqual(["kubernetes"]);
    expect(await world.pass()).toEqual({ left: false });
    expect(world.stored("a")).toBeUndefined();
  });

  it("a pass that finds what the one before found: writes nothing", async () => {
    const world = new World();
    world.remains = [{ objects: 1, finalizers: [] }];
    await world.terminating("a");
    await world.pass();
    const before = world.stored("a");
    world.calls.length = 0;
    expect(await world.pass()).toEqual({ left: true });
    expect([world.calls, world.stored("a")]).toEqual([["close a", "empty a"], before]);
  });

  it("a store that does not answer: fails its namespace after a minute, which the conditions say; the others go", async () => {
    const world = new World();
    world.remains = ["never", NOTHING];
    await world.terminating("a");
    await world.terminating("b");
    const begun = world.store.scheduler.now;
    expect(await world.pass()).toEqual({ left: true });
    expect(world.store.scheduler.now - begun).toBe(MINUTE_MS);
    expect(world.troubles("a")).toEqual(["NamespaceDeletionContentFailure"]);
    expect(world.logged).toEqual(["warn a namespace was not emptied yet Error: leases.coordination.k8s.io: no answer within 60000 ms"]);
    expect([world.stored("a") !== undefined, world.stored("b")]).toEqual([true, undefined]);
  });

  it("a store that never answers, and many namespaces: no pass takes as long as a hung one, and all namespaces have their turn", async () => {
    const world = new World();
    world.remains = ["never"];
    const names = Array.from({ length: 40 }, (_, i) => `ns-${String(i).padStart(2, "0")}`);
    for (const name of names) await world.terminating(name);
    const closed = (): string[] => world.calls.filter((call) => call.startsWith("close ")).map((call) => call.slice("close ".length));
    while (closed().length < names.length) {
      const [begun, before] = [world.store.scheduler.now, closed().length];
      expect(await world.pass()).toEqual({ left: true });
      expect(world.store.scheduler.now - begun).toBeLessThan(PASS_MAX_MS / 2);
      expect(closed().length).toBeGreaterThan(before);
    }
    expect(closed()).toEqual(names);
    await world.pass();
    expect(closed()[names.length]).toBe("ns-00");
  });

  it("a namespace that is new among those reached before: has its turn when the names begin again", async () => {
    const world = new World();
    world.remains = ["never"];
    for (const name of ["b", "c", "d", "e"]) await world.terminating(name);
    await world.pass();
    await world.terminating("a");
    await world.pass();
    await world.pass();
    expect(world.calls.filter((call) => call.startsWith("close "))).toEqual(["b", "c", "d", "e", "a", "b"].map((name) => `close ${name}`));
  });

  it.each<[string, World["remains"][number]]>([
    ["refuses", new Error("down")],
    ["has not closed the namespace", "notClosed"],
  ])("a store that %s: the namespace stays for the next pass", async (_, answer) => {
    const world = new World();
    world.remains = [answer, NOTHING];
    await world.terminating("a");
    expect(await world.pass()).toEqual({ left: true });
    expect(world.stored("a")?.spec?.finalizers).toEqual(["kubernetes"]);
    expect(await world.pass()).toEqual({ left: false });
    expect(world.stored("a")).toBeUndefined();
  });

  it("a list that fails, or is not answered: fails the pass", async () => {
    const world = new World();
    world.list = () => Promise.reject(new Error("the namespaces store answered 500"));
    expect(await world.result()).toMatchObject({ left: true, report: { error: expect.stringContaining("answered 500") } });
    world.list = () => new Promise(() => undefined);
    expect(await world.result()).toMatchObject({ left: true, report: { error: "no answer within 60000 ms" } });
  });

  it.each(["status", "finalize"])(
    "another write just before the pass writes %s: nothing of it is lost, the next pass goes on",
    async (what) => {
      const world = new World();
      await world.terminating("a");
      world.beforeWrite = async (request) => {
        if (!("subresource" in request) || request.subresource !== what) return;
        world.beforeWrite = () => undefined;
        const patch = JSON.stringify({ metadata: { labels: { of: "client" } } });
        const options = { ...WRITE, group: "" };
        await world.store.store.write({
          verb: "patch",
          key: { namespace: "", name: "a" },
          subresource: "",
          patchType: "merge",
          patch,
          options,
        });
      };
      expect(await world.pass()).toEqual({ left: true });
      expect(world.logged).toEqual([expect.stringContaining("the object has been modified")]);
      expect(world.stored("a")?.metadata?.labels).toMatchObject({ of: "client" });
      expect(await world.pass()).toEqual({ left: false });
      expect(world.stored("a")).toBeUndefined();
    },
  );

  it("a namespace that is gone, or lives again, when the pass comes to it: is left alone", async () => {
    const world = new World();
    await world.terminating("gone");
    await world.terminating("again");
    const { items = [] } = await world.list(collectionRequest(namespacesDefinition));
    expect(await world.pass()).toEqual({ left: false });
    await world.store.create({ metadata: { name: "again" } });
    world.calls.length = 0;
    world.list = () => Promise.resolve({ items });
    expect(await world.pass()).toEqual({ left: false });
    expect(world.calls.filter((call) => !/^(close|empty)/.test(call))).toEqual([]);
    expect(world.stored("again")?.spec?.finalizers).toEqual(["kubernetes"]);
  });
});
