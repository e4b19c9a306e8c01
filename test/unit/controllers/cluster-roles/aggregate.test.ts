import { describe, expect, it } from "vitest";
import type { ClusterRole, PolicyRule } from "../../../../src/api/meta/kubernetes";
import { staleRules } from "../../../../src/controllers/cluster-roles/aggregate";

type Selector = NonNullable<NonNullable<ClusterRole["aggregationRule"]>["clusterRoleSelectors"]>[number];

const rule = (resource: string, ...verbs: string[]): PolicyRule => ({ apiGroups: [""], resources: [resource], verbs });
const role = (name: string, labels: Record<string, string>, ...rules: PolicyRule[]): ClusterRole => ({ metadata: { name, labels }, rules });
const aggregated = (name: string, selectors: Selector[], rules: PolicyRule[] = [], labels: Record<string, string> = {}): ClusterRole => ({
  metadata: { name, labels },
  aggregationRule: { clusterRoleSelectors: selectors },
  rules,
});

const TO_EDIT = { "aggregate-to-edit": "true" };
const TO_VIEW = { "aggregate-to-view": "true", tier: "a" };
const PODS = rule("pods", "create");
const SERVICES = rule("services", "get");
const NODES = rule("nodes", "get");

describe("staleRules", () => {
  it.each<[string, Selector[], readonly ClusterRole[], PolicyRule[]]>([
    ["roles by name", [{ matchLabels: TO_EDIT }], [role("b", TO_EDIT, SERVICES), role("a", TO_EDIT, PODS)], [PODS, SERVICES]],
    [
      "selectors in their order",
      [{ matchLabels: TO_VIEW }, { matchLabels: TO_EDIT }],
      [role("a", TO_EDIT, PODS), role("b", TO_VIEW, SERVICES)],
      [SERVICES, PODS],
    ],
    [
      "a rule of two roles once",
      [{ matchLabels: TO_EDIT }],
      [role("a", TO_EDIT, PODS, SERVICES), role("b", TO_EDIT, { ...PODS, resourceNames: [] })],
      [PODS, SERVICES],
    ],
    [
      "rules in another order of verbs twice",
      [{ matchLabels: TO_EDIT }],
      [role("a", TO_EDIT, rule("pods", "get", "list"), rule("pods", "list", "get"))],
      [rule("pods", "get", "list"), rule("pods", "list", "get")],
    ],
    [
      "all labels of a selector",
      [{ matchLabels: { ...TO_VIEW, tier: "b" } }],
      [role("a", TO_VIEW, PODS), role("b", { ...TO_VIEW, tier: "b" }, NODES)],
      [NODES],
    ],
    ["an empty selector: every role", [{}], [role("a", {}, PODS), role("z", TO_VIEW, NODES)], [PODS, NODES]],
    [
      "In",
      [{ matchExpressions: [{ key: "tier", operator: "In", values: ["a", "c"] }] }],
      [role("a", TO_VIEW, PODS), role("b", {}, NODES)],
      [PODS],
    ],
    [
      "NotIn, and a role without the label",
      [{ matchExpressions: [{ key: "tier", operator: "NotIn", values: ["a"] }] }],
      [role("a", TO_VIEW, PODS), role("b", {}, NODES)],
      [NODES],
    ],
    ["Exists", [{ matchExpressions: [{ key: "tier", operator: "Exists" }] }], [role("a", TO_VIEW, PODS), role("b", {}, NODES)], [PODS]],
    [
      "DoesNotExist",
      [{ matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }],
      [role("a", TO_VIEW, PODS), role("b", {}, NODES)],
      [NODES],
    ],
    [
      "an operator that nobody knows: nothing",
      [{ matchLabels: {}, matchExpressions: [{ key: "tier", operator: "Gt", values: ["a"] }] }, { matchLabels: TO_EDIT }],
      [role("a", TO_VIEW, PODS), role("b", TO_EDIT, NODES)],
      [NODES],
    ],
    [
      "a label named like a member of every object",
      [{ matchLabels: { toString: "x" } }, { matchLabels: TO_EDIT }],
      [role("a", TO_EDIT, PODS)],
      [PODS],
    ],
  ])("aggregates %s", (_, selectors, roles, rules) => {
    expect(staleRules([aggregated("m", selectors), ...roles])).toEqual(new Map([["m", rules]]));
  });

  it("a role that has its rules, and one without aggregationRule: are left alone", () => {
    const roles = [aggregated("edit", [{ matchLabels: TO_EDIT }], [PODS]), role("a", TO_EDIT, PODS)];
    expect(staleRules(roles)).toEqual(new Map());
  });

  it("a role that selects itself: takes nothing of its own", () => {
    const self = aggregated("self", [{ matchLabels: TO_EDIT }], [PODS], TO_EDIT);
    expect(staleRules([self])).toEqual(new Map([["self", []]]));
  });

  it("aggregated roles of aggregated roles: get in one pass what those are to have", () => {
    const view = aggregated("view", [{ matchLabels: TO_VIEW }], [], TO_EDIT);
    const edit = aggregated("edit", [{ matchLabels: TO_EDIT }]);
    const leaf = role("leaf", TO_VIEW, SERVICES);
    const both = [["edit", [SERVICES]] as const, ["view", [SERVICES]] as const];
    expect(staleRules([edit, view, leaf])).toEqual(new Map(both));
    expect(staleRules([edit, { ...view, rules: [SERVICES] }, leaf])).toEqual(new Map([["edit", [SERVICES]]]));
  });

  it("roles that aggregate each other: each has the rules of both, and keeps what comes from the other one", () => {
    const one = aggregated("one", [{ matchLabels: TO_EDIT }], [], TO_VIEW);
    const other = aggregated("other", [{ matchLabels: TO_VIEW }], [], TO_EDIT);
    expect(staleRules([one, other, role("leaf", TO_EDIT, PODS)])).toEqual(
      new Map([
        ["one", [PODS]],
        ["other", [PODS]],
      ]),
    );
    expect(
      staleRules([
        { ...one, rules: [PODS] },
        { ...other, rules: [PODS] },
      ]),
    ).toEqual(new Map());
  });

  it("no selectors: no rules", () => {
    expect(staleRules([aggregated("none", [], [PODS])])).toEqual(new Map([["none", []]]));
  });

  it("many rules: taken in about linear time", () => {
    const rules = Array.from({ length: 40_000 }, (_, i) => rule(`kind-${String(i)}`, "get"));
    // Each rule against each would take longer than any test may.
    expect(staleRules([aggregated("m", [{}]), role("a", {}, ...rules), role("b", {}, ...rules)]).get("m")?.length).toBe(rules.length);
  });
});
