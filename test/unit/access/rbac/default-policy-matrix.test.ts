/**
 * Who may do what by default: every served resource with its subresources × verbs × scope × role. The rows come from the registry, the expectations from
 * the table below; a resource without a row fails.
 */
import { describe, expect, it } from "vitest";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import { authorize } from "../../../../src/access/authorizer";
import { ANONYMOUS_CALLER, type User } from "../../../../src/access/identity/user";
import type { Policy } from "../../../../src/access/rbac/policy";
import { definitions } from "../../../../src/api/registry/all";
import { REVIEWS } from "../../../../src/worker/routing/review-kinds";
import { gatheredDefaults } from "../../../support/access/gathered-defaults";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
const READ = "get list watch";
const WRITE = "create update patch delete deletecollection";
const ALL = `${READ} ${WRITE}`;

const user = (name: string, ...groups: string[]): User => ({ name, uid: "", groups: [...groups, "system:authenticated"], extra: {} });

/** Bound in namespace `a` alone, and in the whole cluster. */
const USERS: Readonly<Record<string, User>> = {
  "cluster-admin": user("cluster-admin"),
  admin: user("admin"),
  edit: user("edit"),
  view: user("view"),
  "admin in a": user("admin-a"),
  "edit in a": user("edit-a"),
  "view in a": user("view-a"),
  proxier: user("system:kube-proxy"),
  monitoring: user("m", "system:monitoring"),
  nobody: user("bob"),
  node: user("system:node:n", "system:nodes"),
  agent: user("servicenet:agent:n", "servicenet:agents"),
  anonymous: ANONYMOUS_CALLER.user,
};

interface Row {
  /** the aggregated roles: each has what the one before has */
  view?: string;
  edit?: string;
  admin?: string;
  proxier?: string;
  node?: string;
  agent?: string;
  /** everybody who is known */
  known?: string;
}

/** Verbs by `resource[/subresource][.group]`; a node and an agent are asked about an object of their own name. cluster-admin has all, anonymous nothing. */
const TABLE: Readonly<Record<string, Row>> = {
  configmaps: { view: READ, edit: WRITE },
  endpoints: { view: READ, proxier: "list watch", node: "get" },
  events: { view: READ, edit: WRITE, proxier: "create update patch", node: "create update patch" },
  namespaces: { view: READ },
  "namespaces/status": { view: READ },
  "namespaces/finalize": {},
  nodes: { proxier: READ, node: `${READ} create update patch`, agent: `${READ} create update patch delete` },
  "nodes/status": { node: "update patch", agent: "update patch" },
  "nodes/proxy": {},
  "nodes/proxy-config": { proxier: "get", node: "get" },
  "nodes/proxy-health": { node: "create update", agent: "create update patch" },
  pods: { view: READ, edit: WRITE, node: "get create delete", agent: "get create update patch delete" },
  "pods/status": { view: READ, node: "update patch", agent: "update patch" },
  "pods/binding": {},
  bindings: { view: READ },
  "pods/eviction": { edit: "create", node: "create" },
  podtemplates: {},
  resourcequotas: { view: READ },
  "resourcequotas/status": { view: READ },
  secrets: { edit: ALL },
  serviceaccounts: { view: READ, edit: `${WRITE} impersonate` },
  "serviceaccounts/token": { edit: "create", node: "create" },
  services: { view: READ, edit: WRITE, proxier: "list watch", node: READ },
  "services/status": { view: READ },
  "events.events.k8s.io": { view: READ, edit: WRITE, proxier: "create update patch", node: "create update patch" },
  "ipaddresses.networking.k8s.io": {},
  "servicecidrs.networking.k8s.io": { proxier: "list watch" },
  "servicecidrs/status.networking.k8s.io": {},
  "clusterrolebindings.rbac.authorization.k8s.io": {},
  "clusterroles.rbac.authorization.k8s.io": {},
  "rolebindings.rbac.authorization.k8s.io": { admin: ALL },
  "roles.rbac.authorization.k8s.io": { admin: ALL },
  "leases.coordination.k8s.io": { edit: ALL },
  // The fleet is for administrators alone.
  "clusters.servicenet.dev": {},
  "clusters/status.servicenet.dev": {},
  "clusterprofiles.multicluster.x-k8s.io": {},
  // As CRDs, which give nobody a right.
  "ipaddressclaims.ipam.cluster.x-k8s.io": {},
  "ipaddressclaims/status.ipam.cluster.x-k8s.io": {},
  "ipaddresses.ipam.cluster.x-k8s.io": {},
  "inclusterippools.ipam.cluster.x-k8s.io": {},
  "inclusterippools/status.ipam.cluster.x-k8s.io": {},
  "globalinclusterippools.ipam.cluster.x-k8s.io": {},
  "globalinclusterippools/status.ipam.cluster.x-k8s.io": {},
  "inclusterprefixpools.ipam.cluster.x-k8s.io": {},
  "inclusterprefixpools/status.ipam.cluster.x-k8s.io": {},
  "globalinclusterprefixpools.ipam.cluster.x-k8s.io": {},
  "globalinclusterprefixpools/status.ipam.cluster.x-k8s.io": {},
  "endpointslices.discovery.k8s.io": { view: READ, proxier: "list watch" },
  "selfsubjectreviews.authentication.k8s.io": { known: "create" },
  "tokenreviews.authentication.k8s.io": { node: "create" },
  "localsubjectaccessreviews.authorization.k8s.io": { admin: "create", node: "create" },
  "selfsubjectaccessreviews.authorization.k8s.io": { known: "create" },
  "selfsubjectrulesreviews.authorization.k8s.io": { known: "create" },
  "subjectaccessreviews.authorization.k8s.io": { node: "create" },
};

/** The ids of everything served that a right can be about. */
function served(): string[] {
  const id = (group: string, resource: string) => (group === "" ? resource : `${resource}.${group}`);
  const ofDefinitions = definitions.flatMap(({ group, resource, subresources, actions = [], connects = [], views = [], reports = [] }) => [
    id(group, resource),
    ...[...subresources, ...views, ...reports, ...[...actions, ...connects].map(({ name }) => name)].map((name) =>
      id(group, `${resource}/${name}`),
    ),
    ...actions.flatMap(({ collection }) => (collection ? [id(group, collection.resource)] : [])),
  ]);
  return [...ofDefinitions, ...REVIEWS.map(({ group, resource }) => id(group, resource))];
}

function startedPolicy(): Policy {
  const policy = gatheredDefaults();
  for (const name of ["cluster-admin", "admin", "edit", "view"]) {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    policy.put("ClusterRoleBinding", { metadata: { name: `of-${name}` }, roleRef, subjects: [{ kind: "User", name }] });
    policy.put("RoleBinding", { metadata: { name, namespace: "a" }, roleRef, subjects: [{ kind: "User", name: `${name}-a` }] });
  }
  return policy;
}

const words = (text = ""): string[] => text.split(" ").filter((word) => word !== "");

/** What the table says of a user; `isInside` = in namespace `a`. */
function expected(row: Row, who: string, isInside: boolean): string[] {
  const view = words(row.view);
  const edit = [...view, ...words(row.edit)];
  const admin = [...edit, ...words(row.admin)];
  const known = words(row.known);
  switch (who) {
    case "cluster-admin":
      return [...ASKED];
    case "admin":
      return [...known, ...admin];
    case "edit":
      return [...known, ...edit];
    case "view":
      return [...known, ...view];
    case "admin in a":
      return [...known, ...(isInside ? admin : [])];
    case "edit in a":
      return [...known, ...(isInside ? edit : [])];
    case "view in a":
      return [...known, ...(isInside ? view : [])];
    case "proxier":
      return [...known, ...words(row.proxier)];
    case "node":
      return [...known, ...words(row.node)];
    case "agent":
      return [...known, ...words(row.agent)];
    case "anonymous":
      return [];
    default:
      return known;
  }
}

/** Beside the verbs of requests the rights of their own. */
const ASKED = [...VERBS, "impersonate", "bind", "escalate", "use"];

describe("default roles × verbs × resources × scopes", () => {
  const policy = startedPolicy();

  it("the table: has a row for what is served, and no other", () => {
    expect(Object.keys(TABLE).sort()).toEqual([...new Set([...served(), "serviceaccounts/token"])].sort());
  });

  const cases = Object.keys(TABLE).flatMap((id) => ["a", "b", ""].map((namespace) => ({ id, namespace })));
  it.each(cases)("$id in namespace '$namespace': each role has its verbs", ({ id, namespace }) => {
    const [path = "", ...group] = id.split(".");
    const [resource = "", subresource = ""] = path.split("/");
    const found: Record<string, string[]> = {};
    const wanted: Record<string, string[]> = {};
    for (const [who, asker] of Object.entries(USERS)) {
      found[who] = ASKED.filter((verb) => {
        const name = verb === "create" && subresource === "" ? "" : "n";
        const asked = resourceAttributes({ verb, group: group.join("."), resource, subresource, namespace, name });
        return authorize(asker, asked, { modes: ["Node", "RBAC"], policy }).decision === "allow";
      });
      const row = TABLE[id] ?? {};
      wanted[who] = ASKED.filter((verb) => expected(row, who, namespace === "a").includes(verb));
    }
    expect(found).toEqual(wanted);
  });
});
