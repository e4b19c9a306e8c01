import type { RbacKind } from "../../access/rbac/policy";

export const RBAC_RESOURCES: Readonly<Record<RbacKind, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};
