import { expect, it } from "vitest";
import type { Node } from "../../../../src/api/meta/kubernetes";
import { changesNode } from "../../../../src/nodes/lifecycle/node-state";

const node = (changed: object = {}, heartbeat = "2026-01-01T00:00:00Z", resourceVersion = "1"): Node =>
  ({
    metadata: { name: "n", uid: "u", resourceVersion },
    status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: heartbeat }] },
    ...changed,
  }) as Node;

it.each<[string, Node | undefined, Node | undefined, boolean]>([
  ["is created", undefined, node(), true],
  ["goes", node(), undefined, true],
  ["has a new heartbeat", node(), node({}, "2026-01-01T00:00:10Z", "2"), false],
  ["has another Ready", node(), node({ status: { conditions: [{ type: "Ready", status: "False" }] } }), true],
  ["has a taint", node(), node({ spec: { taints: [{ key: "k", effect: "NoSchedule" }] } }), true],
  ["is cordoned", node(), node({ spec: { unschedulable: true } }), true],
  ["has other addresses", node(), node({ spec: { podCIDR: "10.0.0.0/24" } }), false],
])("a Node that %s: asks for a pass, or not", (_, before, after, asks) => {
  expect(changesNode({ ...(before && { before }), ...(after && { after }) })).toBe(asks);
});
