import { describe, expect, it, vi } from "vitest";
import type { KubeObject } from "../../../../../src/api/meta/kubernetes";
import { decodeContinue, encodeContinue } from "../../../../../src/api/meta/continue-token";
import { TOKEN_LIFE_MS } from "../../../../../src/api/store/list/list-start";
import type { Status } from "../../../../../src/api/meta/status";
import { leasesDefinition } from "../../../../../src/api/registry/leases/definition";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import type { CollectionRequest } from "../../../../../src/api/rpc/store";
import { readList } from "../../../../support/values/list-body";
import { listPage } from "../../../../../src/api/store/list/list-page";
import { aLease, collectionRequest, StoreWorld } from "../../../../support/worlds/store-world";
import { RandomHistory, SELECTIONS } from "../../../../support/worlds/random-store-history";
import { firstSeeds, itOfSeeds } from "../../../../support/sim/platform/seeds";

interface ListText {
  kind: string;
  apiVersion: string;
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: KubeObject[];
}

type Listing = { definition: StoreWorld["definition"]; store: Parameters<typeof listPage>[0] };

function list({ store, definition }: Listing, request: Partial<CollectionRequest> = {}): ListText {
  const page = listPage(store, collectionRequest(definition, request), definition);
  if (!page.ok) throw new Error(page.error.message);
  const { keys } = page.value.begun;
  const text = readList(page.value) as unknown as ListText;
  expect(keys).toEqual(
    text.items.map(({ metadata }) => (definition.namespaced ? `${metadata?.namespace}/${metadata?.name}` : metadata?.name)),
  );
  return text;
}

function refusal({ store, definition }: Listing, request: Partial<CollectionRequest>): Status | undefined {
  const page = listPage(store, collectionRequest(definition, request), definition);
  return page.ok ? undefined : page.error;
}

const names = ({ items }: ListText): string[] => items.map(({ metadata }) => metadata?.name ?? "");

async function worldOf(...created: string[]): Promise<StoreWorld> {
  const world = new StoreWorld();
  for (const name of created) await world.create(aLease(name));
  return world;
}

describe("a list", () => {
  it("a list: the stored texts in key order, at the newest revision", async () => {
    const world = await worldOf("b", "a");
    const text = list(world);
    expect(text).toEqual({
      kind: "LeaseList",
      apiVersion: "coordination.k8s.io/v1",
      metadata: { resourceVersion: "3" },
      items: [world.stored("a"), world.stored("b")],
    });
    expect(list(await worldOf())).toMatchObject({ metadata: { resourceVersion: "1" }, items: [] });
  });

  it("a list of one namespace: holds nothing of a namespace whose name begins alike", async () => {
    const world = new StoreWorld();
    for (const namespace of ["b", "b-c", "b0", "bb", "a"]) await world.create(aLease(`in-${namespace}`, {}, { namespace }));
    expect(names(list(world, { namespace: "b" }))).toEqual(["in-b"]);
  });

  it("a list asked for as Table, or as metadata alone: answers that form", async () => {
    const world = await worldOf("a");
    const { store, definition } = world;
    const bodyOf = (representation: CollectionRequest["representation"]) => {
      const page = listPage(store, collectionRequest(definition, { representation }), definition);
      if (!page.ok) throw new Error(page.error.message);
      return readList(page.value);
    };
    expect(bodyOf({ as: "table", includeObject: "Metadata", version: "v1" })).toMatchObject({
      kind: "Table",
      metadata: { resourceVersion: "2" },
      columnDefinitions: [{ name: "Name" }, { name: "Holder" }, { name: "Age" }],
      rows: [{ cells: ["a", "", "0s"], object: { kind: "PartialObjectMetadata", metadata: { name: "a" } } }],
    });
    expect(bodyOf({ as: "partial", version: "v1" })).toMatchObject({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      items: [{ kind: "PartialObjectMetadata", metadata: { name: "a" } }],
    });
  });
});

describe("selectors", () => {
  it("label and field selectors: an object matches all of them and the namespace", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a", {}, { labels: { color: "red", size: "1" } }));
    await world.create(aLease("b", {}, { labels: { color: "blue" } }));
    await world.create(aLease("c", {}, { namespace: "other", labels: { color: "red" } }));
    const named = (request: Partial<CollectionRequest>) => names(list(world, request)).join("");
    expect(named({ labelSelector: "color=red" })).toBe("ac");
    expect(named({ labelSelector: "color in (red, blue),size!=1" })).toBe("bc");
    expect(named({ labelSelector: "!size" })).toBe("bc");
    expect(named({ fieldSelector: "metadata.name=a" })).toBe("a");
    expect(named({ fieldSelector: "metadata.name!=a,metadata.namespace==ns" })).toBe("b");
    expect(named({ fieldSelector: "metadata.name=a,metadata.name=b" })).toBe("");
    expect(named({ namespace: "other", labelSelector: "color=red" })).toBe("c");
    expect(named({ namespace: "ns", fieldSelector: "metadata.name=c" })).toBe("");
    expect(named({ namespace: "ns", fieldSelector: "metadata.namespace=other" })).toBe("");
  });

  it("a selector of a kind's own field: selects, also of a cluster-scoped kind", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    await world.delete("kube-node-lease", {}, "");
    expect(names(list(world, { fieldSelector: "status.phase=Terminating" }))).toEqual(["kube-node-lease"]);
    expect(names(list(world, { fieldSelector: "metadata.name=default" }))).toEqual(["default"]);
  });

  it("a selector that cannot be read: 400", async () => {
    const world = await worldOf();
    expect(refusal(world, { labelSelector: "a b" })).toMatchObject({ code: 400, reason: "BadRequest" });
    expect(refusal(world, { fieldSelector: "x" })).toMatchObject({ code: 400, message: "invalid selector: 'x'; can't understand 'x'" });
    expect(refusal(world, { fieldSelector: "spec.x=1" })).toMatchObject({
      code: 400,
      message: '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
  });
});

describe("pages", () => {
  it("remainingItemCount: exact without a selector, absent with one and on the last page", async () => {
    const world = await worldOf("a", "b", "c", "d", "e");
    const first = list(world, { limit: 2 });
    expect([names(first), first.metadata.remainingItemCount]).toEqual([["a", "b"], 3]);
    const second = list(world, { limit: 2, continueToken: first.metadata.continue });
    expect([names(second), second.metadata.remainingItemCount]).toEqual([["c", "d"], 1]);
    const third = list(world, { limit: 2, continueToken: second.metadata.continue });
    expect(third.metadata).toEqual({ resourceVersion: "6" });
    expect(names(third)).toEqual(["e"]);
    const selected = list(world, { limit: 2, labelSelector: "!x" });
    expect([selected.metadata.remainingItemCount, selected.metadata.continue !== undefined]).toEqual([undefined, true]);
    expect(list(world, { limit: 5 }).metadata.continue).toBeUndefined();
  });

  it("remainingItemCount of a namespace: counts its objects alone; never a scan of the rest", async () => {
    const world = new StoreWorld();
    for (const namespace of ["a", "b", "b-c"]) for (const name of ["x", "y", "z"]) await world.create(aLease(name, {}, { namespace }));
    const scan = vi.spyOn(world.storage, "objectScan");
    expect(list(world, { namespace: "b", limit: 1 }).metadata.remainingItemCount).toBe(2);
    expect(list(world, { limit: 1 }).metadata.remainingItemCount).toBe(8);
    expect(scan).toHaveBeenCalledTimes(2);
  });

  it("remainingItemCount at an earlier revision: as many as there were then", async () => {
    const world = await worldOf("a", "b", "c");
    const then = String(world.store.revision);
    await world.delete("b");
    for (const name of ["d", "e", "f"]) await world.create(aLease(name));
    const first = list(world, { resourceVersion: then, resourceVersionMatch: "Exact", limit: 1 });
    expect([names(first), first.metadata.remainingItemCount]).toEqual([["a"], 2]);
  });

  it("remainingItemCount of a store without counts: absent, in later pages, too", async () => {
    const world = await worldOf("a", "b", "c");
    const { storage, definition, store } = world;
    const uncounted = new Proxy(store, {
      get: (target, name) => (name === "countIn" ? () => undefined : (Reflect.get(target, name, target) as unknown)),
    });
    const first = list({ store: uncounted, definition }, { limit: 1 });
    expect(first.metadata).toEqual({ resourceVersion: "4", continue: expect.any(String) as string });
    const second = list(world, { limit: 1, continueToken: first.metadata.continue });
    expect([names(second), second.metadata.remainingItemCount, second.metadata.continue !== undefined]).toEqual([["b"], undefined, true]);
    expect(storage.objectScan("", "")).toHaveLength(3);
  });

  it("resourceVersion=0: the limit counts for later pages only", async () => {
    const world = await worldOf("a", "b", "c");
    expect(names(list(world, { limit: 1, resourceVersion: "0" }))).toEqual(["a", "b", "c"]);
    const { continue: continueToken } = list(world, { limit: 1 }).metadata;
    expect(names(list(world, { limit: 1, resourceVersion: "0", continueToken }))).toEqual(["b"]);
  });

  it("a token without a limit: the whole rest", async () => {
    const world = await worldOf("a", "b", "c");
    expect(names(list(world, { continueToken: list(world, { limit: 1 }).metadata.continue }))).toEqual(["b", "c"]);
  });

  it("later pages: the revision of the first page, also after changes", async () => {
    const world = await worldOf("a", "b", "c", "d");
    const before = ["c", "d"].map((name) => world.stored(name));
    const first = list(world, { limit: 2 });
    await world.delete("c");
    await world.patch("d", "merge", { spec: { holderIdentity: "later" } });
    await world.create(aLease("bb"));
    await world.create(aLease("e"));
    const second = list(world, { limit: 1, continueToken: first.metadata.continue });
    expect([second.metadata.resourceVersion, second.metadata.remainingItemCount, second.items]).toEqual(["5", 1, [before[0]]]);
    expect(list(world, { continueToken: second.metadata.continue }).items).toEqual([before[1]]);
  });

  itOfSeeds(
    "pages of old revisions while objects change (seed %i): equal to copies of the past",
    { fixed: firstSeeds(6), further: 2 },
    async (seed) => {
      const random = new RandomHistory(seed);
      const { world, past } = random;
      await random.steps(15);
      for (let round = 0; round < 12; round++) {
        const { request, sees } = random.pick(SELECTIONS);
        const limit = 1 + random.below(4);
        const revision = world.store.revision;
        const expected = past.list(revision, sees);
        const got: KubeObject[] = [];
        for (let continueToken: string | undefined = ""; continueToken !== undefined;) {
          const page: ListText = list(world, { ...request, limit, continueToken });
          expect(page.metadata.resourceVersion, `seed ${seed}`).toBe(String(revision));
          got.push(...page.items);
          const selective = request.labelSelector !== undefined || request.fieldSelector !== undefined;
          const left = expected.length - got.length;
          expect(page.metadata.remainingItemCount, `seed ${seed}`).toBe(selective || left === 0 ? undefined : left);
          expect(page.metadata.continue === undefined, `seed ${seed}`).toBe(left === 0);
          continueToken = page.metadata.continue;
          await random.steps(1 + random.below(3));
        }
        expect(got, `seed ${seed}`).toEqual(expected.map(({ data }) => JSON.parse(data) as KubeObject));
      }
    },
  );
});

describe("continue tokens", () => {
  it("a continue token beyond the history: 410 with a fresh token that lists on at the newest revision", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 3, sizeMax: 1e9, trimEntries: 1 } });
    for (const name of ["a", "b", "c"]) await world.create(aLease(name));
    const first = list(world, { limit: 1 });
    for (const name of ["d", "e", "f", "g"]) await world.create(aLease(name));
    const status = refusal(world, { limit: 1, continueToken: first.metadata.continue });
    expect(status).toMatchObject({ code: 410, reason: "Expired" });
    expect(status?.message).toMatch(/^The provided continue parameter is too old to display a consistent list result\./);
    const next = list(world, { limit: 2, continueToken: status?.metadata.continue });
    expect([names(next), next.metadata.resourceVersion]).toEqual([["b", "c"], String(world.store.revision)]);
    // An estimate: two were left when the token was made, and one at least is left now.
    expect([first.metadata.remainingItemCount, next.metadata.remainingItemCount]).toEqual([2, 1]);
    expect(names(list(world, { continueToken: next.metadata.continue }))).toEqual(["d", "e", "f", "g"]);
  });

  it("a continue token of a quiet store: good for five minutes, then 410 with a token that lists on, as after upstream's compaction", async () => {
    const world = await worldOf("a", "b", "c", "d");
    const first = list(world, { limit: 1 });
    await world.scheduler.pass(TOKEN_LIFE_MS);
    const second = list(world, { limit: 1, continueToken: first.metadata.continue });
    expect(names(second)).toEqual(["b"]);
    await world.create(aLease("bb"));
    await world.scheduler.pass(1);
    // The snapshot has the age of its first page, whichever page the token comes from.
    for (const { metadata } of [first, second]) expect(refusal(world, { continueToken: metadata.continue })?.code).toBe(410);
    const status = refusal(world, { limit: 1, continueToken: second.metadata.continue });
    const third = list(world, { limit: 1, continueToken: status?.metadata.continue });
    expect([names(third), third.metadata.resourceVersion]).toEqual([["bb"], String(world.store.revision)]);
    expect(names(list(world, { continueToken: third.metadata.continue }))).toEqual(["c", "d"]);
  });

  it("a continue token of an earlier release, without a time: 410 with a token that lists on", async () => {
    const world = await worldOf("a", "b");
    const { revision, incarnation } = world.store;
    const status = refusal(world, { continueToken: encodeContinue({ revision, start: "ns/a", incarnation, madeAt: 0 }) });
    expect([status?.code, names(list(world, { continueToken: status?.metadata.continue }))]).toEqual([410, ["b"]]);
  });

  it("a continue token of the floor: works; one below it: 410", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 3, sizeMax: 1e9, trimEntries: 1 } });
    for (const name of ["a", "b", "c", "d", "e", "f"]) await world.create(aLease(name));
    const { floor, incarnation } = world.store;
    const token = (revision: number) => encodeContinue({ revision, start: "ns/a", incarnation, madeAt: world.store.clock.now() });
    expect(names(list(world, { continueToken: token(floor) }))).toEqual(["b", "c", "d", "e", "f"].slice(0, floor - 2));
    expect(refusal(world, { continueToken: token(floor - 1) })?.code).toBe(410);
  });

  it("a continue token of another incarnation or a future revision: 410, with a fresh token of this incarnation", async () => {
    const world = await worldOf("a", "b");
    const madeAt = world.store.clock.now();
    for (const token of [
      { revision: 2, start: "ns/a", incarnation: "another" },
      { revision: -1, start: "ns/a", incarnation: "another" },
      { revision: 99, start: "ns/a", incarnation: world.store.incarnation },
    ]) {
      const status = refusal(world, { continueToken: encodeContinue({ ...token, madeAt }) });
      expect(status?.code).toBe(410);
      const fresh = decodeContinue(status?.metadata.continue ?? "");
      expect(fresh).toEqual({ ok: true, value: { revision: -1, start: "ns/a", incarnation: world.store.incarnation, madeAt } });
      expect(names(list(world, { continueToken: status?.metadata.continue }))).toEqual(["b"]);
    }
  });

  it("a malformed continue token: 400", async () => {
    const world = await worldOf("a");
    for (const continueToken of ["%%", "e30", encodeContinue({ revision: 0, start: "ns/a", incarnation: "", madeAt: 0 })]) {
      expect(refusal(world, { continueToken })).toMatchObject({ code: 400, reason: "BadRequest" });
      expect(refusal(world, { continueToken })?.message).toMatch(/^invalid continue token: continue key is not valid: /);
    }
  });

  it("a continue token that starts outside the namespace: neither shows nor counts objects of another one", async () => {
    const world = new StoreWorld();
    for (const namespace of ["a", "b", "c"]) await world.create(aLease("x", {}, { namespace }));
    const token = (start: string) =>
      encodeContinue({ revision: world.store.revision, start, incarnation: world.store.incarnation, madeAt: world.store.clock.now() });
    const seen = (start: string) =>
      list(world, { namespace: "b", limit: 1, continueToken: token(start) }).items.map((item) => item.metadata?.namespace);
    expect([seen("a/x"), seen("b"), seen("b/x"), seen("c/x")]).toEqual([["b"], ["b"], [], []]);
  });
});

describe("resourceVersion", () => {
  it("resourceVersion unset or N: a list not older than N; beyond the head: 504", async () => {
    const world = await worldOf("a", "b");
    for (const request of [{}, { resourceVersion: "2" }, { resourceVersion: "2", resourceVersionMatch: "NotOlderThan" }]) {
      expect(list(world, request).metadata.resourceVersion).toBe("3");
    }
    expect(refusal(world, { resourceVersion: "18446744073709551615" })).toMatchObject({
      message: "Timeout: Too large resource version: 18446744073709551615, current: 3",
    });
    expect(refusal(world, { resourceVersion: "4" })).toMatchObject({
      code: 504,
      reason: "Timeout",
      message: "Timeout: Too large resource version: 4, current: 3",
      details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
    });
  });

  it("resourceVersion N with Exact, or with a limit and no match: a list of exactly N", async () => {
    const world = await worldOf("a", "b");
    await world.delete("a");
    for (const request of [{ resourceVersionMatch: "Exact" }, { limit: 10 }]) {
      const text = list(world, { resourceVersion: "3", ...request });
      expect([text.metadata.resourceVersion, names(text)]).toEqual(["3", ["a", "b"]]);
    }
    const newer = list(world, { resourceVersion: "3", limit: 10, resourceVersionMatch: "NotOlderThan" });
    expect([newer.metadata.resourceVersion, names(newer)]).toEqual(["4", ["b"]]);
  });

  it("exactly N below the history: the answer is 410", async () => {
    const world = new StoreWorld({ historyBounds: { entriesMax: 2, sizeMax: 1e9, trimEntries: 1 } });
    for (const name of ["a", "b", "c", "d"]) await world.create(aLease(name));
    const { floor } = world.store;
    const exact = (revision: number) => ({ resourceVersion: String(revision), resourceVersionMatch: "Exact" });
    expect(refusal(world, exact(floor - 1))).toMatchObject({
      code: 410,
      reason: "Expired",
      message: "The resourceVersion for the provided list is too old.",
    });
    expect(list(world, exact(floor)).metadata.resourceVersion).toBe(String(floor));
  });
});

describe("another representation's definition", () => {
  it("a list of another representation: names that one's kind and version", async () => {
    const world = await worldOf("a");
    const other = { ...leasesDefinition, versions: ["v1beta1"] };
    expect(list({ store: world.store, definition: other })).toMatchObject({ kind: "LeaseList", apiVersion: "coordination.k8s.io/v1beta1" });
  });
});
