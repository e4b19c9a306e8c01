import { expect, it } from "vitest";
import type { ClusterRole, Role } from "../../../../../src/api/meta/kubernetes";
import { clusterRolesDefinition, rolesDefinition } from "../../../../../src/api/registry/roles/definition";
import { create, update } from "../outcomes";

type Rule = NonNullable<Role["rules"]>[number];

const READ_PODS: Rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const URLS: Rule = { verbs: ["get"], nonResourceURLs: ["/healthz", "/healthz/*"] };

const NO_VERBS = "rules[0].verbs: Required value: verbs must contain at least one value";
const NO_GROUPS = "rules[0].apiGroups: Required value: resource rules must supply at least one api group";
const NO_RESOURCES = "rules[0].resources: Required value: resource rules must supply at least one resource";
const BOTH = `rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs`;
const NAMESPACED = `rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs`;

it.each<{ name: string; rules: Rule[]; want: string[]; ofRole?: string[] }>([
  { name: "no rules", rules: [], want: [] },
  { name: "a rule", rules: [READ_PODS], want: [] },
  { name: "names of objects of several resources", rules: [{ ...READ_PODS, resources: ["pods", "*"], resourceNames: ["a"] }], want: [] },
  { name: "a rule without anything", rules: [{} as Rule], want: [NO_VERBS, NO_GROUPS, NO_RESOURCES] },
  { name: "a rule without verbs", rules: [{ ...READ_PODS, verbs: [] }], want: [NO_VERBS] },
  {
    name: "the second rule without groups",
    rules: [READ_PODS, { ...READ_PODS, apiGroups: [] }],
    want: [NO_GROUPS.replace("[0]", "[1]")],
  },
  { name: "a rule without resources", rules: [{ verbs: ["*"], apiGroups: ["*"] }], want: [NO_RESOURCES] },
  { name: "paths", rules: [{ ...URLS, nonResourceURLs: ["/healthz"] }], want: [], ofRole: [NAMESPACED] },
  { name: "paths and resources", rules: [{ ...READ_PODS, nonResourceURLs: ["/healthz"] }], want: [BOTH], ofRole: [NAMESPACED, BOTH] },
  {
    name: "paths and names, without verbs",
    rules: [{ verbs: [], nonResourceURLs: ["/healthz"], resourceNames: ["a"] }],
    want: [NO_VERBS, BOTH],
    ofRole: [NO_VERBS, NAMESPACED, BOTH],
  },
])("role with $name: upstream's errors", ({ rules, want, ofRole = want }) => {
  const metadata = { name: "a" };
  expect(create(clusterRolesDefinition, { metadata, rules }).errors).toEqual(want);
  expect(create(rolesDefinition, { metadata, rules }).errors).toEqual(ofRole);
});

it.each<{ name: string; aggregationRule: NonNullable<ClusterRole["aggregationRule"]>; want: unknown[] }>([
  { name: "labels", aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }, {}] }, want: [] },
  {
    name: "nothing",
    aggregationRule: {},
    want: ["aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil"],
  },
  {
    name: "labels that cannot be",
    aggregationRule: { clusterRoleSelectors: [{}, { matchLabels: { a: "-" } }] },
    want: [
      expect.stringMatching(/^aggregationRule.clusterRoleSelectors\[1\].matchLabels: Invalid value: "-": a valid label must be/),
      "aggregationRule.clusterRoleSelectors[1]: Invalid value: null: invalid label selector.",
    ],
  },
])("ClusterRole that aggregates by $name: upstream's errors", ({ aggregationRule, want }) => {
  expect(create(clusterRolesDefinition, { metadata: { name: "a" }, aggregationRule }).errors).toEqual(want);
});

it.each<[string, string[]]>([
  ["system:controller:a.B_c", []],
  ["a/b%", ["metadata.name: Invalid value: \"a/b%\": may not contain '/'", "metadata.name: Invalid value: \"a/b%\": may not contain '%'"]],
  ["..", ["metadata.name: Invalid value: \"..\": may not be '..'"]],
])("name %s: a segment of a path, as upstream", (name, want) => {
  expect(create(rolesDefinition, { metadata: { name } }).errors).toEqual(want);
  expect(create(clusterRolesDefinition, { metadata: { name } }).errors).toEqual(want);
});

it.each([undefined, []])("rules %j: stored as null", (rules) => {
  const sent: Role = { metadata: { name: "a" }, ...(rules && { rules }) };
  expect(create(rolesDefinition, sent).object.rules).toBeNull();
  expect(create(clusterRolesDefinition, sent).object.rules).toBeNull();
});

it("update: judged as a create", () => {
  const { object } = create<Role>(rolesDefinition, { metadata: { name: "a" }, rules: [READ_PODS] });
  expect(update(rolesDefinition, { before: object, after: { ...object, rules: [URLS] } }).errors).toEqual([
    NAMESPACED.replace('["/healthz"]', '["/healthz","/healthz/*"]'),
  ]);
  expect(update(rolesDefinition, { before: object, after: { ...object, rules: [] } })).toMatchObject({
    errors: [],
    object: { rules: null },
  });
});

it("cells: the name and when it was made", () => {
  const role: Role = { metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" } };
  expect(rolesDefinition.columns.map(({ name, type }) => `${name} ${type}`)).toEqual(["Name string", "Created At date"]);
  expect(rolesDefinition.cells(role, 0)).toEqual(["a", "2026-01-01T00:00:00Z"]);
  expect(clusterRolesDefinition.cells({}, 0)).toEqual(["", ""]);
});
