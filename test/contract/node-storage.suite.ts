import type { KeptReport } from "../../src/proxy-health/judgement";
import type { NodeStorage, StoredFacts } from "../../src/proxy-health/node-storage";
import type { ServiceCheck } from "../../src/proxy-health/pushed/shard-change";
import { type ContractCase, LARGEST, sorted, undone, UNICODE } from "./contract-case";

const FACTS: StoredFacts = { uid: "u", createdAt: 1_000, isTerminating: true, taints: ["a", UNICODE] };

/** What every NodeStorage does. */
export const nodeStorageCases: readonly ContractCase<NodeStorage>[] = [
  {
    name: "nothing at first; deletes of an absent node change nothing",
    run(storage) {
      storage.reportDelete("n1");
      storage.nodeDelete("n1");
      storage.countsPut("n1", {});
      return everything(storage);
    },
    want: { reports: [], facts: [], counts: [], watch: undefined, cursor: undefined, checks: undefined },
  },
  {
    name: "reports: the last one of each node, until it is deleted",
    run(storage) {
      storage.reportPut("n1", report(1));
      storage.reportPut("n2", report(2, true));
      storage.reportPut("n1", { report: {}, reportedAt: LARGEST, isSilent: true });
      storage.reportPut("n3", report(3));
      storage.reportDelete("n3");
      return sorted(storage.reports());
    },
    want: sorted([
      ["n1", { report: {}, reportedAt: LARGEST, isSilent: true }],
      ["n2", report(2, true)],
    ]),
  },
  {
    name: "facts and counts: the last ones of each node; counts of nothing remove the row",
    run(storage) {
      storage.factsPut("n1", FACTS);
      storage.factsPut("n1", { ...FACTS, isUntold: true });
      storage.factsPut("n2", FACTS);
      storage.countsPut("n1", { "default/a": { IPv4: 1 } });
      storage.countsPut("n1", { "default/b": { IPv4: 2, IPv6: LARGEST } });
      storage.countsPut("n2", { "default/a": { IPv6: 1 } });
      storage.countsPut("n2", {});
      return [sorted(storage.facts()), sorted(storage.counts())];
    },
    want: [
      sorted([
        ["n1", { ...FACTS, isUntold: true }],
        ["n2", FACTS],
      ]),
      [["n1", { "default/b": { IPv4: 2, IPv6: LARGEST } }]],
    ],
  },
  {
    name: "nodeDelete: removes all rows of the node, and of no other; reportDelete the report alone",
    run(storage) {
      for (const name of ["n1", "n2"]) {
        storage.reportPut(name, report(1));
        storage.factsPut(name, FACTS);
        storage.countsPut(name, { "default/a": { IPv4: 1 } });
      }
      storage.nodeDelete("n1");
      storage.reportDelete("n2");
      return everything(storage);
    },
    want: {
      reports: [],
      facts: [["n2", FACTS]],
      counts: [["n2", { "default/a": { IPv4: 1 } }]],
      watch: undefined,
      cursor: undefined,
      checks: undefined,
    },
  },
  {
    name: "watch, cursor and checks: the last ones put; an empty list of checks is a list",
    run(storage) {
      storage.watchPut({ alarmAt: 1, grantedAt: 2 });
      storage.watchPut({ alarmAt: 0, grantedAt: LARGEST });
      storage.cursorPut({ epoch: 1, sequence: 1 });
      storage.cursorPut({ epoch: 0, sequence: LARGEST });
      storage.checksPut([check("a"), check(UNICODE)]);
      const checks = storage.checksLoad();
      storage.checksPut([]);
      return [storage.watchLoad(), storage.cursorLoad(), checks, storage.checksLoad()];
    },
    want: [{ alarmAt: 0, grantedAt: LARGEST }, { epoch: 0, sequence: LARGEST }, [check("a"), check(UNICODE)], []],
  },
  {
    name: "nodes: any text is a name",
    run(storage) {
      for (const name of ["", UNICODE]) {
        storage.reportPut(name, report(0));
        storage.factsPut(name, FACTS);
        storage.countsPut(name, { [UNICODE]: {} });
      }
      storage.nodeDelete("");
      return everything(storage);
    },
    want: {
      reports: [[UNICODE, report(0)]],
      facts: [[UNICODE, FACTS]],
      counts: [[UNICODE, { [UNICODE]: {} }]],
      watch: undefined,
      cursor: undefined,
      checks: undefined,
    },
  },
  {
    name: "a transaction that fails: leaves all rows as they were; one within another fails alone",
    run(storage) {
      storage.reportPut("n1", report(1));
      storage.factsPut("n1", FACTS);
      storage.countsPut("n1", { "default/a": { IPv4: 1 } });
      undone(storage, () => {
        storage.nodeDelete("n1");
        storage.reportPut("n2", report(2));
        storage.factsPut("n2", FACTS);
        storage.countsPut("n2", { "default/a": { IPv4: 1 } });
        storage.watchPut({ alarmAt: 1, grantedAt: 2 });
        storage.cursorPut({ epoch: 1, sequence: 2 });
        storage.checksPut([]);
      });
      const answer = storage.transaction(() => {
        storage.watchPut({ alarmAt: 3, grantedAt: 4 });
        undone(storage, () => storage.watchPut({ alarmAt: 5, grantedAt: 6 }));
        return "answer";
      });
      return { answer, ...everything(storage) };
    },
    want: {
      answer: "answer",
      reports: [["n1", report(1)]],
      facts: [["n1", FACTS]],
      counts: [["n1", { "default/a": { IPv4: 1 } }]],
      watch: { alarmAt: 3, grantedAt: 4 },
      cursor: undefined,
      checks: undefined,
    },
  },
];

function everything(storage: NodeStorage): Record<string, unknown> {
  return {
    reports: sorted(storage.reports()),
    facts: sorted(storage.facts()),
    counts: sorted(storage.counts()),
    watch: storage.watchLoad(),
    cursor: storage.cursorLoad(),
    checks: storage.checksLoad(),
  };
}

function report(reportedAt: number, isSilent = false): KeptReport {
  return { report: { IPv4: { appliedAgoMs: 1_200, queuedForMs: 7 }, IPv6: { healthy: false } }, reportedAt, isSilent };
}

function check(name: string): ServiceCheck {
  return { namespace: "default", name, port: 30_000, families: ["IPv6", "IPv4"] };
}
