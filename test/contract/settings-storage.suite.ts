import type { SeenDifference, SettingsStorage } from "../../src/addresses/repair/settings-watch";
import { type ContractCase, LARGEST, UNICODE } from "./contract-case";

/** What every SettingsStorage does. */
export const settingsStorageCases: readonly ContractCase<SettingsStorage>[] = [
  {
    name: "nothing at first; a trim of nothing changes nothing",
    run(storage) {
      storage.differencesTrim(LARGEST);
      return [storage.openedLoad(), storage.differencesLoad(), storage.differencesTake()];
    },
    want: [{}, [], []],
  },
  {
    name: "opened settings: the last ones saved take the place of all before",
    run(storage) {
      storage.openedSave({ A: "1", B: "2" });
      storage.openedSave({ B: "3", "": "", [UNICODE]: UNICODE });
      const saved = storage.openedLoad();
      storage.openedSave({});
      return [saved, storage.openedLoad()];
    },
    want: [{ B: "3", "": "", [UNICODE]: UNICODE }, {}],
  },
  {
    name: "differences: the last one of each name, by name",
    run(storage) {
      for (const each of [seen("B", "1", 5), seen("A", "2", LARGEST), seen("B", "3", 4), seen("", UNICODE, 0)]) storage.differencePut(each);
      return storage.differencesLoad();
    },
    want: [seen("", UNICODE, 0), seen("A", "2", LARGEST), seen("B", "3", 4)],
  },
  {
    name: "differencesTake: each once, by name, and again when it is put again",
    run(storage) {
      storage.differencePut(seen("B", "1", 1));
      storage.differencePut(seen("A", "1", 1));
      const taken = [storage.differencesTake(), storage.differencesTake()];
      storage.differencePut(seen("B", "1", 2));
      return [...taken, storage.differencesTake(), storage.differencesTake(), storage.differencesLoad()];
    },
    want: [[seen("A", "1", 1), seen("B", "1", 1)], [], [seen("B", "1", 2)], [], [seen("A", "1", 1), seen("B", "1", 2)]],
  },
  {
    name: "differencesTrim: those seen before a time go, those of that time stay; taken or not",
    run(storage) {
      for (const each of [seen("A", "1", 4), seen("B", "1", 5)]) storage.differencePut(each);
      storage.differencesTake();
      for (const each of [seen("C", "1", 4), seen("D", "1", 6)]) storage.differencePut(each);
      storage.differencesTrim(5);
      return [storage.differencesLoad(), storage.differencesTake()];
    },
    want: [[seen("B", "1", 5), seen("D", "1", 6)], [seen("D", "1", 6)]],
  },
  {
    name: "differences are copies: what is changed outside changes nothing inside",
    run(storage) {
      const put = seen("A", "1", 1);
      storage.differencePut(put);
      for (const each of [put, ...storage.differencesLoad(), ...storage.differencesTake()]) each.value = "changed";
      return storage.differencesLoad();
    },
    want: [seen("A", "1", 1)],
  },
];

function seen(name: string, value: string, seenAt: number): SeenDifference {
  return { name, value, seenAt };
}
