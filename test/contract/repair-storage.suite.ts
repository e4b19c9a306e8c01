import { nodePortType } from "../../src/addresses/repair/repair-counts";
import type { RepairStorage, Tries } from "../../src/addresses/repair/repair-ports";
import { type ContractCase, LARGEST, UNICODE } from "./contract-case";

const NONE: Tries = { attempts: 0, toldAt: 0 };

/** What every RepairStorage does. */
export const repairStorageCases: readonly ContractCase<RepairStorage>[] = [
  {
    name: "suspects: keep their times, their attempts and the time of their report",
    run(storage) {
      const answers: unknown[] = [storage.suspectEarliest(), storage.suspectTries("services/default/a")];
      storage.suspectPut("services/default/a", 500);
      storage.suspectPut("ipaddresses/10.0.0.9", 300, { attempts: 2, toldAt: 7 });
      storage.suspectPut("services/default/b", 5_000);
      answers.push(storage.suspectEarliest(), storage.suspectTries("services/default/a"), storage.suspectTries("ipaddresses/10.0.0.9"));
      // The earlier time wins, and who has no tries to tell leaves them as they are.
      storage.suspectPut("ipaddresses/10.0.0.9", 900);
      storage.suspectPut("services/default/a", 400, { attempts: 1, toldAt: 0 });
      answers.push(storage.suspectEarliest(), storage.suspectTries("ipaddresses/10.0.0.9"), storage.suspectTries("services/default/a"));
      answers.push(storage.suspectsTake(1_000, 10, 90_000).sort(), storage.suspectsTake(1_000, 10, 90_001));
      // While it is taken its tries are known; what is put back stays with them, what is done is forgotten.
      storage.suspectPut("services/default/a", 2_000, { attempts: storage.suspectTries("services/default/a").attempts + 1, toldAt: 1_000 });
      storage.suspectsDone(90_000);
      answers.push(storage.suspectEarliest(), storage.suspectTries("services/default/a"), storage.suspectTries("ipaddresses/10.0.0.9"));
      answers.push(storage.suspectsTake(10_000, 1, 99_000), storage.suspectsTake(10_000, 10, 99_000));
      return answers;
    },
    want: [
      ...[undefined, NONE],
      ...[300, NONE, { attempts: 2, toldAt: 7 }],
      ...[300, { attempts: 2, toldAt: 7 }, { attempts: 1, toldAt: 0 }],
      ...[["ipaddresses/10.0.0.9", "services/default/a"], []],
      ...[2_000, { attempts: 2, toldAt: 1_000 }, NONE],
      ...[["services/default/a"], ["services/default/b"]],
    ],
  },
  {
    name: "progress: urgent from the beginning at first, then the last one saved of each store",
    run(storage) {
      const first = storage.progressLoad("services");
      storage.progressSave("services", { cursor: { incarnation: "x", revision: LARGEST }, sweptTo: UNICODE, urgent: false });
      storage.progressSave("ipaddresses", { cursor: undefined, sweptTo: "", urgent: true });
      const second = storage.progressLoad("services");
      storage.progressSave("services", { cursor: undefined, sweptTo: "a", urgent: false });
      return [first, second, storage.progressLoad("services"), storage.progressLoad("ipaddresses")];
    },
    want: [
      { cursor: undefined, sweptTo: "", urgent: true },
      { cursor: { incarnation: "x", revision: LARGEST }, sweptTo: UNICODE, urgent: false },
      { cursor: undefined, sweptTo: "a", urgent: false },
      { cursor: undefined, sweptTo: "", urgent: true },
    ],
  },
  {
    name: "progress is a copy: what is changed outside changes nothing inside",
    run(storage) {
      const cursor = { incarnation: "x", revision: 1 };
      storage.progressSave("services", { cursor, sweptTo: "", urgent: false });
      for (const each of [cursor, storage.progressLoad("services").cursor]) if (each) each.revision = 99;
      return storage.progressLoad("services");
    },
    want: { cursor: { incarnation: "x", revision: 1 }, sweptTo: "", urgent: false },
  },
  {
    name: "numbers: by name, the last one set, 0 at first",
    run(storage) {
      storage.numberSet("a", 1);
      storage.numberSet("a", LARGEST);
      storage.numberSet("", -1);
      return ["a", "", UNICODE].map((name) => storage.numberGet(name));
    },
    want: [LARGEST, -1, 0],
  },
  {
    name: "suspectsTake: the earliest first, at most so many, none of a later time",
    run(storage) {
      for (const [id, dueAt] of Object.entries({ late: 30, first: 10, second: 20, never: 31 })) storage.suspectPut(id, dueAt);
      return [
        storage.suspectsTake(9, 10, 100),
        storage.suspectsTake(30, 0, 100),
        storage.suspectsTake(30, 2, 100),
        storage.suspectsTake(30, 10, 100),
        storage.suspectEarliest(),
      ];
    },
    want: [[], [], ["first", "second"], ["late"], 31],
  },
  {
    name: "suspectsTake: what nobody has done by the end of its lease is due again",
    run(storage) {
      storage.suspectPut(UNICODE, 0, { attempts: LARGEST, toldAt: LARGEST });
      const taken = [storage.suspectsTake(0, 10, 100), storage.suspectsTake(99, 10, 200), storage.suspectsTake(100, 10, 200)];
      storage.suspectsDone(100);
      return [...taken, storage.suspectEarliest(), storage.suspectTries(UNICODE)];
    },
    want: [[UNICODE], [], [UNICODE], 200, { attempts: LARGEST, toldAt: LARGEST }],
  },
  {
    name: "suspectPut: a time within the lease takes a suspect back from who has it",
    run(storage) {
      storage.suspectPut("", 1);
      storage.suspectsTake(1, 10, 100);
      storage.suspectPut("", 50);
      storage.suspectsDone(100);
      return [storage.suspectEarliest(), storage.suspectsTake(50, 10, 100)];
    },
    want: [50, [""]],
  },
  {
    name: "counters: grow by type, those of node ports and of failures apart",
    run(storage) {
      const before = [storage.countsLoad(), storage.nodePortCountsLoad()];
      storage.count("leak", 1);
      storage.count("leak", 2);
      storage.count("duplicate", 0);
      storage.count("", LARGEST - 1);
      storage.count("", 1);
      storage.count(nodePortType("leak"), 5);
      storage.count(nodePortType(""), 6);
      return [...before, storage.countsLoad(), storage.nodePortCountsLoad()];
    },
    want: [
      { ipErrors: {}, reconcileErrors: 0 },
      { portErrors: {}, reconcileErrors: 0 },
      { ipErrors: { leak: 3, duplicate: 0 }, reconcileErrors: LARGEST },
      { portErrors: { leak: 5 }, reconcileErrors: 6 },
    ],
  },
];
