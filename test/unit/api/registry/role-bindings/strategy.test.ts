import { expect, it } from "vitest";
import type { RoleBinding } from "../../../../../src/api/meta/kubernetes";
import { clusterRoleBindingsDefinition, roleBindingsDefinition } from "../../../../../src/api/registry/role-bindings/definition";
import { create, update } from "../outcomes";

type Subject = NonNullable<RoleBinding["subjects"]>[number];

const GROUP = "rbac.authorization.k8s.io";
const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name: "view" };
const GROUP_ONLY = `supported values: "${GROUP}"`;
const KINDS = `supported values: "ServiceAccount", "User", "Group"`;

function aBinding(content: Partial<RoleBinding> = {}): RoleBinding {
  return { metadata: { name: "a" }, roleRef, ...content };
}

it.each<{ name: string; ref: object; want: string[]; ofCluster?: string[] }>([
  { name: "a ClusterRole", ref: { kind: "ClusterRole", name: "system:view" }, want: [] },
  {
    name: "a Role",
    ref: { kind: "Role", name: "view" },
    want: [],
    ofCluster: ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  },
  {
    name: "nothing",
    ref: {},
    want: ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', "roleRef.name: Required value"],
    ofCluster: ['roleRef.kind: Unsupported value: "": supported values: "ClusterRole"', "roleRef.name: Required value"],
  },
  {
    name: "a role of another group, by a name that is a path",
    ref: { apiGroup: "example.com", kind: "ClusterRole", name: "a/b" },
    want: [
      `roleRef.apiGroup: Unsupported value: "example.com": ${GROUP_ONLY}`,
      "roleRef.name: Invalid value: \"a/b\": may not contain '/'",
    ],
  },
])("binding of $name: upstream's errors", ({ ref, want, ofCluster = want }) => {
  const sent = aBinding({ roleRef: ref as RoleBinding["roleRef"] });
  expect(create(roleBindingsDefinition, sent).errors).toEqual(want);
  expect(create(clusterRoleBindingsDefinition, sent).errors).toEqual(ofCluster);
});

it("binding without a roleRef: upstream's errors", () => {
  expect(create(clusterRoleBindingsDefinition, { metadata: { name: "a" } }).errors).toEqual([
    'roleRef.kind: Unsupported value: "": supported values: "ClusterRole"',
    "roleRef.name: Required value",
  ]);
});

it.each<{ name: string; subject: Subject; want: unknown[]; ofCluster?: unknown[] }>([
  { name: "a user", subject: { kind: "User", name: "ann@example.com" }, want: [] },
  { name: "a group", subject: { kind: "Group", apiGroup: GROUP, name: "system:authenticated" }, want: [] },
  { name: "a ServiceAccount", subject: { kind: "ServiceAccount", name: "robot", namespace: "ns" }, want: [] },
  {
    name: "a ServiceAccount without a namespace",
    subject: { kind: "ServiceAccount", name: "robot" },
    want: [],
    ofCluster: ["subjects[0].namespace: Required value"],
  },
  { name: "a user without a name", subject: { kind: "User", name: "" }, want: ["subjects[0].name: Required value"] },
  {
    name: "a user of another group",
    subject: { kind: "User", apiGroup: "example.com", name: "ann" },
    want: [`subjects[0].apiGroup: Unsupported value: "example.com": ${GROUP_ONLY}`],
  },
  {
    name: "a group of another group",
    subject: { kind: "Group", apiGroup: "example.com", name: "all" },
    want: [`subjects[0].apiGroup: Unsupported value: "example.com": ${GROUP_ONLY}`],
  },
  {
    name: "a ServiceAccount with a group and a bad name",
    subject: { kind: "ServiceAccount", apiGroup: GROUP, name: "Robot", namespace: "ns" },
    want: [
      expect.stringMatching(/^subjects\[0\].name: Invalid value: "Robot": a lowercase RFC 1123 subdomain must consist of/),
      `subjects[0].apiGroup: Unsupported value: "${GROUP}": supported values: ""`,
    ],
  },
  {
    name: "a ServiceAccount without anything",
    subject: { kind: "ServiceAccount", name: "" },
    want: ["subjects[0].name: Required value"],
    ofCluster: ["subjects[0].name: Required value", "subjects[0].namespace: Required value"],
  },
  {
    name: "a Node",
    subject: { kind: "Node", name: "" },
    want: ["subjects[0].name: Required value", `subjects[0].kind: Unsupported value: "Node": ${KINDS}`],
  },
])("binding to $name: upstream's errors", ({ subject, want, ofCluster = want }) => {
  const sent = aBinding({ subjects: [subject] });
  expect(create(roleBindingsDefinition, sent).errors).toEqual(want);
  expect(create(clusterRoleBindingsDefinition, sent).errors).toEqual(ofCluster);
});

it("apiGroup: that of roles unless it is given, and none for a ServiceAccount", () => {
  const subjects: Subject[] = [
    { kind: "User", name: "ann" },
    { kind: "Group", name: "all" },
    { kind: "ServiceAccount", name: "robot", namespace: "ns" },
  ];
  const { object, errors } = create(roleBindingsDefinition, aBinding({ roleRef: { kind: "Role", name: "r" } as never, subjects }));
  expect([object.roleRef, object.subjects, errors]).toEqual([
    { apiGroup: GROUP, kind: "Role", name: "r" },
    [
      { kind: "User", apiGroup: GROUP, name: "ann" },
      { kind: "Group", apiGroup: GROUP, name: "all" },
      { kind: "ServiceAccount", name: "robot", namespace: "ns" },
    ],
    [],
  ]);
});

it("roleRef: never changes; subjects do", () => {
  const { object } = create(roleBindingsDefinition, aBinding());
  for (const definition of [roleBindingsDefinition, clusterRoleBindingsDefinition]) {
    const before = definition.namespaced ? object : create(definition, aBinding()).object;
    expect(update(definition, { before, after: { ...before, subjects: [{ kind: "User", name: "ann" }] } }).errors).toEqual([]);
    expect(update(definition, { before, after: { ...before, roleRef: { kind: "ClusterRole", name: "view" } as never } }).errors).toEqual(
      [],
    );
    expect(update(definition, { before, after: { ...before, roleRef: { ...roleRef, name: "edit" } } }).errors).toEqual([
      `roleRef: Invalid value: {"APIGroup":"${GROUP}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
    ]);
  }
});

it("name: a segment of a path", () => {
  expect(create(roleBindingsDefinition, aBinding({ metadata: { name: "system:A" } })).errors).toEqual([]);
  expect(create(clusterRoleBindingsDefinition, aBinding({ metadata: { name: "." } })).errors).toEqual([
    "metadata.name: Invalid value: \".\": may not be '.'",
  ]);
});

it("cells: the role, and subjects by kind with -o wide", () => {
  const subjects: Subject[] = [
    { kind: "User", name: "ann" },
    { kind: "ServiceAccount", name: "robot", namespace: "ns" },
    { kind: "User", name: "bert" },
    { kind: "Group", name: "all" },
    { kind: "ServiceAccount", name: "here" },
  ];
  const binding = aBinding({ metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" as never }, subjects });
  const want = ["a", "ClusterRole/view", "60s", "ann, bert", "all", "ns/robot, /here"];
  for (const { cells, columns } of [roleBindingsDefinition, clusterRoleBindingsDefinition]) {
    expect(cells(binding, Date.UTC(2026, 0, 1, 0, 1))).toEqual(want);
    expect(columns.map(({ name, priority }) => `${name} ${String(priority)}`)).toEqual([
      "Name 0",
      "Role 0",
      "Age 0",
      "Users 1",
      "Groups 1",
      "ServiceAccounts 1",
    ]);
  }
});
