/** Facts that share rows: whatever comes, goes and dies, a start finds the facts of the last save, for no more rows than there were changes. */
import { expect, it } from "vitest";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { PAGES_KIND } from "../../../../src/controllers/followed/packed-rows";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";

const KINDS = ["services", "slices", "shares"];
const met = { pages: 0, smallPages: 0, alone: 0, moved: 0, lost: 0, keptUnknown: 0, starts: 0 };

/** Counts the rows that are written. */
class CountedRows extends MemoryRowStorage {
  written = 0;

  override rowPut(kind: string, key: string, text: string): void {
    this.written++;
    super.rowPut(kind, key, text);
  }

  override rowDelete(kind: string, key: string): void {
    if (this.rowGet(kind, key) !== undefined) this.written++;
    super.rowDelete(kind, key);
  }
}

itOfSeeds("random facts and deaths (seed %i)", { fixed: [1, 2, 3, 4], further: 2 }, (seed) => {
  const random = seededRandom(seed);
  const storage = new CountedRows();
  let rows = new KeptRows(storage);
  rows.load();
  const facts = new Map<string, string>();
  let changed = new Set<string>();
  const change = (): void => {
    const [kind, key] = [pick(random, KINDS), `ns/${random.below(40)}`];
    const id = `${kind} ${key}`;
    changed.add(id);
    if (random.below(3) === 0) {
      if (facts.delete(id)) rows.delete(kind, key);
      return;
    }
    const size = random.below(25) === 0 ? 20_000 : random.below(1_500);
    const value = { key, text: `${random.below(1e9)}${"x".repeat(size)}` };
    rows.put(kind, key, value, !facts.has(id));
    facts.set(id, JSON.stringify(value));
  };
  /** One fact after the other, whether it is saved or not. */
  const single = (of: KeptRows): Map<string, string> => {
    const ids = KINDS.flatMap((kind) => Array.from({ length: 40 }, (_, i) => [kind, `ns/${i}`] as const));
    return new Map(
      ids.flatMap(([kind, key]): [string, string][] => {
        const value = of.get(kind, key);
        return value ? [[`${kind} ${key}`, JSON.stringify(value)]] : [];
      }),
    );
  };
  /** A start whose facts go to takers, as they are read. */
  const taken = (): Map<string, string> => {
    const found = new Map(KINDS.map((kind) => [`${kind} of an earlier try`, ""]));
    const start = new KeptRows(storage);
    for (const kind of KINDS) {
      const take = (key: string, value: unknown): void => void found.set(`${kind} ${key}`, JSON.stringify(value));
      const begin = (): void => [...found.keys()].filter((id) => id.startsWith(`${kind} `)).forEach((id) => found.delete(id));
      start.loadInto(kind, { begin, take });
    }
    start.load();
    return found;
  };
  const saved = (of: KeptRows): Map<string, string> => {
    const found = KINDS.flatMap((kind) => [...of.saved(kind)].map(([key, value]) => [`${kind} ${key}`, JSON.stringify(value)] as const));
    expect(new Set(found.map(([id]) => id)).size, "each fact stands in one place").toBe(found.length);
    return new Map(found);
  };
  for (let round = 0; round < 60; round++) {
    for (let left = random.below(3) === 0 ? 1 : random.below(80); left > 0; left--) change();
    const isLooked = round % 6 === 0;
    if (isLooked) expect([...single(rows)].sort(), `round ${round}, before the save`).toEqual([...facts].sort());
    const before = storage.written;
    const death = random.below(6);
    const point = death === 0 ? "beforeCommit" : death === 1 ? "afterCommit" : undefined;
    if (point) {
      // The object lives on, and does not know whether its rows were kept.
      storage.journal.gate = {
        [point]: () => {
          throw new Error("a fault of storage");
        },
      };
      if (changed.size > 0) {
        try {
          rows.save();
        } catch {
          met[point === "beforeCommit" ? "lost" : "keptUnknown"]++;
        }
      }
      storage.journal.gate = {};
      for (let more = random.below(5); more > 0; more--) change();
      if (random.below(3) === 0) expect([...single(rows)].sort(), `round ${round}, after a fault`).toEqual([...facts].sort());
      rows.save();
    } else {
      const pages = storage.rows(PAGES_KIND);
      rows.save();
      // And one that says that there are pages; a page that has grown gives its changed facts away.
      const grown = pages.some(([, text]) => text.length > 16_000) ? pages.length : 0;
      expect(storage.written - before, `round ${round}`).toBeLessThanOrEqual(changed.size + 1 + grown);
      if (grown > 0) met.moved++;
    }
    changed = new Set();
    const start = new KeptRows(storage);
    start.load();
    expect([...saved(start)].sort(), `round ${round}`).toEqual([...facts].sort());
    expect([...saved(rows)].sort(), `round ${round}`).toEqual([...facts].sort());
    if (isLooked)
      for (const of of [single(rows), single(start), taken()]) expect([...of].sort(), `round ${round}`).toEqual([...facts].sort());
    const pages = storage.rows(PAGES_KIND).map(([, text]) => (JSON.parse(text) as unknown[]).length);
    met.pages += pages.length;
    met.smallPages += pages.filter((entries) => entries === 1).length;
    met.alone += KINDS.reduce((sum, kind) => sum + storage.rows(kind).length, 0);
    if (random.below(4) === 0) {
      met.starts++;
      rows = start;
    }
  }
});

it("what the fixed seeds met", () => {
  expect(
    Object.values(met).every((count) => count > 0),
    JSON.stringify(met),
  ).toBe(true);
});
