/** Names that everything about roles shares (k8s.io/api rbac/v1, upstream plugin/pkg/auth/authorizer/rbac/bootstrappolicy). */

/** The group of roles, of bindings, and of the users and groups that bindings name. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** The label of roles and bindings that a server makes itself, and its value. */
export const LABEL_BOOTSTRAPPING = "kubernetes.io/bootstrapping";
export const RBAC_DEFAULTS = "rbac-defaults";

/** The annotation of such a one: "false" = a start leaves it as it is. */
export const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
