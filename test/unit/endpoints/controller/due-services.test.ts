import { describe, expect, it } from "vitest";
import { DueServices } from "../../../../src/endpoints/controller/due-services";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;

function waiting(storage = new MemoryRowStorage()): {
  due: DueServices;
  change(...keys: string[]): void;
  round(limit: number): string[];
  save(): void;
} {
  const rows = new KeptRows(storage);
  const due = new DueServices(rows);
  rows.load();
  return {
    due,
    change: (...keys) => keys.forEach((key) => due.add({ key, isNew: false, changedAt: undefined }, NOW)),
    round: (limit) => due.dueBy(NOW, limit).map(({ key }) => key),
    save: () => rows.save(),
  };
}

function crowd(size: number): string[] {
  return Array.from({ length: size }, (_, i) => `crowd-${String(i)}`);
}

describe("a round", () => {
  it("a change behind a crowd: in the next round, beside those that have waited longest", () => {
    const { change, round } = waiting();
    change(...crowd(1_000), "live");
    expect(round(4)).toEqual(["crowd-0", "crowd-1", "live", "crowd-999"]);
  });

  it("a change of a Service inside the crowd: in the next round", () => {
    const { change, round } = waiting();
    change(...crowd(1_000));
    change("crowd-500");
    expect(round(4)).toEqual(["crowd-0", "crowd-1", "crowd-500", "crowd-999"]);
  });

  it("changes that never end: the crowd gets half of each round, in its order", () => {
    const { due, change, round } = waiting();
    change(...crowd(20));
    const looked: string[] = [];
    for (let i = 0; i < 10; i++) {
      change(...Array.from({ length: 50 }, (_, j) => `live-${String(i)}-${String(j)}`));
      for (const key of round(4)) {
        due.done(key);
        if (key.startsWith("crowd")) looked.push(key);
      }
    }
    expect(looked).toEqual(crowd(20));
  });

  it("one Service that changes all the time: looked at when it has waited longest, like the others", () => {
    const { due, change, round } = waiting();
    change("busy", ...crowd(3));
    change("busy");
    const [first] = round(1);
    expect(first).toBe("busy");
    due.done("busy");
    change("busy");
    expect(round(10)).toEqual(["crowd-0", "crowd-1", "crowd-2", "busy"]);
  });

  it("fewer than the limit, and looks that are not due yet: each once, none early", () => {
    const { due, change, round } = waiting();
    change("a", "b");
    due.add({ key: "later", isNew: false, changedAt: undefined }, NOW + 1);
    expect(round(10)).toEqual(["a", "b"]);
    due.failed("a", NOW);
    expect(round(10)).toEqual(["b"]);
  });
});

describe("a write that is refused for good", () => {
  it("no change: no look and no alarm, also in another life; a change: a look when the wait is over", () => {
    const storage = new MemoryRowStorage();
    const { due, change, save } = waiting(storage);
    change("a");
    due.refused("a", NOW, true);
    save();
    const after = waiting(storage);
    expect(after.due.earliest).toBeUndefined();
    expect(after.due.dueBy(NOW + HOUR, 10)).toEqual([]);
    after.change("a");
    expect(after.due.dueBy(NOW, 10)).toEqual([]);
    expect(after.due.earliest).toBe(NOW + 1_000);
    expect(after.due.dueBy(NOW + 1_000, 10).map(({ key }) => key)).toEqual(["a"]);
  });

  it("its row: has a time as every row, for the release before", () => {
    const storage = new MemoryRowStorage();
    const { due, change, save } = waiting(storage);
    change("for good", "for some time", "not refused");
    due.refused("for good", NOW, true);
    due.refused("for some time", NOW);
    save();
    const rows = storage.facts("due").map(([key, text]): [string, unknown] => [key, (JSON.parse(text) as { at?: unknown }).at]);
    expect(Object.fromEntries(rows)).toEqual({ "for good": NOW + 1_000, "for some time": NOW + 1_000, "not refused": NOW });
  });
});

it("a crowd that an earlier life left: in its order, and a change of this life beside it", () => {
  const storage = new MemoryRowStorage();
  const before = waiting(storage);
  before.change(...crowd(9));
  before.save();
  const after = waiting(storage);
  expect(after.round(4)).toEqual(crowd(4));
  after.change("live");
  expect(after.round(4)).toEqual(["crowd-0", "crowd-1", "live", "crowd-2"]);
});
