import { describe, expect, it } from "vitest";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import type { Attributes } from "../../../../src/access/authorization/attributes";
import type { User } from "../../../../src/access/identity/user";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { defaultPolicy } from "../../../../src/access/rbac/default-policy";
import type { Policy } from "../../../../src/access/rbac/policy";
import type { PolicyRule, RbacSubject } from "../../../../src/api/meta/kubernetes";
import { definitions } from "../../../../src/api/registry/all";
import { gatheredDefaults } from "../../../support/access/gathered-defaults";

const tables = import.meta.glob("../../../fixtures/upstream/rbac-*.tsv", { query: "?raw", import: "default" });
const table = String(await tables["../../../fixtures/upstream/rbac-1.36.tsv"]?.());

/** What is served and has no definition of its own, and what upstream's controllers ask about and nobody serves. */
const SERVED_BESIDES = [
  "/serviceaccounts/token",
  "/endpoints/restricted",
  "/services/finalizers",
  "/endpoints/finalizers",
  "networking.k8s.io/servicecidrs/finalizers",
  ...["roles", "rolebindings", "clusterroles", "clusterrolebindings"].map((resource) => `rbac.authorization.k8s.io/${resource}`),
  ...["tokenreviews", "selfsubjectreviews"].map((resource) => `authentication.k8s.io/${resource}`),
  ...["subjectaccessreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews"].map(
    (resource) => `authorization.k8s.io/${resource}`,
  ),
];
const SERVED = new Set([
  ...SERVED_BESIDES,
  ...definitions.flatMap(({ group, resource, subresources = [], actions = [] }) => [
    `${group}/${resource}`,
    ...subresources.map((name) => `${group}/${resource}/${name}`),
    ...actions.flatMap(({ name, collection }) => [
      `${group}/${resource}/${name}`,
      ...(collection ? [`${group}/${collection.resource}`] : []),
    ]),
  ]),
]);
const PATHS_NOT_SERVED = ["/flagz", "/statusz"];

/** This server's own beside upstream's. */
const OWN = new Map<string, PolicyRule[]>([
  ["system:node-proxier", [{ verbs: ["get"], apiGroups: [""], resources: ["nodes/proxy-config"] }]],
  ["servicenet:node-health", [{ verbs: ["get"], nonResourceURLs: ["/nodes/*"] }]],
]);

/** A rule with what is served of it; undefined = nothing. */
function servedPart(rule: PolicyRule): PolicyRule | undefined {
  if (rule.nonResourceURLs) return { ...rule, nonResourceURLs: rule.nonResourceURLs.filter((url) => !PATHS_NOT_SERVED.includes(url)) };
  const resources = (rule.resources ?? []).filter(
    (resource) => resource === "*" || rule.apiGroups?.some((group) => SERVED.has(`${group}/${resource}`)) === true,
  );
  return resources.length === 0 ? undefined : { ...rule, resources };
}

interface Expected {
  labels?: unknown;
  annotations?: unknown;
  aggregationRule?: unknown;
  roleRef?: unknown;
  rules: PolicyRule[];
  subjects: RbacSubject[];
}

function upstreamObjects(): Map<string, Expected> {
  const objects = new Map<string, Expected>();
  for (const line of table.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [kind = "", namespace = "", name = "", member = "", json = ""] = line.split("\t");
    const key = `${kind} ${namespace} ${name}`;
    const object = objects.get(key) ?? { rules: [], subjects: [] };
    objects.set(key, object);
    const value: unknown = JSON.parse(json);
    if (member === "rule") object.rules.push(...[servedPart(value as PolicyRule)].filter((rule) => rule !== undefined));
    else if (member === "subject") object.subjects.push(value as RbacSubject);
    else object[member as "labels"] = value;
  }
  return objects;
}

describe("default roles and bindings", () => {
  const upstream = upstreamObjects();
  const own = defaultPolicy();

  it("upstream's objects: all are there, and no others but the own ones", () => {
    const names = own.map(({ kind, object }) => `${kind} ${object.metadata?.namespace ?? ""} ${object.metadata?.name ?? ""}`);
    expect(names.sort()).toEqual([...upstream.keys(), "ClusterRole  servicenet:node-health"].sort());
  });

  it.each(own.map((entry) => [entry.kind, entry.object.metadata?.name ?? "", entry] as const))(
    "%s %s: as upstream's, as far as its resources are served",
    (kind, name, { object }) => {
      const expected = upstream.get(`${kind} ${object.metadata?.namespace ?? ""} ${name}`);
      const { rules = [], subjects = [], aggregationRule, roleRef } = object as Partial<Expected>;
      expect({ rules, subjects, aggregationRule, roleRef, ...object.metadata }).toEqual({
        name,
        ...(object.metadata?.namespace !== undefined && { namespace: object.metadata.namespace }),
        labels: expected?.labels ?? { "kubernetes.io/bootstrapping": "rbac-defaults" },
        annotations: expected?.annotations ?? { "rbac.authorization.kubernetes.io/autoupdate": "true" },
        aggregationRule: expected?.aggregationRule,
        roleRef: expected?.roleRef,
        rules: [...(expected?.rules ?? []), ...(kind === "ClusterRole" ? (OWN.get(name) ?? []) : [])],
        subjects: expected?.subjects ?? [],
      });
    },
  );
});

/** The defaults, gathered as the controller does it, with admin, edit and view bound to a user of that name in namespace `a`. */
function startedPolicy(): Policy {
  const policy = gatheredDefaults();
  for (const name of ["admin", "edit", "view"]) {
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    policy.put("RoleBinding", { metadata: { name, namespace: "a" }, roleRef, subjects: [{ kind: "User", name }] });
  }
  return policy;
}

const user = (name: string, ...groups: string[]): User => ({ name, groups, uid: "", extra: {} });
const resource = (verb: string, text: string, namespace = "a"): Attributes => {
  const [path = "", ...group] = text.split(".");
  const [name = "", subresource = ""] = path.split("/");
  return resourceAttributes({ verb, resource: name, subresource, group: group.join("."), namespace });
};
const path = (text: string): Attributes => ({ kind: "path", verb: "get", path: text });
const ann = user("ann", "system:authenticated");
const stranger = user("system:anonymous", "system:unauthenticated");
const ROLES = "roles.rbac.authorization.k8s.io";

const cases: [title: string, user: User, asked: Attributes, allowed: boolean][] = [
  ["view: reads Services", user("view"), resource("list", "services"), true],
  ["view: writes no Services", user("view"), resource("create", "services"), false],
  ["view: reads no Secrets", user("view"), resource("get", "secrets"), false],
  ["view: reads no Nodes", user("view"), resource("list", "nodes", ""), false],
  ["view: reads no roles", user("view"), resource("list", ROLES), false],
  ["view: only its namespace", user("view"), resource("list", "services", "b"), false],
  ["edit: reads what view reads", user("edit"), resource("watch", "endpointslices.discovery.k8s.io"), true],
  ["edit: writes Services", user("edit"), resource("create", "services"), true],
  ["edit: reads Secrets", user("edit"), resource("get", "secrets"), true],
  ["edit: writes no status", user("edit"), resource("update", "services/status"), false],
  ["edit: writes no EndpointSlices", user("edit"), resource("create", "endpointslices.discovery.k8s.io"), false],
  ["edit: writes no roles", user("edit"), resource("create", ROLES), false],
  ["edit: evicts Pods", user("edit"), resource("create", "pods/eviction"), true],
  ["admin: writes what edit writes", user("admin"), resource("delete", "services"), true],
  ["admin: writes roles", user("admin"), resource("create", ROLES), true],
  ["admin: does not escalate", user("admin"), resource("escalate", ROLES), false],
  ["admin: writes no cluster roles", user("admin"), resource("create", "clusterroles.rbac.authorization.k8s.io", ""), false],
  ["anybody known: discovery", ann, path("/apis/networking.k8s.io/v1"), true],
  ["anybody known: asks what he may", ann, resource("create", "selfsubjectaccessreviews.authorization.k8s.io", ""), true],
  ["anybody known: no metrics", ann, path("/metrics"), false],
  ["anybody known: no Services", ann, resource("list", "services"), false],
  ["anonymous: health and version", stranger, path("/readyz"), true],
  ["anonymous: no discovery", stranger, path("/api"), false],
  ["anonymous: no single check", stranger, path("/readyz/store"), false],
  ["monitoring: metrics", user("prom", "system:monitoring"), path("/metrics"), true],
  ["monitoring: single checks", user("prom", "system:monitoring"), path("/readyz/store"), true],
  ["monitoring: no ranges", user("prom", "system:monitoring"), path("/ranges"), false],
  ["kube-proxy: watches EndpointSlices", user("system:kube-proxy"), resource("watch", "endpointslices.discovery.k8s.io", ""), true],
  ["kube-proxy: reads what a proxy programs", user("system:kube-proxy"), resource("get", "nodes/proxy-config", ""), true],
  ["kube-proxy: no single Service", user("system:kube-proxy"), resource("get", "services"), false],
  ["node: nothing by role", user("system:node:n", "system:nodes"), resource("list", "services", ""), false],
  [
    "endpointslice controller: writes EndpointSlices",
    user("system:serviceaccount:kube-system:endpointslice-controller"),
    resource("create", "endpointslices.discovery.k8s.io"),
    true,
  ],
  [
    "controller manager: its lock",
    user("system:kube-controller-manager"),
    resource("update", "leases.coordination.k8s.io", "kube-system"),
    true,
  ],
  [
    "controller manager: no lock elsewhere",
    user("system:kube-controller-manager"),
    resource("update", "leases.coordination.k8s.io"),
    false,
  ],
  ["masters by role: everything", user("root", "system:masters"), path("/ranges"), true],
];

describe("default rights", () => {
  const policy = startedPolicy();
  it.each(cases)("%s", (_title, who, asked, allowed) => {
    expect(authorizeByRbac(policy, who, asked).decision).toBe(allowed ? "allow" : "noOpinion");
  });
});
