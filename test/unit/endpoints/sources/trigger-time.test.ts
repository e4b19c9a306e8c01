import { expect, it } from "vitest";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { type SeenTimes, triggerTime } from "../../../../src/endpoints/sources/trigger-time";
import { aPod, aService } from "../../../support/worlds/slice-world";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** Each step: when the Service was created, when its Pods p0, p1, … turned ready (undefined = not there); the time that is told. */
type Step = [created: number, pods: (number | undefined)[], want: number | undefined];

// the cases of upstream's trigger_time_tracker_test.go
it.each<[string, Step[]]>([
  ["created without Pods", [[0, [], 0]]],
  ["created with Pods, older and newer ones", [[3, [0, 1, 5], 3]]],
  [
    "Pods are added",
    [
      [3, [3], 3],
      [3, [3, 4, 5], 4],
    ],
  ],
  [
    "older Pods are added",
    [
      [3, [0, 1, 5], 3],
      [3, [0, 1, 5, 2, 1], 1],
    ],
  ],
  [
    "Pods change",
    [
      [0, [2, 1], 0],
      [0, [5, 4], 4],
    ],
  ],
  [
    "nothing changes",
    [
      [0, [2, 1], 0],
      [0, [2, 1], undefined],
    ],
  ],
  [
    "a Pod is deleted",
    [
      [0, [2, 1], 0],
      [0, [2], undefined],
    ],
  ],
  [
    "a Pod is deleted and comes back",
    [
      [0, [2, 1], 0],
      [0, [2], undefined],
      [0, [2, 1], 1],
    ],
  ],
  [
    "only the spec of the Service changes",
    [
      [0, [1], 0],
      [0, [1], undefined],
    ],
  ],
  [
    "the Service is created anew",
    [
      [0, [1], 0],
      [4, [1], 4],
    ],
  ],
  [
    "a Pod changes twice between two looks: only the last time is known",
    [
      [0, [1], 0],
      [0, [7], 7],
    ],
  ],
])("%s: the times of the row", (_, steps) => {
  let seen: SeenTimes | undefined;
  for (const [created, times, want] of steps) {
    const service = aService({}, { creationTimestamp: at(created) });
    const pods = times.flatMap((second, i) => (second === undefined ? [] : [podFacts(aPod({ name: `p${i}`, readyAt: at(second) }))]));
    const found = triggerTime(seen, service, pods);
    expect(found.time).toBe(want === undefined ? undefined : Date.parse(at(want)));
    seen = found.seen;
  }
});

it("Pods without the condition Ready: no time of theirs", () => {
  const { seen } = triggerTime(undefined, aService(), []);
  expect(triggerTime(seen, aService(), [podFacts(aPod())]).time).toBeUndefined();
});
