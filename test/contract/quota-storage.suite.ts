import type { QuotaStorage } from "../../src/api/store/quota/quota-guard";
import type { QuotaMarks } from "../../src/controllers/quotas/quota-pushes";
import { type ContractCase, LARGEST, sorted, type Transacted, undone, UNICODE } from "./contract-case";

/** What every QuotaStorage does, and every QuotaMarks beside it in one object. */
export const quotaStorageCases: readonly ContractCase<Transacted<QuotaStorage & QuotaMarks>>[] = [
  {
    name: "nothing at first: no progress, no limits, marks 0, states empty; a delete of absent limits changes nothing",
    run(storage) {
      storage.quotaDelete("default/a");
      return [storage.quotaProgress(), [...storage.quotaLoad()], storage.markGet("pods"), storage.stateGet("pods")];
    },
    want: [undefined, [], 0, ""],
  },
  {
    name: "progress: the last one saved, with a state or without",
    run(storage) {
      storage.quotaProgressSave({ source: UNICODE, through: 1, state: "x" });
      const first = storage.quotaProgress();
      storage.quotaProgressSave({ source: "", through: LARGEST });
      return [first, storage.quotaProgress()];
    },
    want: [
      { source: UNICODE, through: 1, state: "x" },
      { source: "", through: LARGEST },
    ],
  },
  {
    name: "limits: the last ones of each key, until they are deleted",
    run(storage) {
      storage.quotaPut("default/a", { pods: "1", services: "2" });
      storage.quotaPut("default/a", { pods: "3" });
      storage.quotaPut("default/a/b", { pods: "4" });
      storage.quotaPut("default/c", { pods: "5" });
      storage.quotaDelete("default/c");
      return sorted(storage.quotaLoad());
    },
    want: sorted([
      { key: "default/a", hard: { pods: "3" } },
      { key: "default/a/b", hard: { pods: "4" } },
    ]),
  },
  {
    name: "limits: none of nothing, and any text as a key",
    run(storage) {
      storage.quotaPut("", {});
      storage.quotaPut(UNICODE, { [UNICODE]: UNICODE });
      return sorted(storage.quotaLoad());
    },
    want: sorted([
      { key: "", hard: {} },
      { key: UNICODE, hard: { [UNICODE]: UNICODE } },
    ]),
  },
  {
    name: "marks and states: by name, the last ones set, apart from each other",
    run(storage) {
      storage.markSet("", 1);
      storage.markSet("", LARGEST);
      storage.markSet("pods", -1);
      storage.stateSet("", "x");
      storage.stateSet(UNICODE, UNICODE);
      storage.stateSet("pods", "");
      const names = ["", "pods", UNICODE, "/lives"];
      return [names.map((name) => storage.markGet(name)), names.map((name) => storage.stateGet(name)), [...storage.quotaLoad()]];
    },
    want: [[LARGEST, -1, 0, 0], ["x", "", UNICODE, ""], []],
  },
  {
    name: "a transaction that fails: leaves everything as it was; one within another fails alone",
    run(storage) {
      storage.quotaPut("a", { pods: "1" });
      storage.markSet("m", 1);
      undone(storage, () => {
        storage.quotaPut("a", { pods: "2" });
        storage.quotaPut("b", { pods: "2" });
        storage.quotaDelete("a");
        storage.quotaProgressSave({ source: "x", through: 1 });
        storage.markSet("m", 2);
        storage.stateSet("s", "x");
      });
      storage.transaction(() => {
        storage.stateSet("t", "1");
        undone(storage, () => storage.stateSet("t", "2"));
      });
      return [[...storage.quotaLoad()], storage.quotaProgress(), storage.markGet("m"), ["s", "t"].map((name) => storage.stateGet(name))];
    },
    want: [[{ key: "a", hard: { pods: "1" } }], undefined, 1, ["", "1"]],
  },
  {
    name: "limits are copies: what is changed outside changes nothing inside",
    run(storage) {
      const hard = { pods: "1" };
      storage.quotaPut("a", hard);
      hard.pods = "changed";
      for (const each of storage.quotaLoad()) each.hard["services"] = "changed";
      return [...storage.quotaLoad()];
    },
    want: [{ key: "a", hard: { pods: "1" } }],
  },
];
