import { describe, expect, it } from "vitest";
import type { Binding, Eviction, Pod } from "../../../../../src/api/meta/kubernetes";
import { bindingAction, evictionAction } from "../../../../../src/api/registry/pods/actions";

const NOW = Date.UTC(2026, 0, 1);

function aPod(part: Partial<Pod> = {}): Pod {
  return {
    metadata: { name: "p", namespace: "ns" },
    spec: { containers: [{ name: "c", image: "i" }] },
    status: { phase: "Pending" },
    ...part,
  };
}

function bind(pod: Pod, binding: Partial<Binding> = {}): string | undefined {
  if (bindingAction.effect.does !== "change") throw new Error("a binding changes the Pod");
  return bindingAction.effect.change(pod, { metadata: { name: "p" }, target: { name: "n" }, ...binding } as Binding, NOW);
}

describe("binding", () => {
  it("a Pod without a node: gets the node, the condition, labels and annotations", () => {
    const pod = aPod({ metadata: { name: "p", labels: { a: "1", b: "1" } }, status: { phase: "Pending", nominatedNodeName: "m" } });
    expect(bind(pod, { metadata: { name: "p", labels: { b: "2" }, annotations: { x: "y" } } })).toBeUndefined();
    expect(pod).toEqual({
      metadata: { name: "p", labels: { a: "1", b: "2" }, annotations: { x: "y" } },
      spec: { containers: [{ name: "c", image: "i" }], nodeName: "n" },
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] },
    });
  });

  it.each<[string, Pod, string]>([
    ["bound", aPod({ spec: { containers: [], nodeName: "m" } }), 'pod p is already assigned to node "m"'],
    ["gated", aPod({ spec: { containers: [], schedulingGates: [{ name: "g" }] } }), "pod p has non-empty .spec.schedulingGates"],
    [
      "deleted",
      aPod({ metadata: { name: "p", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
      "pod p is being deleted, cannot be assigned to a host",
    ],
  ])("a Pod that is %s: refused, and the Pod stays as it is", (_, pod, why) => {
    const before = structuredClone(pod);
    expect(bind(pod)).toBe(why);
    expect(pod).toEqual(before);
  });

  it.each<[string, Binding["target"], string[]]>([
    ["a node", { name: "n", kind: "Node" }, []],
    ["no kind", { name: "n" }, []],
    ["another kind", { name: "n", kind: "Pod" }, ['target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"']],
    ["no name", {}, ["target.name: Required value"]],
  ])("a binding to %s: upstream's errors", (_, target, want) => {
    if (bindingAction.effect.does !== "change") throw new Error("a binding changes the Pod");
    const errors = bindingAction.effect.validate({ target } as Binding);
    expect(errors.map(({ field, body }) => `${field}: ${body}`)).toEqual(want);
  });
});

describe("eviction", () => {
  it("an eviction: a deletion with the options of the document", () => {
    if (evictionAction.effect.does !== "delete") throw new Error("an eviction deletes the Pod");
    const { options } = evictionAction.effect;
    expect(options({ deleteOptions: { gracePeriodSeconds: 0 } } as Eviction)).toEqual({ gracePeriodSeconds: 0 });
    expect(options({})).toEqual({});
  });

  it("an eviction: marks the Pod first; its condition keeps place and time when it is set again", () => {
    if (evictionAction.effect.does !== "delete") throw new Error("an eviction deletes the Pod");
    const { mark } = evictionAction.effect;
    const ready = { type: "Ready", status: "True" };
    const pod = aPod({ status: { phase: "Running", conditions: [ready] } });
    mark(pod, NOW);
    const marked = {
      type: "DisruptionTarget",
      status: "True",
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    expect(pod.status?.conditions).toEqual([ready, marked]);
    mark(pod, NOW + 60_000);
    expect(pod.status?.conditions).toEqual([ready, marked]);
  });
});
