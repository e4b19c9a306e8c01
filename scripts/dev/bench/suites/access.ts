/** Checks of rights against 10,000 rules of RBAC, in the shapes that rules come in, and one change among them. */
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import type { Attributes } from "../../../../src/access/authorization/attributes";
import type { User } from "../../../../src/access/identity/user";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { Policy } from "../../../../src/access/rbac/policy";
import type { PolicyRule, RoleRef } from "../../../../src/api/meta/kubernetes";
import { seededRandom } from "../../../../test/support/sim/platform/seeded-random";
import { round } from "../figures";
import type { BenchRow } from "../row";

const SEED = 20_261_126;
const RULES = 10_000;
const NAMESPACES = 100;
const RULES_OF_A_ROLE = 10;
const MEASURE_MS = 400;
const CHECK_US_MAX = 50;

interface Shape {
  readonly name: string;
  readonly note: string;
  build(policy: Policy): void;
  /** the i-th question: an allowed one, then a refused one */
  ask(i: number): { user: User; asked: Attributes };
}

const SHAPES: readonly Shape[] = [
  {
    name: "namespaces",
    note: "a thousand Roles of ten rules in a hundred namespaces, each bound to a user",
    build: (policy) => {
      for (let i = 0; i < RULES / RULES_OF_A_ROLE; i++) {
        const [namespace, name] = [`ns-${i % NAMESPACES}`, `role-${i}`];
        const rules = Array.from({ length: RULES_OF_A_ROLE }, (_, j) => rule(`things-${j}`));
        policy.put("Role", { metadata: { name, namespace }, rules });
        policy.put("RoleBinding", {
          metadata: { name, namespace },
          roleRef: ref("Role", name),
          subjects: [{ kind: "User", name: `user-${i}` }],
        });
      }
    },
    ask: (i) => ({ user: user(`user-${i}`), asked: question(`ns-${i % NAMESPACES}`, i % 2 === 0 ? "things-9" : "other") }),
  },
  {
    name: "one-role",
    note: "one ClusterRole of ten thousand rules, bound to everybody",
    build: (policy) => {
      policy.put("ClusterRole", { metadata: { name: "all" }, rules: Array.from({ length: RULES }, (_, i) => rule(`things-${i}`)) });
      bindToAll(policy, "all");
    },
    ask: (i) => ({ user: user("ann"), asked: question("ns", i % 2 === 0 ? `things-${i * 10}` : "other") }),
  },
  {
    name: "one-role-of-names",
    note: "one ClusterRole of ten thousand rules for one object each, bound to everybody",
    build: (policy) => {
      const rules = Array.from({ length: RULES }, (_, i) => ({ ...rule("things"), resourceNames: [`name-${i}`] }));
      policy.put("ClusterRole", { metadata: { name: "all" }, rules });
      bindToAll(policy, "all");
    },
    ask: (i) => ({ user: user("ann"), asked: question("ns", "things", i % 2 === 0 ? `name-${i * 10}` : "other") }),
  },
  {
    name: "one-group",
    note: "ten thousand ClusterRoles of one rule, each bound to everybody",
    build: (policy) => {
      for (let i = 0; i < RULES; i++) {
        policy.put("ClusterRole", { metadata: { name: `role-${i}` }, rules: [rule(`things-${i}`)] });
        bindToAll(policy, `role-${i}`);
      }
    },
    ask: (i) => ({ user: user("ann"), asked: question("ns", i % 2 === 0 ? `things-${i * 10}` : "other") }),
  },
];

export function benchAccess(): BenchRow[] {
  return SHAPES.flatMap((shape) => {
    const policy = new Policy();
    shape.build(policy);
    measureChecks(policy, shape);
    const checkUs = measureChecks(policy, shape);
    const changeUs = measureChanges(policy);
    return [
      {
        name: `access.rbac.check.${RULES}.${shape.name}`,
        value: round(checkUs),
        unit: "us",
        target: `<= ${CHECK_US_MAX}`,
        ok: checkUs <= CHECK_US_MAX,
        note: shape.note,
      },
      {
        name: `access.rbac.change.${RULES}.${shape.name}`,
        value: round(changeUs),
        unit: "us",
        note: "a binding to everybody is made and taken away",
      },
    ];
  });
}

/** Microseconds of a check, half of them refused. */
function measureChecks(policy: Policy, { ask }: Shape): number {
  const random = seededRandom(SEED);
  const questions = Array.from({ length: 1000 }, () => ask(random.below(1000)));
  let checks = 0;
  const start = performance.now();
  for (;;) {
    for (const { user: asker, asked } of questions) authorizeByRbac(policy, asker, asked);
    checks += questions.length;
    const spentMs = performance.now() - start;
    if (spentMs >= MEASURE_MS) return (spentMs / checks) * 1000;
  }
}

function measureChanges(policy: Policy): number {
  let changes = 0;
  const start = performance.now();
  for (;;) {
    for (let i = 0; i < 100; i++) {
      bindToAll(policy, "role-5000-x");
      policy.remove("ClusterRoleBinding", undefined, "role-5000-x");
    }
    changes += 200;
    const spentMs = performance.now() - start;
    if (spentMs >= MEASURE_MS) return (spentMs / changes) * 1000;
  }
}

function bindToAll(policy: Policy, name: string): void {
  const subjects = [{ kind: "Group", name: "system:authenticated" }];
  policy.put("ClusterRoleBinding", { metadata: { name }, roleRef: ref("ClusterRole", name), subjects });
}

function rule(resource: string): PolicyRule {
  return { verbs: ["get", "list", "watch"], apiGroups: ["example.com"], resources: [resource] };
}

function ref(kind: string, name: string): RoleRef {
  return { apiGroup: "rbac.authorization.k8s.io", kind, name };
}

function user(name: string): User {
  return { name, uid: "", groups: ["developers", "system:authenticated"], extra: {} };
}

function question(namespace: string, resource: string, name = ""): Attributes {
  return resourceAttributes({ verb: "get", group: "example.com", resource, namespace, name });
}
