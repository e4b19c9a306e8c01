import type { BeginningRow, ControllersRow, RecordRow, RecordStorage } from "../../src/tenancy/record-storage";
import { type ContractCase, LARGEST, undone, UNICODE } from "./contract-case";

const CONTROLLERS: ControllersRow = { version: LARGEST, list: ["*", "-ttl-controller"], isTold: false, told: ["owner/a", UNICODE] };
const BEGINNING: BeginningRow = { id: "blue~2", serviceRanges: ["10.0.0.0/16", "fd00::/112"], isTold: false };

/** What every RecordStorage does. */
export const recordStorageCases: readonly ContractCase<RecordStorage>[] = [
  {
    name: "nothing at first: no row, no controllers",
    run: (storage) => [storage.load(), storage.controllersLoad()],
    want: [undefined, undefined],
  },
  {
    name: "save: the last row",
    run(storage) {
      storage.save(row("active", 1));
      storage.save(row("deleting", LARGEST));
      return storage.load();
    },
    want: row("deleting", LARGEST),
  },
  {
    name: "save: a first row that is lost with its transaction leaves nothing, and the next one is kept",
    run(storage) {
      undone(storage, () => storage.save(row("active", 1)));
      const lost = storage.load();
      storage.save(row("active", 2));
      return [lost, storage.load()];
    },
    want: [undefined, row("active", 2)],
  },
  {
    name: "controllers: the last ones saved, without a row too",
    run(storage) {
      storage.controllersSave(CONTROLLERS);
      const first = storage.controllersLoad();
      storage.controllersSave({ version: 0, list: null, isTold: true });
      return [first, storage.controllersLoad()];
    },
    want: [CONTROLLERS, { version: 0, list: null, isTold: true }],
  },
  {
    name: "quotas: the last ones saved, without a row too, and undone with their transaction",
    run(storage) {
      const first = storage.quotasLoad();
      storage.quotasSave({ version: LARGEST, hard: { [UNICODE]: "1" }, isTold: false });
      undone(storage, () => storage.quotasSave({ version: 1, hard: null, isTold: true }));
      return [first, storage.quotasLoad()];
    },
    want: [undefined, { version: LARGEST, hard: { [UNICODE]: "1" }, isTold: false }],
  },
  {
    name: "objects that have ended: the last ones saved, without a row too, and undone with their transaction",
    run(storage) {
      const first = storage.endedLoad();
      storage.endedSave([{ uid: UNICODE, endedAt: LARGEST }]);
      undone(storage, () => storage.endedSave([]));
      return [first, storage.endedLoad()];
    },
    want: [undefined, [{ uid: UNICODE, endedAt: LARGEST }]],
  },
  {
    name: "the beginning: the last one saved, without a row too, and undone with its transaction",
    run(storage) {
      const first = storage.beginningLoad();
      storage.beginningSave(BEGINNING);
      undone(storage, () => storage.beginningSave({ ...BEGINNING, isTold: true }));
      return [first, storage.beginningLoad()];
    },
    want: [undefined, BEGINNING],
  },
  {
    name: "the stamp of the name in the list of clusters: the last one, the empty one and none too, without a row, and undone with its transaction",
    run(storage) {
      storage.noteStamp(undefined);
      const first = storage.stamp();
      const noted = ["a", "", "b"].map((stamp) => {
        storage.noteStamp(stamp);
        return storage.stamp();
      });
      undone(storage, () => storage.noteStamp(undefined));
      const kept = storage.stamp();
      storage.noteStamp(undefined);
      return [first, ...noted, kept, storage.stamp(), storage.load()];
    },
    want: [undefined, "a", "", "b", "b", undefined, undefined],
  },
  {
    name: "the life that the list of clusters was told: the last one, without a row too, and undone with its transaction",
    run(storage) {
      const first = storage.notedLife();
      storage.noteLife("blue");
      try {
        storage.transaction(() => {
          storage.noteLife("");
          throw new Error("undone");
        });
      } catch {
        // As wanted.
      }
      const kept = storage.notedLife();
      storage.noteLife("");
      return [first, kept, storage.notedLife()];
    },
    want: ["", "blue", ""],
  },
  {
    name: "objects: kept in the order in which they came, each once per kind, at most so many",
    run(storage) {
      storage.save(row("deleting", 1));
      storage.objectsAdd([
        { kind: "store", name: "z" },
        { kind: "owner", name: "z" },
      ]);
      storage.objectsAdd([
        { kind: "owner", name: "a" },
        { kind: "store", name: "z" },
        { kind: "store", name: UNICODE },
      ]);
      storage.objectsAdd([]);
      return [storage.objectsLeft(10), storage.objectsLeft(2).length, storage.objectsLeft(0), storage.objectCounts()];
    },
    want: [
      [
        { kind: "store", name: "z" },
        { kind: "owner", name: "z" },
        { kind: "owner", name: "a" },
        { kind: "store", name: UNICODE },
      ],
      2,
      [],
      { objects: 4, wiped: 0 },
    ],
  },
  {
    name: "objectWiped: the object is left no more, and stays wiped when it is added again",
    run(storage) {
      storage.save(row("deleting", 1));
      storage.objectsAdd([
        { kind: "owner", name: "a" },
        { kind: "owner", name: "b" },
        { kind: "view", name: "a" },
      ]);
      storage.objectWiped({ kind: "owner", name: "a" });
      storage.objectWiped({ kind: "owner", name: "a" });
      storage.objectWiped({ kind: "owner", name: "never added" });
      storage.objectsAdd([{ kind: "owner", name: "a" }]);
      return [storage.objectsLeft(10), storage.objectsNamed("owner"), storage.objectsNamed("store"), storage.objectCounts()];
    },
    want: [
      [
        { kind: "owner", name: "b" },
        { kind: "view", name: "a" },
      ],
      ["a", "b"],
      [],
      { objects: 3, wiped: 1 },
    ],
  },
  {
    name: "objectsClear: no objects any more; the row and the controllers stay",
    run(storage) {
      storage.save(row("deleting", 1));
      storage.controllersSave(CONTROLLERS);
      const before = storage.objectCounts();
      storage.objectsAdd([{ kind: "owner", name: "a" }]);
      storage.objectWiped({ kind: "owner", name: "a" });
      storage.objectsClear();
      const cleared = storage.objectCounts();
      storage.objectsAdd([{ kind: "owner", name: "a" }]);
      return [before, cleared, storage.objectsLeft(10), storage.load(), storage.controllersLoad()];
    },
    want: [{ objects: 0, wiped: 0 }, { objects: 0, wiped: 0 }, [{ kind: "owner", name: "a" }], row("deleting", 1), CONTROLLERS],
  },
  {
    name: "a transaction that fails: leaves everything as it was; one within another fails alone",
    run(storage) {
      storage.save(row("active", 1));
      storage.objectsAdd([{ kind: "owner", name: "a" }]);
      undone(storage, () => {
        storage.save(row("deleting", 2));
        storage.controllersSave(CONTROLLERS);
        storage.objectWiped({ kind: "owner", name: "a" });
        storage.objectsAdd([{ kind: "owner", name: "b" }]);
      });
      undone(storage, () => storage.objectsClear());
      const answer = storage.transaction(() => {
        storage.objectsAdd([{ kind: "owner", name: "c" }]);
        undone(storage, () => storage.objectWiped({ kind: "owner", name: "c" }));
        return "answer";
      });
      return [answer, storage.load(), storage.controllersLoad(), storage.objectsLeft(10)];
    },
    want: [
      "answer",
      row("active", 1),
      undefined,
      [
        { kind: "owner", name: "a" },
        { kind: "owner", name: "c" },
      ],
    ],
  },
];

function row(phase: RecordRow["phase"], life: number): RecordRow {
  return { name: "cluster", life, phase, createdAt: life, deletedAt: 0 };
}
