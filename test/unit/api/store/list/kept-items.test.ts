import { describe, expect, it } from "vitest";
import type { CollectionRequest } from "../../../../../src/api/rpc/store";
import { encodeListItems } from "../../../../../src/api/schema/protobuf/encode-protobuf";
import { definitionOf } from "../../../../../src/api/registry/all";
import { KeptItems } from "../../../../../src/api/store/list/kept-items";
import { listPage } from "../../../../../src/api/store/list/list-page";
import { histories, playEach, seedsOf } from "../../../../support/sim/platform/seeds";
import { RandomHistory, SELECTIONS } from "../../../../support/worlds/random-store-history";
import { collectionRequest } from "../../../../support/worlds/store-world";

const ServiceSchema = definitionOf("", "services")!.schema;
const REPRESENTATIONS = [{ as: "object" }, { as: "partial", version: "v1" }] as const;

/** A page of Services with these revisions. Answers the names of those that are encoded. */
function encodedOf(kept: KeptItems, revisions: Readonly<Record<string, number | undefined>>): string[] {
  return pageOf(kept, revisions)();
}

/** The same in two steps: the page is read first, and encoded when it is asked for. */
function pageOf(kept: KeptItems, revisions: Readonly<Record<string, number | undefined>>): () => string[] {
  const keys = Object.keys(revisions);
  const rows = kept.of("protobuf", { keys, revisions: Object.values(revisions) });
  const valueOf = (i: number) => ({ metadata: { name: keys[i], resourceVersion: String(revisions[keys[i] ?? ""]) } });
  return () => {
    const encoded: string[] = [];
    const noted = (i: number) => {
      encoded.unshift(keys[i] ?? "");
      return valueOf(i);
    };
    expect(encodeListItems(keys.length, noted, ServiceSchema, rows)).toEqual(encodeListItems(keys.length, valueOf, ServiceSchema));
    return encoded;
  };
}

const change = (type: "ADDED" | "MODIFIED" | "DELETED", key: string, revision: number) => ({ type, key, uid: key, revision });

describe("objects of protobuf lists", () => {
  it("are encoded once, and anew when they have changed", () => {
    const kept = new KeptItems();
    expect(encodedOf(kept, { a: 1, b: 2, c: 3 })).toEqual(["a", "b", "c"]);
    expect(encodedOf(kept, { a: 1, b: 2, c: 3 })).toEqual([]);
    kept.turnCommitted([change("MODIFIED", "b", 4)]);
    expect(encodedOf(kept, { a: 1, b: 4, c: 3, d: 5 })).toEqual(["b", "d"]);
    expect(encodedOf(kept, { b: 4, d: 5 })).toEqual([]);
  });

  it("of another revision than is kept: each list has its own, and the later one is kept", () => {
    const kept = new KeptItems();
    encodedOf(kept, { a: 7 });
    expect(encodedOf(kept, { a: 3 })).toEqual(["a"]);
    expect(encodedOf(kept, { a: 7 })).toEqual([]);
    expect(encodedOf(kept, { a: 9 })).toEqual(["a"]);
    expect(encodedOf(kept, { a: 9 })).toEqual([]);
  });

  it("without a revision: are encoded for each list", () => {
    const kept = new KeptItems();
    encodedOf(kept, { a: undefined });
    expect(kept.bytes).toBe(0);
    encodedOf(kept, { a: 1 });
    expect(encodedOf(kept, { a: undefined })).toEqual(["a"]);
  });

  it("in two views: each has its own bytes", () => {
    const kept = new KeptItems();
    encodedOf(kept, { a: 1 });
    expect(kept.of("another", { keys: ["a"], revisions: [1] }).get(0)).toBeUndefined();
  });

  it("beyond the bound: are encoded for each list, and find room when others go", () => {
    const kept = new KeptItems(600);
    const all = Object.fromEntries(["a", "b", "c", "d"].map((key, i) => [key, i + 1]));
    encodedOf(kept, all);
    const again = encodedOf(kept, all);
    expect(again).toEqual(["a", "b"]);
    expect(kept.bytes).toBeLessThan(600 + 400);
    kept.turnCommitted([change("DELETED", "d", 5)]);
    encodedOf(kept, { a: 1, b: 2 });
    expect(encodedOf(kept, { b: 2 })).toEqual([]);
  });

  it("that went while a long list was encoded: are not kept", () => {
    const kept = new KeptItems();
    const late = pageOf(kept, { a: 1, b: 2 });
    kept.turnCommitted([change("DELETED", "a", 3)]);
    expect(late()).toEqual(["a", "b"]);
    expect(kept.bytes).toBe(0);
    encodedOf(kept, { b: 2 });
    kept.turnCommitted([change("DELETED", "b", 4)]);
    expect(kept.bytes).toBe(0);
  });
});

it(
  "random writes: lists with kept items and without have the same bytes, and a store without objects keeps none",
  { timeout: 120_000 },
  () =>
    playEach(seedsOf(histories(7)), async (seed) => {
      const kept = new KeptItems(seed % 2 === 0 ? 2_000 : undefined);
      const history = new RandomHistory(seed, { observers: [kept] });
      const { world } = history;
      for (let round = 0; round < 40; round++) {
        await history.steps(1 + history.below(3));
        const isFormer = history.below(3) === 0;
        const asked: Partial<CollectionRequest> = {
          ...history.pick(SELECTIONS).request,
          encoding: "protobuf",
          representation: history.pick(REPRESENTATIONS),
          limit: history.below(4),
          ...(isFormer && { resourceVersion: String(world.store.revision - history.below(2)), resourceVersionMatch: "Exact" }),
        };
        expect(bytesOf(history, asked, kept)).toEqual(bytesOf(history, asked));
      }
      for (const { key } of [...world.storage.objectScan("", "")]) {
        const [namespace = "", name = ""] = key.split("/");
        await world.delete(name, {}, namespace);
      }
      expect(kept.bytes).toBe(0);
    }),
);

function bytesOf({ world }: RandomHistory, asked: Partial<CollectionRequest>, kept?: KeptItems): unknown {
  const page = listPage(world.store, collectionRequest(world.definition, asked), world.definition, kept);
  if (!page.ok) return page.error;
  const { form, begun } = page.value;
  return form.encoding === "protobuf" && form.items(begun.rows, begun.encoded);
}
