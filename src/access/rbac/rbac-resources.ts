import type { StoredResource } from "../../api/registry/all";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import type { RbacKind } from "./policy";

export const RBAC_RESOURCES: Readonly<Record<RbacKind, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};

/** The resource whose store has the objects of this kind. */
export function resourceOfKind(kind: RbacKind): StoredResource {
  return { group: RBAC_GROUP, resource: RBAC_RESOURCES[kind] };
}
