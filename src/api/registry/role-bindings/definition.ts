/**
 * RoleBindings and ClusterRoleBindings (upstream pkg/registry/rbac/rolebinding and clusterrolebinding; columns:
 * pkg/printers/internalversion/printers.go).
 */
import type { ClusterRoleBinding, RbacSubject, RoleBinding } from "../../meta/kubernetes";
import { RBAC_GROUP } from "../../meta/rbac-names";
import { ClusterRoleBindingSchema, RoleBindingSchema } from "../../schema/kinds/rbac";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { type Cell, defineResource } from "../resource";
import { type AnyRoleBinding, clusterRoleBindingStrategy, roleBindingStrategy } from "./strategy";

function cells(binding: AnyRoleBinding, now: number): Cell[] {
  const { roleRef, subjects = [] } = binding as Partial<AnyRoleBinding>;
  const named = (kind: string, text: (subject: RbacSubject) => string) =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(text)
      .join(", ");
  return [
    nameOf(binding),
    `${roleRef?.kind ?? ""}/${roleRef?.name ?? ""}`,
    ageOf(binding, now),
    named("User", ({ name }) => name),
    named("Group", ({ name }) => name),
    named("ServiceAccount", ({ namespace = "", name }) => `${namespace}/${name}`),
  ];
}

const BINDING = {
  ...COMMON,
  group: RBAC_GROUP,
  versions: ["v1"],
  columns: [
    NAME_COLUMN,
    column("Role", "Kind and name of the role that is given."),
    AGE_COLUMN,
    column("Users", "Users who get the role.", "wide"),
    column("Groups", "Groups that get the role.", "wide"),
    column("ServiceAccounts", "ServiceAccounts that get the role.", "wide"),
  ],
  cells,
  allowCreateOnUpdate: true,
} as const;

export const roleBindingsDefinition = defineResource<RoleBinding>({
  ...BINDING,
  resource: "rolebindings",
  singular: "rolebinding",
  kind: "RoleBinding",
  schema: RoleBindingSchema,
  strategy: roleBindingStrategy,
});

export const clusterRoleBindingsDefinition = defineResource<ClusterRoleBinding>({
  ...BINDING,
  resource: "clusterrolebindings",
  singular: "clusterrolebinding",
  kind: "ClusterRoleBinding",
  namespaced: false,
  schema: ClusterRoleBindingSchema,
  strategy: clusterRoleBindingStrategy,
});
