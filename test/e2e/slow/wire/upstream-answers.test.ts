/**
 * Every request of the corpus (test/support/replay) is answered as the real kube-apiserver answers it, or as a row of the departures says. `npm run record`
 * wrote the answers of upstream into test/fixtures/upstream/answers-1.36.jsonl.
 */
import { describe, expect, it } from "vitest";
import { corpus } from "../../../support/replay/corpus";
import { departures } from "../../../support/replay/departures";
import { differences } from "../../../support/replay/differences";
import { playGroup } from "../../../support/replay/play";
import { readRecord, requestHash } from "../../../support/replay/record";
import { stepId } from "../../../support/replay/step";
import { clusterForTests } from "../../../support/server/cluster-for-tests";

/** Of kube-controller-manager nothing runs beside the recorded server. */
const cluster = clusterForTests({ controllers: ["service-cidr-controller"] });
const record = readRecord();
const met = new Set<string>();
const SHOWN = 40;

describe.concurrent("a request is answered as upstream answers it", () => {
  it.each(corpus)("$name", async (group) => {
    const unlike: object[] = [];
    const answers = await playGroup({ url: cluster.url }, group);
    for (const [id, ours] of answers) {
      const upstream = record.get(id);
      if (!upstream) {
        unlike.push({ id, at: "the record has no such step: npm run record" });
        continue;
      }
      for (const difference of differences(upstream.answer, ours)) {
        const departure = departures.find(({ where, at }) => where.test(id) && at.test(difference.at));
        if (departure) met.add(departure.why);
        else unlike.push({ id, ...difference });
      }
    }
    expect(unlike.slice(0, SHOWN)).toEqual([]);
  });
});

it("the record is of these requests", () => {
  const now = corpus.flatMap((group) =>
    group.cases.flatMap((case_) => case_.steps.map((step, index) => [stepId(group, case_, index), requestHash(step)])),
  );
  expect(now).toEqual([...record].map(([id, { request }]) => [id, request]));
});

it("every departure is met", () => {
  expect(departures.map(({ why }) => why).filter((why) => !met.has(why))).toEqual([]);
});
