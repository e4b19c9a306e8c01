/** What the evictor knows of stored Pods. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/api/meta/kubernetes";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { evictedPods, tolerationsOf } from "../../../../src/nodes/taint-eviction/evicted-pods";
import { toleratedSeconds } from "../../../../src/nodes/taint-eviction/tolerations";
import { MemoryRowStorage } from "../../../support/memory/row-storage";

const taint = (key: string): { key: string; effect: "NoExecute" } => ({ key, effect: "NoExecute" });
const UNREACHABLE = taint("node.kubernetes.io/unreachable");

/** Seconds that a Pod that is stored with these tolerations may stay on a Node with the taint. */
function secondsOf(tolerations: NonNullable<Pod["spec"]>["tolerations"], { key, effect } = UNREACHABLE): number {
  const pods = evictedPods(new KeptRows(new MemoryRowStorage()));
  const spec = { containers: [], nodeName: "n", ...(tolerations ? { tolerations } : {}) };
  pods.reader.put({ metadata: { name: "p", namespace: "ns", uid: "u" }, spec } as Pod, false);
  expect(spec.tolerations).toEqual(tolerations);
  const pod = pods.get("ns/p");
  return toleratedSeconds([{ key, effect }], pod ? tolerationsOf(pod) : []);
}

describe("a Pod that was stored before Pods had default tolerations", () => {
  it("a Node that cannot be reached, or is not ready: is tolerated for 300 s", () => {
    expect(secondsOf(undefined)).toBe(300);
    expect(secondsOf(undefined, taint("node.kubernetes.io/not-ready"))).toBe(300);
    expect(secondsOf([{ key: "other", operator: "Exists" }])).toBe(300);
  });

  it("a toleration of its own: stays as it is", () => {
    expect(secondsOf([{ key: UNREACHABLE.key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }])).toBe(5);
    expect(secondsOf([{ operator: "Exists" }])).toBe(Infinity);
  });

  it("another taint: is not tolerated", () => {
    expect(secondsOf(undefined, taint("other"))).toBe(0);
  });
});
