/**
 * The roles and bindings that a cluster begins with: upstream's, restricted to resources that are served, and few of this server's own.
 * Source: upstream plugin/pkg/auth/authorizer/rbac/bootstrappolicy (policy.go, controller_policy.go, namespace_policy.go).
 */
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RbacSubject, Role, RoleBinding, RoleRef } from "../../api/meta/kubernetes";
import { AUTO_UPDATE, LABEL_BOOTSTRAPPING, RBAC_DEFAULTS, RBAC_GROUP } from "../../api/meta/rbac-names";
import { AUTHENTICATED, MASTERS, UNAUTHENTICATED } from "../identity/user";

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";
const COORDINATION = "coordination.k8s.io";
const DISCOVERY = "discovery.k8s.io";
const EVENTS = "events.k8s.io";
const NETWORKING = "networking.k8s.io";
const CORE = "";

const READ = "get list watch";
const WRITE = "create delete deletecollection patch update";
const READ_WRITE = `${READ} ${WRITE}`;
const HEALTH = "/healthz /livez /readyz";

const KUBE_SYSTEM = "kube-system";
const CONTROLLER = "system:controller:";
const CONTROLLER_MANAGER = "system:kube-controller-manager";
const MANAGER_LOCK = "system::leader-locking-kube-controller-manager";
const AUTHENTICATION_READER = "extension-apiserver-authentication-reader";

/** An object with its kind, as the list of defaults has it. */
export type DefaultObject =
  | { readonly kind: "ClusterRole"; readonly object: ClusterRole }
  | { readonly kind: "ClusterRoleBinding"; readonly object: ClusterRoleBinding }
  | { readonly kind: "Role"; readonly object: Role }
  | { readonly kind: "RoleBinding"; readonly object: RoleBinding };

/** In the order in which a start writes them. Rules of aggregated roles are the controller's. */
export function defaultPolicy(): DefaultObject[] {
  return [
    ...clusterRoles().map((object) => ({ kind: "ClusterRole" as const, object })),
    ...clusterRoleBindings().map((object) => ({ kind: "ClusterRoleBinding" as const, object })),
    ...roles().map((object) => ({ kind: "Role" as const, object })),
    ...roleBindings().map((object) => ({ kind: "RoleBinding" as const, object })),
  ];
}

function clusterRoles(): ClusterRole[] {
  return [
    clusterRole("cluster-admin", [rule("*", ["*"], "*"), { verbs: ["*"], nonResourceURLs: ["*"] }]),
    clusterRole("system:discovery", [paths(`${HEALTH} /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*`)]),
    clusterRole("system:monitoring", [paths(`/metrics /metrics/slis ${HEALTH} /healthz/* /livez/* /readyz/*`)]),
    clusterRole("system:basic-user", [
      rule("create", [AUTHORIZATION], "selfsubjectaccessreviews selfsubjectrulesreviews"),
      rule("create", [AUTHENTICATION], "selfsubjectreviews"),
    ]),
    clusterRole("system:public-info-viewer", [paths(`${HEALTH} /version /version/`)]),
    aggregated("admin"),
    aggregated("edit", "admin"),
    aggregated("view", "edit"),
    aggregatedInto("admin", [
      rule("create", [AUTHORIZATION], "localsubjectaccessreviews"),
      rule(READ_WRITE, [RBAC_GROUP], "roles rolebindings"),
    ]),
    aggregatedInto("edit", editRules()),
    aggregatedInto("view", viewRules()),
    clusterRole("system:node", nodeRules()),
    clusterRole("system:node-problem-detector", [rule("get", [CORE], "nodes"), rule("patch", [CORE], "nodes/status"), eventsRule()]),
    clusterRole("system:auth-delegator", delegationRules()),
    clusterRole(CONTROLLER_MANAGER, controllerManagerRules()),
    clusterRole("system:kube-dns", [rule("list watch", [CORE], "endpoints services")]),
    clusterRole("system:node-proxier", [
      rule("list watch", [CORE], "services endpoints"),
      rule(READ, [CORE], "nodes"),
      eventsRule(),
      rule("list watch", [NETWORKING], "servicecidrs"),
      rule("list watch", [DISCOVERY], "endpointslices"),
      // This server's own: what a proxy without a node of its own programs.
      rule("get", [CORE], "nodes/proxy-config"),
    ]),
    // This server's own: balancers in front of the nodes ask it which of them are well.
    clusterRole("servicenet:node-health", [paths("/nodes/*")]),
    ...Object.entries(controllerRules()).map(([name, rules]) => clusterRole(`${CONTROLLER}${name}`, rules)),
  ];
}

function viewRules(): PolicyRule[] {
  return [
    rule(READ, [CORE], "pods serviceaccounts services services/status endpoints configmaps"),
    rule(READ, [CORE], "resourcequotas bindings pods/status resourcequotas/status namespaces/status"),
    rule(READ, [CORE], "namespaces"),
    rule(READ, [CORE, EVENTS], "events"),
    rule(READ, [DISCOVERY], "endpointslices"),
  ];
}

function editRules(): PolicyRule[] {
  return [
    rule(READ, [CORE], "secrets"),
    rule("impersonate", [CORE], "serviceaccounts"),
    rule(WRITE, [CORE], "pods"),
    rule("create", [CORE], "pods/eviction"),
    rule(WRITE, [CORE], "serviceaccounts services configmaps secrets"),
    rule("create", [CORE], "serviceaccounts/token"),
    rule(WRITE, [CORE, EVENTS], "events"),
    rule(READ_WRITE, [COORDINATION], "leases"),
  ];
}

/** The Node authorizer gives a node these rights, and only over what is its own. */
function nodeRules(): PolicyRule[] {
  return [
    rule("create", [AUTHENTICATION], "tokenreviews"),
    rule("create", [AUTHORIZATION], "subjectaccessreviews localsubjectaccessreviews"),
    rule(READ, [CORE], "services"),
    rule("create get list watch", [CORE], "nodes"),
    rule("update patch", [CORE], "nodes/status"),
    rule("update patch", [CORE], "nodes"),
    eventsRule(),
    rule(READ, [CORE], "pods"),
    rule("create delete", [CORE], "pods"),
    rule("update patch", [CORE], "pods/status"),
    rule("create", [CORE], "pods/eviction"),
    rule(READ, [CORE], "secrets configmaps"),
    rule("get", [CORE], "endpoints"),
    rule("get create update patch delete", [COORDINATION], "leases"),
    rule("create", [CORE], "serviceaccounts/token"),
    rule("get", [CORE], "serviceaccounts"),
  ];
}

function delegationRules(): PolicyRule[] {
  return [rule("create", [AUTHENTICATION], "tokenreviews"), rule("create", [AUTHORIZATION], "subjectaccessreviews")];
}

/** Its controllers have accounts of their own. */
function controllerManagerRules(): PolicyRule[] {
  return [
    eventsRule(),
    rule("create", [COORDINATION], "leases"),
    rule("get update", [COORDINATION], "leases", "kube-controller-manager"),
    rule("create", [CORE], "secrets serviceaccounts"),
    rule("delete", [CORE], "secrets"),
    rule("get", [CORE], "namespaces secrets serviceaccounts configmaps"),
    rule("update", [CORE], "secrets serviceaccounts"),
    ...delegationRules(),
    rule("list watch", ["*"], "*"),
    rule("create", [CORE], "serviceaccounts/token"),
  ];
}

/** By the name of the account in kube-system that each is for: those controllers of a kube-controller-manager whose work is served. */
function controllerRules(): Readonly<Record<string, PolicyRule[]>> {
  return {
    "clusterrole-aggregation-controller": [rule("escalate get list watch update patch", [RBAC_GROUP], "clusterroles")],
    "endpoint-controller": [
      rule(READ, [CORE], "services pods"),
      rule("get list watch create update delete", [CORE], "endpoints"),
      rule("create", [CORE], "endpoints/restricted"),
      eventsRule(),
    ],
    "endpointslice-controller": [
      rule(READ, [CORE], "services pods nodes"),
      rule("update", [CORE], "services/finalizers"),
      rule("get list watch create update delete", [DISCOVERY], "endpointslices"),
      eventsRule(),
    ],
    "endpointslicemirroring-controller": [
      rule(READ, [CORE], "services endpoints"),
      rule("update", [CORE], "services/finalizers"),
      rule("update", [CORE], "endpoints/finalizers"),
      rule("get list watch create update delete", [DISCOVERY], "endpointslices"),
      eventsRule(),
    ],
    "generic-garbage-collector": [rule("get list watch patch update delete", ["*"], "*"), eventsRule()],
    "namespace-controller": [
      rule("get list watch delete", [CORE], "namespaces"),
      rule("update", [CORE], "namespaces/finalize namespaces/status"),
      rule("get list watch delete deletecollection", ["*"], "*"),
    ],
    "node-controller": [
      rule("get list watch update delete patch", [CORE], "nodes"),
      rule("patch update", [CORE], "nodes/status"),
      rule("patch update", [CORE], "pods/status"),
      rule("list watch get delete", [CORE], "pods"),
      eventsRule(),
    ],
    "pod-garbage-collector": [rule("list watch delete", [CORE], "pods"), rule(READ, [CORE], "nodes"), rule("patch", [CORE], "pods/status")],
    "resourcequota-controller": [rule("list watch", ["*"], "*"), rule("update", [CORE], "resourcequotas/status"), eventsRule()],
    "root-ca-cert-publisher": [rule("create update", [CORE], "configmaps"), eventsRule()],
    "service-account-controller": [rule("create", [CORE], "serviceaccounts"), eventsRule()],
    "service-cidrs-controller": [
      rule("get list watch patch update", [NETWORKING], "servicecidrs"),
      rule("patch update", [NETWORKING], "servicecidrs/finalizers"),
      rule("patch update", [NETWORKING], "servicecidrs/status"),
      rule(READ, [NETWORKING], "ipaddresses"),
      eventsRule(),
    ],
    "service-controller": [
      rule(READ, [CORE], "services"),
      rule("patch update", [CORE], "services/status"),
      rule("list watch", [CORE], "nodes"),
      eventsRule(),
    ],
  };
}

function clusterRoleBindings(): ClusterRoleBinding[] {
  return [
    clusterBinding("cluster-admin", group(MASTERS)),
    clusterBinding("system:monitoring", group("system:monitoring")),
    clusterBinding("system:discovery", group(AUTHENTICATED)),
    clusterBinding("system:basic-user", group(AUTHENTICATED)),
    clusterBinding("system:public-info-viewer", group(AUTHENTICATED), group(UNAUTHENTICATED)),
    clusterBinding("system:node-proxier", user("system:kube-proxy")),
    clusterBinding(CONTROLLER_MANAGER, user(CONTROLLER_MANAGER)),
    clusterBinding("system:kube-dns", account("kube-dns")),
    clusterBinding("system:node"),
    ...Object.keys(controllerRules()).map((name) => clusterBinding(`${CONTROLLER}${name}`, account(name))),
  ];
}

function roles(): Role[] {
  return [
    {
      metadata: metadata(AUTHENTICATION_READER, KUBE_SYSTEM),
      rules: [rule(READ, [CORE], "configmaps", "extension-apiserver-authentication")],
    },
    { metadata: metadata(MANAGER_LOCK, KUBE_SYSTEM), rules: [rule("get watch list create update", [COORDINATION], "leases")] },
  ];
}

function roleBindings(): RoleBinding[] {
  return [
    {
      metadata: metadata(`system::${AUTHENTICATION_READER}`, KUBE_SYSTEM),
      roleRef: roleRef("Role", AUTHENTICATION_READER),
      subjects: [user(CONTROLLER_MANAGER), user("system:kube-scheduler")],
    },
    {
      metadata: metadata(MANAGER_LOCK, KUBE_SYSTEM),
      roleRef: roleRef("Role", MANAGER_LOCK),
      subjects: [user(CONTROLLER_MANAGER), account("kube-controller-manager"), account("leader-election-controller")],
    },
  ];
}

/** Lists are texts joined by spaces, and sorted as upstream's. */
function rule(verbs: string, apiGroups: string[], resources: string, resourceName?: string): PolicyRule {
  const names = resourceName !== undefined && { resourceNames: [resourceName] };
  return { verbs: sorted(verbs), apiGroups, resources: sorted(resources), ...names };
}

function paths(nonResourceURLs: string): PolicyRule {
  return { verbs: ["get"], nonResourceURLs: sorted(nonResourceURLs) };
}

function eventsRule(): PolicyRule {
  return rule("create update patch", [CORE, EVENTS], "events");
}

function sorted(texts: string): string[] {
  return texts.split(" ").sort();
}

function metadata(name: string, namespace?: string, into?: string): NonNullable<Role["metadata"]> {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { [LABEL_BOOTSTRAPPING]: RBAC_DEFAULTS, ...(into !== undefined && { [aggregateTo(into)]: "true" }) },
    annotations: { [AUTO_UPDATE]: "true" },
  };
}

function aggregateTo(name: string): string {
  return `${RBAC_GROUP}/aggregate-to-${name}`;
}

function clusterRole(name: string, rules: PolicyRule[]): ClusterRole {
  return { metadata: metadata(name), rules };
}

/** A role that gathers those with its label, and is itself gathered `into` another. */
function aggregated(name: string, into?: string): ClusterRole {
  return {
    metadata: metadata(name, undefined, into),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregateTo(name)]: "true" } }] },
  };
}

function aggregatedInto(name: string, rules: PolicyRule[]): ClusterRole {
  return { metadata: metadata(`system:aggregate-to-${name}`, undefined, name), rules };
}

function clusterBinding(name: string, ...subjects: RbacSubject[]): ClusterRoleBinding {
  return { metadata: metadata(name), roleRef: roleRef("ClusterRole", name), ...(subjects.length > 0 && { subjects }) };
}

function roleRef(kind: string, name: string): RoleRef {
  return { apiGroup: RBAC_GROUP, kind, name };
}

function user(name: string): RbacSubject {
  return { apiGroup: RBAC_GROUP, kind: "User", name };
}

function group(name: string): RbacSubject {
  return { apiGroup: RBAC_GROUP, kind: "Group", name };
}

function account(name: string): RbacSubject {
  return { kind: "ServiceAccount", name, namespace: KUBE_SYSTEM };
}
