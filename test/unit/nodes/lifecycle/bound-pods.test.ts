import { expect, it } from "vitest";
import type { Pod } from "../../../../src/api/meta/kubernetes";
import { comesToNode } from "../../../../src/nodes/lifecycle/bound-pods";

const pod = (nodeName?: string, ready = "True"): Pod =>
  ({ metadata: { name: "p" }, spec: { nodeName }, status: { conditions: [{ type: "Ready", status: ready }] } }) as Pod;

it.each<[string, Pod | undefined, Pod | undefined, boolean]>([
  ["is created on a Node", undefined, pod("n"), true],
  ["is created without one", undefined, pod(), false],
  ["is bound", pod(), pod("n"), true],
  ["has a new status", pod("n"), pod("n", "False"), false],
  ["goes", pod("n"), undefined, false],
])("a Pod that %s: asks for a pass, or not", (_, before, after, asks) => {
  expect(comesToNode({ ...(before && { before }), ...(after && { after }) })).toBe(asks);
});
