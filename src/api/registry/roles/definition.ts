/** Roles and ClusterRoles (upstream pkg/registry/rbac/role and clusterrole; columns: pkg/printers/internalversion/printers.go). */
import type { ClusterRole, KubeObject, Role } from "../../meta/kubernetes";
import { RBAC_GROUP } from "../../meta/rbac-names";
import { ClusterRoleSchema, RoleSchema } from "../../schema/kinds/rbac";
import { NAME_COLUMN, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { type Cell, type ColumnDefinition, defineResource } from "../resource";
import { clusterRoleStrategy, roleStrategy } from "./strategy";

const CREATED_AT: ColumnDefinition = {
  name: "Created At",
  type: "date",
  format: "",
  description: "Time when the object was created.",
  priority: 0,
};

const ROLE = {
  ...COMMON,
  group: RBAC_GROUP,
  versions: ["v1"],
  columns: [NAME_COLUMN, CREATED_AT],
  cells: (role: KubeObject): Cell[] => [nameOf(role), role.metadata?.creationTimestamp ?? ""],
  allowCreateOnUpdate: true,
} as const;

export const rolesDefinition = defineResource<Role>({
  ...ROLE,
  resource: "roles",
  singular: "role",
  kind: "Role",
  schema: RoleSchema,
  strategy: roleStrategy,
});

export const clusterRolesDefinition = defineResource<ClusterRole>({
  ...ROLE,
  resource: "clusterroles",
  singular: "clusterrole",
  kind: "ClusterRole",
  namespaced: false,
  schema: ClusterRoleSchema,
  strategy: clusterRoleStrategy,
});
