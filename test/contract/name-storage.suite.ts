import type { NameStorage } from "../../src/tenancy/cluster-names";
import type { ContractCase } from "./contract-case";

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
];
