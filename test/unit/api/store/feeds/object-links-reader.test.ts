import { describe, expect, it, vi } from "vitest";
import type { KubeObject, Node } from "../../../../../src/api/meta/kubernetes";
import { nodesDefinition } from "../../../../../src/api/registry/nodes/definition";
import type { CommittedChange } from "../../../../../src/api/store/state/extension";
import { FEED_PAGE_MAX_CHARS } from "../../../../../src/api/store/state/limits";
import { ObjectLinksReader, SEARCHED_ROWS_MAX } from "../../../../../src/api/store/feeds/object-links-reader";
import { changesLinks } from "../../../../../src/api/store/state/link-changes";
import type { StoreExtension } from "../../../../../src/api/store/state/extension";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

const owner = { apiVersion: "v1", kind: "Pod", name: "o", uid: "u" };
const DELETED_AT = "2026-01-01T00:00:00Z";

describe("changesLinks", () => {
  const change = (before: KubeObject["metadata"] | undefined, after: KubeObject["metadata"] | undefined): CommittedChange => ({
    type: after ? (before ? "MODIFIED" : "ADDED") : "DELETED",
    key: "ns/a",
    uid: "u",
    revision: 7,
    ...(before ? { before: { metadata: before } } : {}),
    ...(after ? { after: { metadata: after } } : {}),
  });
  it.each<[string, KubeObject["metadata"] | undefined, KubeObject["metadata"] | undefined, boolean]>([
    ["a plain creation", undefined, {}, false],
    ["a plain update", { labels: {} }, { labels: { a: "b" } }, false],
    ["a deletion", {}, undefined, true],
    ["a creation with an owner", undefined, { ownerReferences: [owner] }, true],
    ["a new owner", {}, { ownerReferences: [owner] }, true],
    ["a removed owner", { ownerReferences: [owner] }, {}, true],
    ["the same owner (a renewal)", { ownerReferences: [owner], resourceVersion: "1" }, { ownerReferences: [owner] }, false],
    ["a foreign finalizer", {}, { finalizers: ["example.com/x"] }, false],
    ["a finalizer for later", {}, { finalizers: ["orphan"] }, false],
    ["marked with Orphan", {}, { finalizers: ["orphan"], deletionTimestamp: DELETED_AT }, true],
    ["marked with Foreground", {}, { finalizers: ["foregroundDeletion"], deletionTimestamp: DELETED_AT }, true],
    ["marked, held by others, no owners", {}, { finalizers: ["example.com/x"], deletionTimestamp: DELETED_AT }, false],
    ["a dependent is marked", { ownerReferences: [owner] }, { ownerReferences: [owner], deletionTimestamp: DELETED_AT }, true],
  ])("%s: told when links or deletion change", (_, before, after, want) => {
    expect(changesLinks(change(before, after))).toBe(want);
  });
});

function setting(entriesMax = 100, sizeMax = 1_000_000) {
  const extension: StoreExtension<undefined> = {
    committed: (change) => {
      if (changesLinks(change)) reader.noteRelevant(change.revision);
    },
  };
  const world = new StoreWorld({ extension, historyBounds: { entriesMax, sizeMax, trimEntries: 1 } });
  let reader = new ObjectLinksReader(world.store);
  return {
    world,
    reader: () => reader,
    cursor: () => ({ incarnation: world.store.incarnation, revision: world.store.revision }),
    restart: () => {
      world.restart();
      reader = new ObjectLinksReader(world.store);
    },
  };
}

describe("changesSince", () => {
  it("changesSince: tells the changes that matter, and where to go on", async () => {
    const { world, reader, cursor } = setting();
    const start = cursor();
    await world.create(aLease("plain"));
    await world.create(aLease("owned", {}, { ownerReferences: [owner] }));
    await world.patch("owned", "merge", { metadata: { ownerReferences: null } });
    await world.delete("plain");
    const all = reader().changesSince(start, 100);
    expect(all).toMatchObject({
      kind: "changes",
      more: false,
      cursor: cursor(),
      changes: [
        { type: "put", links: { key: { namespace: "ns", name: "owned" }, ownerReferences: [owner], deleting: false } },
        { type: "put", links: { key: { namespace: "ns", name: "owned" }, ownerReferences: [] } },
        { type: "deleted", key: { namespace: "ns", name: "plain" } },
      ],
    });
    const first = reader().changesSince(start, 2);
    expect(first).toMatchObject({ kind: "changes", more: true, cursor: { revision: start.revision + 2 }, changes: [{ type: "put" }] });
    expect(reader().changesSince(cursor(), 100)).toEqual({ kind: "changes", changes: [], more: false, cursor: cursor() });
  });

  it("changesSince, large objects: one call reads about a page, and the pages together have every change", async () => {
    const { world, reader, cursor } = setting(100, 1e9);
    let at = cursor();
    const chars = 500_000;
    const names = Array.from({ length: 40 }, (_, i) => `a${i}`);
    for (const name of names) await world.create(aLease(name, { holderIdentity: "x".repeat(chars) }, { ownerReferences: [owner] }));
    const { storage } = world;
    const readHistory = storage.historySince.bind(storage);
    let read = 0;
    storage.historySince = (after, limit) => {
      const entries = readHistory(after, limit);
      for (const { data, before } of entries) read += data.length + before.length;
      return entries;
    };
    const told: string[] = [];
    const pages: { more: boolean; read: number }[] = [];
    for (let more = true; more;) {
      read = 0;
      const answer = reader().changesSince(at, 500);
      if (answer.kind === "expired") throw new Error("expired");
      for (const change of answer.changes) told.push(change.type === "put" ? change.links.key.name : "deleted");
      ({ cursor: at, more } = answer);
      pages.push({ more, read });
    }
    expect(pages[0]?.more).toBe(true);
    expect(Math.max(...pages.map((page) => page.read))).toBeLessThan(FEED_PAGE_MAX_CHARS + 5 * chars);
    expect([told, at]).toEqual([names, cursor()]);
  });

  it("changesSince without a cursor, of another incarnation, below the floor or above the head: expired", async () => {
    const { world, reader, cursor } = setting(3);
    const start = cursor();
    for (const name of ["a", "b", "c", "d", "e", "f"]) await world.create(aLease(name, {}, { ownerReferences: [owner] }));
    for (const at of [undefined, { ...cursor(), incarnation: "other" }, start, { ...cursor(), revision: 1_000 }]) {
      expect(reader().changesSince(at, 100)).toEqual({ kind: "expired" });
    }
  });

  it("changesSince below the floor of a history without links: no changes; after a restart: expired", async () => {
    const { world, reader, cursor, restart } = setting(3);
    const start = cursor();
    for (const name of ["a", "b", "c", "d", "e", "f"]) await world.create(aLease(name));
    expect(world.store.floor).toBeGreaterThan(start.revision);
    expect(reader().changesSince(start, 100)).toEqual({ kind: "changes", changes: [], more: false, cursor: cursor() });
    restart();
    expect(reader().changesSince(start, 100)).toEqual({ kind: "expired" });
  });
});

describe("listMetadata and metadataOf", () => {
  it("listMetadata: a page reads so many rows and lists those with links", async () => {
    const { world, reader, cursor } = setting();
    await world.create(aLease("a"));
    await world.create(aLease("b", {}, { ownerReferences: [owner] }));
    await world.create(aLease("c"));
    await world.create(aLease("d"));
    await world.delete("d", { propagationPolicy: "Orphan" });
    const first = reader().listMetadata("", 2);
    expect(first).toMatchObject({ items: [{ key: { namespace: "ns", name: "b" } }], next: "ns/b", cursor: cursor() });
    expect(reader().listMetadata("ns/b", 2)).toMatchObject({
      items: [{ key: { namespace: "ns", name: "d" }, deleting: true, finalizers: ["orphan"] }],
      next: "",
    });
  });

  it("metadataOf: answers in the order of the keys", async () => {
    const { world, reader } = setting();
    await world.create(aLease("a"));
    const keys = ["x", "a"].map((name) => ({ namespace: "ns", name }));
    const uid = world.stored("a")?.metadata?.uid;
    expect(reader().metadataOf(keys)).toMatchObject([null, { key: keys[1], uid, ownerReferences: [], deleting: false }]);
  });
});

describe("whereabouts", () => {
  /** Leases of these names in so many namespaces; answers the uid of one. */
  async function inNamespaces(world: StoreWorld, namespaces: readonly string[], ...names: string[]): Promise<(place: string) => string> {
    for (const namespace of namespaces) for (const name of names) await world.create(aLease(name, {}, { namespace }));
    return (place) => {
      const [namespace = "", name = ""] = place.split("/");
      return world.stored(name, namespace)?.metadata?.uid ?? "";
    };
  }

  it("objects by name and uid: their namespaces, in the order asked; null for a namesake and for what is nowhere", async () => {
    const { world, reader } = setting();
    const uid = await inNamespaces(world, ["a", "a-b", "a0", "b"], "x", "y");
    const sought = [
      { name: "y", uid: uid("a0/y") },
      { name: "x", uid: "other" },
      { name: "x", uid: uid("a-b/x") },
      { name: "z", uid: uid("a/x") },
    ];
    expect(reader().whereabouts(sought, "")).toEqual({ found: ["a0", null, "a-b", null], next: "" });
    expect(reader().whereabouts(sought, "a")).toEqual({ found: ["a0", null, null, null], next: "" });
  });

  it("no objects at all: nothing is found", () => {
    expect(
      setting()
        .reader()
        .whereabouts([{ name: "x", uid: "u" }], ""),
    ).toEqual({ found: [null], next: "" });
  });

  it("a cluster-scoped resource: its objects are in no namespace", async () => {
    const world = new StoreWorld({ definition: nodesDefinition });
    await world.create({ metadata: { name: "n" } });
    const uid = world.stored<Node>("n")?.metadata?.uid ?? "";
    expect(new ObjectLinksReader(world.store).whereabouts([{ name: "n", uid }], "")).toEqual({ found: [null], next: "" });
  });

  it("many objects of few namespaces: two rows are read in each", async () => {
    const { world, reader } = setting();
    const names = Array.from({ length: 20 }, (_, i) => `n-${String(i)}`);
    await inNamespaces(world, ["a", "b"], ...names);
    const [keys, objects] = [vi.spyOn(world.storage, "objectKeysAfter"), vi.spyOn(world.storage, "objectGet")];
    reader().whereabouts([{ name: "n-3", uid: "other" }], "");
    // One look more finds that no namespace is left.
    expect([keys.mock.calls.length, objects.mock.calls.length]).toEqual([3, 2]);
  });

  it("more namespaces than one call reads: the next call goes on behind them", async () => {
    const { world, reader } = setting(2_000);
    const namespaces = Array.from({ length: SEARCHED_ROWS_MAX / 2 + 1 }, (_, i) => `n-${String(i).padStart(4, "0")}`);
    const uid = await inNamespaces(world, namespaces, "x");
    const last = namespaces.at(-1) ?? "";
    const sought = [{ name: "x", uid: uid(`${last}/x`) }];
    const first = reader().whereabouts(sought, "");
    expect(first).toEqual({ found: [null], next: namespaces.at(-2) });
    expect(reader().whereabouts(sought, first.next)).toEqual({ found: [last], next: "" });
  });
});
