import { describe, expect, it } from "vitest";
import { defaultPolicy } from "../../../../src/access/rbac/default-policy";
import { reconcileBinding, reconcileRole } from "../../../../src/access/rbac/reconcile-default";
import type { DefaultWrite } from "../../../../src/access/rbac/reconcile-default";
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RbacSubject } from "../../../../src/api/meta/kubernetes";

const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const rule = (verbs: string[], ...resources: string[]): PolicyRule => ({ apiGroups: [""], resources, verbs });
const select = (value: string) => ({ matchLabels: { to: value } });
const WANTED_META = { name: "r", labels: { boot: "rbac" }, annotations: { [AUTO_UPDATE]: "true" } };
const wantedRole = (rest: Partial<ClusterRole>): ClusterRole => ({ metadata: WANTED_META, ...rest });
const stored = (rest: Partial<ClusterRole>, labels = {}, annotations = {}): ClusterRole => ({
  metadata: {
    ...WANTED_META,
    uid: "1",
    resourceVersion: "7",
    labels: { ...WANTED_META.labels, ...labels },
    annotations: { ...WANTED_META.annotations, ...annotations },
  },
  ...rest,
});

const roles: [title: string, existing: ClusterRole | undefined, wanted: ClusterRole, write: DefaultWrite<ClusterRole> | undefined][] = [
  [
    "no role: is created",
    undefined,
    wantedRole({ rules: [rule(["get"], "pods")] }),
    { operation: "create", object: wantedRole({ rules: [rule(["get"], "pods")] }) },
  ],
  ["the same role: stays", stored({ rules: [rule(["get"], "pods")] }), wantedRole({ rules: [rule(["get"], "pods")] }), undefined],
  [
    "missing rights: each is added, extra ones stay",
    stored({ rules: [rule(["get"], "pods"), rule(["create"], "secrets")] }),
    wantedRole({ rules: [rule(["get", "list"], "pods", "services")] }),
    {
      operation: "update",
      object: stored({
        rules: [
          rule(["get"], "pods"),
          rule(["create"], "secrets"),
          rule(["list"], "pods"),
          rule(["get"], "services"),
          rule(["list"], "services"),
        ],
      }),
    },
  ],
  ["rights that a wider rule has: stays", stored({ rules: [rule(["*"], "*")] }), wantedRole({ rules: [rule(["get"], "pods")] }), undefined],
  [
    "role that opted out: stays",
    stored({ rules: [] }, {}, { [AUTO_UPDATE]: "false" }),
    wantedRole({ rules: [rule(["get"], "pods")] }),
    undefined,
  ],
  [
    "labels and annotations of others: stay",
    stored({}, { mine: "1", boot: "mine" }, { note: "n", [AUTO_UPDATE]: "yes" }),
    wantedRole({}),
    undefined,
  ],
  [
    "missing label and annotation: are added",
    { metadata: { name: "r", labels: { mine: "1" } } },
    wantedRole({}),
    {
      operation: "update",
      object: { metadata: { name: "r", labels: { boot: "rbac", mine: "1" }, annotations: { [AUTO_UPDATE]: "true" } }, rules: [] },
    },
  ],
  [
    "missing selector: is added, extra ones and the gathered rules stay",
    stored({ aggregationRule: { clusterRoleSelectors: [select("mine")] }, rules: [rule(["get"], "pods")] }),
    wantedRole({ aggregationRule: { clusterRoleSelectors: [select("x")] } }),
    {
      operation: "update",
      object: stored({ aggregationRule: { clusterRoleSelectors: [select("mine"), select("x")] }, rules: [rule(["get"], "pods")] }),
    },
  ],
  [
    "role that gathers and is not to: stops to",
    stored({ aggregationRule: { clusterRoleSelectors: [select("x")] }, rules: [rule(["get"], "pods")] }),
    wantedRole({ rules: [rule(["get"], "pods")] }),
    { operation: "update", object: stored({ rules: [rule(["get"], "pods")] }) },
  ],
];

const ref = (name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name });
const user = (name: string): RbacSubject => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name });
const account = (name: string): RbacSubject => ({ kind: "ServiceAccount", name, namespace: "kube-system" });
const wantedBinding = (...subjects: RbacSubject[]): ClusterRoleBinding => ({ metadata: WANTED_META, roleRef: ref("r"), subjects });
const storedBinding = (roleName: string, subjects: RbacSubject[], annotations = {}): ClusterRoleBinding => ({
  metadata: { ...WANTED_META, uid: "1", annotations: { ...WANTED_META.annotations, ...annotations } },
  roleRef: ref(roleName),
  subjects,
});

const bindings: [
  title: string,
  existing: ClusterRoleBinding | undefined,
  wanted: ClusterRoleBinding,
  write: DefaultWrite<ClusterRoleBinding> | undefined,
][] = [
  ["no binding: is created", undefined, wantedBinding(user("a")), { operation: "create", object: wantedBinding(user("a")) }],
  ["the same binding: stays", storedBinding("r", [user("a")]), wantedBinding(user("a")), undefined],
  [
    "missing subjects: are added once, extra ones stay",
    storedBinding("r", [user("mine")]),
    wantedBinding(user("a"), user("a"), account("b")),
    { operation: "update", object: storedBinding("r", [user("mine"), user("a"), account("b")]) },
  ],
  [
    "account with an empty group: is the same",
    storedBinding("r", [{ ...account("b"), apiGroup: "" }]),
    wantedBinding(account("b")),
    undefined,
  ],
  [
    "account of another namespace: is another",
    storedBinding("r", [{ ...account("b"), namespace: "x" }]),
    wantedBinding(account("b")),
    { operation: "update", object: storedBinding("r", [{ ...account("b"), namespace: "x" }, account("b")]) },
  ],
  [
    "another role: the binding is made anew",
    storedBinding("other", [user("mine")]),
    wantedBinding(user("a")),
    { operation: "recreate", object: wantedBinding(user("a")) },
  ],
  [
    "another role of a binding that opted out: stays",
    storedBinding("other", [], { [AUTO_UPDATE]: "false" }),
    wantedBinding(user("a")),
    undefined,
  ],
];

describe("default role at a start", () => {
  it.each(roles)("%s", (_title, existing, wanted, write) => {
    expect(reconcileRole(existing, wanted)).toEqual(write);
  });
});

describe("default binding at a start", () => {
  it.each(bindings)("%s", (_title, existing, wanted, write) => {
    expect(reconcileBinding(existing, wanted)).toEqual(write);
  });
});

it("all defaults as a start wrote them: the next start writes nothing", () => {
  for (const entry of defaultPolicy()) {
    const write =
      entry.kind === "ClusterRole" || entry.kind === "Role"
        ? reconcileRole(structuredClone(entry.object), entry.object)
        : reconcileBinding(structuredClone(entry.object), entry.object);
    expect(write, `${entry.kind} ${entry.object.metadata?.name ?? ""}`).toBeUndefined();
  }
});
