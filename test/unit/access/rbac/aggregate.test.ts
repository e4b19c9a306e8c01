import { describe, expect, it } from "vitest";
import { aggregatedRules } from "../../../../src/access/rbac/aggregate";
import type { ClusterRole, PolicyRule } from "../../../../src/api/meta/kubernetes";

const rule = (resource: string): PolicyRule => ({ verbs: ["get"], apiGroups: [""], resources: [resource] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]): ClusterRole => ({
  metadata: { name, labels },
  rules: resources.map(rule),
});
type Selectors = NonNullable<NonNullable<ClusterRole["aggregationRule"]>["clusterRoleSelectors"]>;

const OTHERS = [
  role("c", { to: "x", tier: "1" }, "pods", "services"),
  role("b", { to: "x" }, "services", "endpoints"),
  role("d", { to: "y", tier: "2" }, "nodes"),
  { metadata: { name: "e" }, rules: [rule("leases")] },
];

const cases: [title: string, selectors: Selectors, resources: string][] = [
  ["one label: the rules by name of the role, each once", [{ matchLabels: { to: "x" } }], "services endpoints pods"],
  ["several selectors: one after the other", [{ matchLabels: { to: "y" } }, { matchLabels: { to: "x" } }], "nodes services endpoints pods"],
  ["selectors that overlap: each rule once", [{ matchLabels: { tier: "1" } }, { matchLabels: { to: "x" } }], "pods services endpoints"],
  ["several labels: all of them", [{ matchLabels: { to: "x", tier: "1" } }], "pods services"],
  ["In: one of the values", [{ matchExpressions: [{ key: "to", operator: "In", values: ["y", "z"] }] }], "nodes"],
  ["NotIn: also without the label", [{ matchExpressions: [{ key: "to", operator: "NotIn", values: ["x"] }] }], "nodes leases"],
  ["Exists: any value", [{ matchExpressions: [{ key: "tier", operator: "Exists" }] }], "pods services nodes"],
  ["DoesNotExist: without the label", [{ matchExpressions: [{ key: "to", operator: "DoesNotExist" }] }], "leases"],
  ["label of every object's prototype: not there", [{ matchExpressions: [{ key: "constructor", operator: "Exists" }] }], ""],
  ["empty selector: every other role", [{}], "services endpoints pods nodes leases"],
  ["no match: no rules", [{ matchLabels: { to: "z" } }], ""],
  ["no selectors: no rules", [], ""],
];

describe("aggregated role", () => {
  it.each(cases)("%s", (_title, clusterRoleSelectors, resources) => {
    const gathering = { ...role("a", { to: "x" }, "secrets"), aggregationRule: { clusterRoleSelectors } };
    expect(aggregatedRules(gathering, [gathering, ...OTHERS])?.map((one) => one.resources?.join())).toEqual(
      resources.split(" ").filter(Boolean),
    );
  });

  it("role without an aggregation rule: is left alone", () => {
    expect(aggregatedRules(role("a", {}, "pods"), OTHERS)).toBeUndefined();
  });

  it("role that has its rules: is left alone", () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { to: "x" } }] };
    const rules = ["services", "endpoints", "pods"].map(rule);
    expect(aggregatedRules({ metadata: { name: "a" }, aggregationRule, rules }, OTHERS)).toBeUndefined();
  });

  it("role without rules whose selectors match none: is left alone", () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { to: "z" } }] };
    expect(aggregatedRules({ metadata: { name: "a" }, aggregationRule }, OTHERS)).toBeUndefined();
  });
});
