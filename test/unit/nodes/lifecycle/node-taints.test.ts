import { expect, it } from "vitest";
import { lacksEvictingTaint, type NoExecute, wantedTaints } from "../../../../src/nodes/lifecycle/node-taints";
import { upstreamRow } from "../../../conformance/upstream-row";

const NOW = Date.UTC(2026, 0, 1);
const PREFIX = "node.kubernetes.io/";

/** `key:effect`, without the prefix of Kubernetes. */
const taint = (text: string) => {
  const [key = "", effect = ""] = text.split(":");
  return { key: PREFIX + key, effect };
};

const aNode = (ready: string | undefined, ...taints: string[]) => ({
  conditions: ready === undefined ? [] : [{ type: "Ready", status: ready }],
  taints: taints.map(taint),
  isUnschedulable: false,
});

upstreamRow("nodelifecycle: TestApplyNoExecuteTaints, TestSwapUnreachableNotReadyTaints, TestTaintsNodeByCondition", () => {
  it.each<[string | undefined, NoExecute, string[], string[] | undefined]>([
    ["True", "follow", [], undefined],
    ["True", "follow", ["unreachable:NoExecute"], []],
    ["True", "follow", ["not-ready:NoExecute", "unreachable:NoExecute"], []],
    ["False", "follow", ["not-ready:NoSchedule"], undefined],
    ["False", "add", ["not-ready:NoSchedule"], ["not-ready:NoSchedule", "not-ready:NoExecute"]],
    ["False", "follow", ["not-ready:NoSchedule", "unreachable:NoExecute"], ["not-ready:NoSchedule", "not-ready:NoExecute"]],
    ["Unknown", "add", ["unreachable:NoSchedule"], ["unreachable:NoSchedule", "unreachable:NoExecute"]],
    ["Unknown", "follow", ["unreachable:NoSchedule", "not-ready:NoExecute"], ["unreachable:NoSchedule", "unreachable:NoExecute"]],
    ["Unknown", "follow", ["unreachable:NoSchedule", "unreachable:NoExecute"], undefined],
    ["Unknown", "remove", ["unreachable:NoSchedule", "unreachable:NoExecute"], ["unreachable:NoSchedule"]],
    [undefined, "follow", ["unreachable:NoExecute"], undefined],
    [undefined, "remove", ["unreachable:NoExecute", "out-of-service:NoExecute"], ["out-of-service:NoExecute"]],
    ["True", "follow", ["out-of-service:NoExecute", "not-ready:PreferNoSchedule"], undefined],
  ])("Ready %s, %s, %j: %j", (ready, noExecute, taints, want) => {
    const wanted = wantedTaints(aNode(ready, ...taints), noExecute, NOW);
    expect(wanted?.map(({ key, effect }) => `${key.slice(PREFIX.length)}:${effect}`)).toEqual(want);
    const added = wanted?.filter(({ key, effect }) => !taints.includes(`${key.slice(PREFIX.length)}:${effect}`)) ?? [];
    for (const { timeAdded } of added) expect(timeAdded).toBe("2026-01-01T00:00:00Z");
  });

  it("a Node that is not ready and has neither NoExecute taint: waits for one", () => {
    expect(["True", "False", "Unknown", undefined].map((ready) => lacksEvictingTaint(aNode(ready)))).toEqual([false, true, true, false]);
    expect(lacksEvictingTaint(aNode("False", "unreachable:NoExecute"))).toBe(false);
  });
});

it("NoSchedule taints: follow the conditions and spec.unschedulable; foreign taints stay", () => {
  const conditions = [
    { type: "Ready", status: "True" },
    { type: "MemoryPressure", status: "True" },
    { type: "DiskPressure", status: "False" },
    { type: "PIDPressure", status: "Unknown" },
    { type: "NetworkUnavailable", status: "True" },
  ];
  const taints = [{ key: "mine", effect: "NoSchedule" }, ...["disk-pressure:NoSchedule", "memory-pressure:NoSchedule"].map(taint)];
  const wanted = wantedTaints({ conditions, taints, isUnschedulable: true }, "follow", NOW);
  expect(wanted?.map(({ key, effect }) => `${key}:${effect}`)).toEqual(
    ["mine", ...["memory-pressure", "network-unavailable", "unschedulable"].map((key) => PREFIX + key)].map((key) => `${key}:NoSchedule`),
  );
});
