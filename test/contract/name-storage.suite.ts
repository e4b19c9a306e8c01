import type { NameStorage } from "../../src/tenancy/cluster-names";
import { type ContractCase, LARGEST } from "./contract-case";

const ENTRY = { stamp: "b", facts: { id: "blue~2", createdAt: LARGEST, deletedAt: 1 } };

/** What every NameStorage does. */
export const nameStorageCases: readonly ContractCase<NameStorage>[] = [
  { name: "has: nothing at first", run: (storage) => storage.has("blue"), want: false },
  {
    name: "add: that name alone, and once more changes nothing",
    run(storage) {
      storage.add("blue");
      storage.add("blue");
      storage.add("a".repeat(63));
      return ["blue", "blue-1", "blu", "a".repeat(63)].map((name) => storage.has(name));
    },
    want: [true, false, false, true],
  },
  {
    name: "the id of a life: that of its name alone, the last one, until it is taken away",
    run(storage) {
      const none = storage.lifeOf("blue");
      storage.noteLife("blue", "blue");
      storage.noteLife("blue", "blue~2");
      const noted = [storage.lifeOf("blue"), storage.lifeOf("blu"), storage.has("blue")];
      storage.noteLife("blue", null);
      storage.noteLife("blue", null);
      return [none, ...noted, storage.lifeOf("blue")];
    },
    want: [undefined, "blue~2", undefined, false, undefined],
  },
  {
    name: "entries: the last one of each name; it takes the place of the id that was noted, and goes with its name",
    run(storage) {
      storage.noteLife("blue", "blue");
      storage.saveEntry("blue", { stamp: "a" });
      const first = [storage.entryOf("blue"), storage.lifeOf("blue"), storage.entryOf("blu")];
      storage.saveEntry("blue", ENTRY);
      const last = storage.entryOf("blue");
      storage.noteLife("blue", "blue~2");
      storage.add("blue");
      storage.remove("blue");
      storage.remove("blue");
      return [first, last, storage.has("blue"), storage.entryOf("blue"), storage.lifeOf("blue")];
    },
    want: [[{ stamp: "a" }, undefined, undefined], ENTRY, false, undefined, undefined],
  },
  {
    name: "names: in their order, behind a name that need not be there, at most so many, and only names",
    run(storage) {
      for (const name of ["b", "a-1", "a", "a0", "c", "z".repeat(63)]) storage.add(name);
      storage.saveEntry("aa", { stamp: "" });
      storage.remove("c");
      return [storage.names("", 9), storage.names("a", 2), storage.names("a-0", 1), storage.names("z".repeat(63), 9)];
    },
    want: [["a", "a-1", "a0", "b", "z".repeat(63)], ["a-1", "a0"], ["a-1"], []],
  },
  {
    name: "whether the directory was read: not at first, then for ever",
    run(storage) {
      const first = storage.isImported();
      storage.noteImported();
      return [first, storage.isImported(), storage.names("", 9)];
    },
    want: [false, true, []],
  },
];
