import { describe, expect, it } from "vitest";
import type { Node } from "../../../../../src/api/meta/kubernetes";
import { nodesDefinition as definition } from "../../../../../src/api/registry/nodes/definition";
import { create, update } from "../outcomes";

describe("defaults", () => {
  it("podCIDR and podCIDRs: each fills in the other", () => {
    expect(create<Node>(definition, { metadata: { name: "n" }, spec: { podCIDR: "10.0.0.0/24" } }).object.spec?.podCIDRs).toEqual([
      "10.0.0.0/24",
    ]);
    expect(
      create<Node>(definition, { metadata: { name: "n" }, spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } }).object.spec?.podCIDR,
    ).toBe("10.0.0.0/24");
  });

  it("a create: keeps its status, and allocatable is the capacity", () => {
    const capacity = { cpu: "2" };
    expect(create<Node>(definition, { metadata: { name: "n" }, status: { capacity } }).object.status).toEqual({
      capacity,
      allocatable: capacity,
    });
  });
});

describe("validation", () => {
  it.each<[string, Node["spec"], (string | RegExp)[]]>([
    ["good", { podCIDRs: ["10.0.0.0/24", "fd00::/64"], taints: [{ key: "a/b", value: "c", effect: "NoExecute" }] }, []],
    [
      "bad podCIDR",
      { podCIDR: "x" },
      ['spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'],
    ],
    [
      "one family twice",
      { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"] },
      [/^spec\.podCIDRs: .*: may specify no more than one CIDR for each IP family$/],
    ],
    ["taint without effect", { taints: [{ key: "a", effect: "" }] }, ["spec.taints[0].effect: Required value"]],
    [
      "taint of an unknown effect",
      { taints: [{ key: "a", effect: "x" }] },
      ['spec.taints[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
    ],
    ["taint key", { taints: [{ key: "-", effect: "NoExecute" }] }, [/^spec\.taints\[0\]\.key: Invalid value: "-": name part/]],
    [
      "taint twice",
      {
        taints: [
          { key: "a", effect: "NoExecute" },
          { key: "a", effect: "NoExecute", value: "x" },
        ],
      },
      [
        'spec.taints[1]: Duplicate value: {"Key":"a","Value":"x","Effect":"NoExecute","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
  ])("%s: upstream's errors", (_, spec, want) => {
    const got = create<Node>(definition, { metadata: { name: "n" }, spec }).errors;
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });

  it("podCIDRs and providerID: cannot change once set", () => {
    const node = (spec: Node["spec"]): Node => ({ metadata: { name: "n" }, spec });
    const before = node({ podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24"], providerID: "p" });
    expect(update(definition, { after: node({ podCIDR: "10.0.1.0/24", providerID: "q" }), before }).errors).toEqual([
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
    expect(update(definition, { after: before, before: node({}) }).errors).toEqual([]);
  });
});

it.each<{ name: string; node: Node; want: (string | null)[] }>([
  { name: "bare", node: {}, want: ["", "Unknown", "<none>", "<unknown>", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"] },
  {
    name: "full",
    node: {
      metadata: {
        name: "n",
        labels: { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "x" },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [
          { type: "Hostname", address: "h" },
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "ExternalIP", address: "203.0.113.1" },
        ],
        nodeInfo: { kubeletVersion: "v1.36.2", osImage: "os", kernelVersion: "k", containerRuntimeVersion: "c" } as NonNullable<
          Node["status"]
        >["nodeInfo"],
      },
    },
    want: ["n", "Ready,SchedulingDisabled", "control-plane,worker,x", "<unknown>", "v1.36.2", "10.0.0.1", "203.0.113.1", "os", "k", "c"],
  },
  {
    name: "not ready",
    node: { metadata: { name: "n" }, status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
    want: ["n", "NotReady", "<none>", "<unknown>", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"],
  },
])("$name: cells as kubectl shows them upstream", ({ node, want }) => {
  expect(definition.cells(node, 0)).toEqual(want);
});

it("selectable field spec.unschedulable: false when absent", () => {
  expect(definition.selectableFields({})).toEqual({ "spec.unschedulable": "false" });
  expect(definition.selectableFields({ spec: { unschedulable: true } } as Node)).toEqual({ "spec.unschedulable": "true" });
});

it("a Node with fields of old, or a CIDR with host bits: upstream's warnings", () => {
  const spec = { configSource: {}, externalID: "x", podCIDRs: ["10.0.0.1/24"] };
  expect(definition.strategy.warnings({ metadata: { name: "n" }, spec } as Node)).toEqual([
    "spec.configSource: the feature is removed",
    "spec.externalID: this field is deprecated, and is unused by Kubernetes",
    'spec.podCIDRs[0]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
  ]);
});
