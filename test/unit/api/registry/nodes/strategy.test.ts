import { describe, expect, it } from "vitest";
import type { Node } from "../../../../../src/api/meta/kubernetes";
import { nodesDefinition as definition } from "../../../../../src/api/registry/nodes/definition";
import { create, update, updateStatus } from "../outcomes";

describe("defaults", () => {
  it("podCIDR and podCIDRs: each fills in the other", () => {
    expect(create<Node>(definition, { metadata: { name: "n" }, spec: { podCIDR: "10.0.0.0/24" } }).object.spec?.podCIDRs).toEqual([
      "10.0.0.0/24",
    ]);
    expect(
      create<Node>(definition, { metadata: { name: "n" }, spec: { podCIDRs: ["10.0.0.0/24", "fd00::/64"] } }).object.spec?.podCIDR,
    ).toBe("10.0.0.0/24");
  });

  it.each<[string, Node["spec"], string[]]>([
    ["another first range", { podCIDR: "10.1.0.0/24", podCIDRs: ["10.2.0.0/24"] }, ["10.1.0.0/24"]],
    ["another first range of two", { podCIDR: "10.1.0.0/24", podCIDRs: ["10.2.0.0/24", "fd00::/64"] }, ["10.1.0.0/24"]],
    ["the first range of two", { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24", "fd00::/64"] }, ["10.1.0.0/24", "fd00::/64"]],
  ])("podCIDR, %s: counts", (_, spec, want) => {
    const { object } = create<Node>(definition, { metadata: { name: "n" }, spec });
    expect([object.spec?.podCIDR, object.spec?.podCIDRs]).toEqual(["10.1.0.0/24", want]);
  });

  it("the source of a kubelet's configuration: new ones are dropped, a stored one may stay", () => {
    const node: Node = { metadata: { name: "n" }, spec: { configSource: {} }, status: { config: { error: "x" } } };
    expect(create<Node>(definition, node).object).toMatchObject({ spec: {}, status: {} });
    const bare: Node = { metadata: { name: "n" }, spec: {}, status: {} };
    expect(update(definition, { after: node, before: bare }).object.spec).toEqual({});
    expect(updateStatus(definition, { after: node, before: bare }).object.status).toEqual({});
    expect(update(definition, { after: node, before: node }).object).toMatchObject({ spec: node.spec, status: node.status });
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
    ["taint without effect", { taints: [{ key: "a", effect: "" }] }, ["metadata.taints[0].effect: Required value"]],
    [
      "taint of an unknown effect",
      { taints: [{ key: "a", effect: "x" }] },
      ['metadata.taints[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
    ],
    ["taint key", { taints: [{ key: "-", effect: "NoExecute" }] }, [/^metadata\.taints\[0\]\.key: Invalid value: "-": name part/]],
    [
      "taint twice",
      {
        taints: [
          { key: "a", effect: "NoExecute" },
          { key: "a", effect: "NoExecute", value: "x" },
        ],
      },
      [
        'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"x","Effect":"NoExecute","TimeAdded":null}: taints must be unique by key and effect pair',
      ],
    ],
  ])("%s: upstream's errors", (_, spec, want) => {
    const got = create<Node>(definition, { metadata: { name: "n" }, spec }).errors;
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });

  const NEGATIVE = "must be greater than or equal to 0";

  it.each<[string, object, string[]]>([
    ["good amounts", { capacity: { cpu: "1500m", pods: "110", "kubernetes.io/x": "500m" } }, []],
    [
      "amounts below zero",
      { capacity: { memory: "-1Gi", cpu: "-1" }, allocatable: { cpu: "-1500m" } },
      [
        `status.capacity.cpu: Invalid value: "-1": ${NEGATIVE}`,
        `status.capacity.memory: Invalid value: "-1Gi": ${NEGATIVE}`,
        `status.allocatable.cpu: Invalid value: "-1500m": ${NEGATIVE}`,
      ],
    ],
    [
      "parts of what has no parts",
      { allocatable: { pods: "1500m", "example.com/gpu": "500m" } },
      [
        'status.allocatable.example.com/gpu: Invalid value: "500m": must be an integer',
        'status.allocatable.pods: Invalid value: "1500m": must be an integer',
      ],
    ],
    ["features in order", { declaredFeatures: ["A", "B/c"] }, []],
    [
      "features out of order, twice and in another form",
      { declaredFeatures: ["B", "A", "A", "a b"] },
      [
        'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
        'status.declaredFeatures[2]: Duplicate value: "A"',
        'status.declaredFeatures[3]: Invalid value: "a b": invalid feature name "a b": must start with an UpperCamelCase segment, ' +
          "with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
      ],
    ],
  ])("a status, %s: upstream's errors at once and later", (_, status, want) => {
    const bare: Node = { metadata: { name: "n" } };
    const node = { ...bare, status } as Node;
    expect(create<Node>(definition, node).errors).toEqual(want);
    expect(updateStatus(definition, { after: node, before: bare }).errors).toEqual(want);
  });

  const address = { type: "InternalIP", address: "10.0.0.1" };

  it.each<[string, object, object, string]>([
    ["an amount below zero", { capacity: { cpu: "-1000m" } }, { capacity: { cpu: "-2" } }, "status.capacity.cpu"],
    ["a part of a Pod", { allocatable: { pods: "1500m" } }, { allocatable: { pods: "2500m" } }, "status.allocatable.pods"],
    ["features out of order", { declaredFeatures: ["B", "A"] }, { declaredFeatures: ["C", "A"] }, "status.declaredFeatures[1]"],
    ["an address twice", { addresses: [address, address] }, { addresses: [address, address, address] }, "status.addresses[1]"],
  ])("a Node of an earlier release, %s: all but that may change", (_, bad, worse, field) => {
    const before = { metadata: { name: "n" }, status: bad } as Node;
    const labelled = { metadata: { name: "n", labels: { a: "b" } }, status: bad } as Node;
    const conditions = [{ type: "Ready", status: "True" }];
    expect(update(definition, { after: labelled, before }).errors).toEqual([]);
    expect(updateStatus(definition, { after: { ...before, status: { ...before.status, conditions } }, before }).errors).toEqual([]);
    const [error] = updateStatus(definition, { after: { ...before, status: worse } as Node, before }).errors;
    expect(error).toContain(`${field}: `);
  });

  it("a Node of an earlier release, swap of no bytes: may get a label", () => {
    const before = { metadata: { name: "n" }, status: { nodeInfo: { swap: { capacity: 0 } } } } as Node;
    expect(update(definition, { after: { ...before, metadata: { name: "n", labels: { a: "b" } } }, before }).errors).toEqual([]);
  });

  it("swap of no bytes: refused for a create, as upstream does at its place", () => {
    const node = { metadata: { name: "n" }, status: { nodeInfo: { swap: { capacity: 0 } } } } as Node;
    expect(create<Node>(definition, node).errors).toEqual([
      "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero",
    ]);
  });

  it("an address twice: refused for updates, a create may have it", () => {
    const node: Node = { metadata: { name: "n" }, status: { addresses: [address, { ...address, type: "Hostname" }, address] } };
    expect(create<Node>(definition, node).errors).toEqual([]);
    expect(updateStatus(definition, { after: node, before: { metadata: { name: "n" } } }).errors).toEqual([
      'status.addresses[2]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ]);
  });

  it("errors of an update: those of a create, then those of the change, taints in both", () => {
    const spec = { podCIDRs: ["10.0.0.0/24", "10.0.1.0/24"], taints: [{ key: "a", effect: "" }], externalID: "x" };
    const families = 'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family';
    expect(
      update<Node>(definition, { after: { metadata: { name: "n" }, spec }, before: { metadata: { name: "n" }, spec: {} } }).errors,
    ).toEqual([
      "metadata.taints[0].effect: Required value",
      families,
      "metadata.taints[0].effect: Required value",
      "spec.externalID: Forbidden: may not be updated",
    ]);
  });

  it("podCIDRs that cannot be read, one of several: upstream's internal error too", () => {
    const want = [
      'spec.podCIDRs[1]: Invalid value: "y": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: y)",
      'spec.podCIDRs: Invalid value: ["10.0.0.0/24","y"]: may specify no more than one CIDR for each IP family',
    ];
    expect(create<Node>(definition, { metadata: { name: "n" }, spec: { podCIDRs: ["10.0.0.0/24", "y"] } }).errors).toEqual(want);
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
        nodeInfo: {
          kubeletVersion: "v1.36.2",
          osImage: "os",
          kernelVersion: "k",
          architecture: "arm64",
          containerRuntimeVersion: "c",
        } as NonNullable<Node["status"]>["nodeInfo"],
      },
    },
    want: [
      "n",
      "Ready,SchedulingDisabled",
      "control-plane,worker,x",
      "<unknown>",
      "v1.36.2",
      "10.0.0.1",
      "203.0.113.1",
      "os",
      "k (arm64)",
      "c",
    ],
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
