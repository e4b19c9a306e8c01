import { expect, it } from "vitest";
import { resourceAttributes } from "../../../../src/access/authorization/attributes";
import type { Attributes, Decision } from "../../../../src/access/authorization/attributes";
import { serviceAccountUserName } from "../../../../src/access/identity/user";
import type { User } from "../../../../src/access/identity/user";
import { authorizeByRbac } from "../../../../src/access/rbac/authorize";
import { CompiledPolicy, policyFrom } from "../../../../src/access/rbac/compiled-policy";
import type { RulesTaken } from "../../../../src/access/rbac/followed-policy";
import { Policy } from "../../../../src/access/rbac/policy";
import type { RbacKind, RbacObjects } from "../../../../src/access/rbac/policy";
import { policyRulesIn } from "../../../../src/access/rbac/rules-in";
import type { WordRandom } from "../../../../src/core/base/word-random";
import type { ClusterRoleBinding, PolicyRule, RbacSubject, RoleBinding, RoleRef } from "../../../../src/api/meta/kubernetes";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { expectSame } from "../../../support/values/same";

const SEED = Number(process.env["SEED"] ?? 20_261_126);
const HISTORIES = 40;
const STEPS = 60;
const QUESTIONS = 6;

const KINDS: readonly RbacKind[] = ["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];
const NAMESPACES = ["a", "b"];
const NAMES = ["r1", "r2", "r3", "r4"];
const USERS = ["ann", "devs", serviceAccountUserName("a", "ann"), serviceAccountUserName("b", "default")];
const GROUPS = ["devs", "ops", "ann", "system:authenticated"];
const VERBS = ["get", "list", "create", "*"];
const API_GROUPS = ["", "apps", "*"];
const RESOURCES = ["pods", "pods/status", "*/status", "*", "pods/*", "services"];
const OBJECTS = ["x", "y", ""];
const PATHS = ["/metrics", "/metrics/*", "/m*", "*", "/healthz", "/healthz**"];
const ASKED_PATHS = ["/metrics", "/metrics/slis", "/healthz", "/healthz/etcd", "/other"];

/** The objects as they are stored, read anew for each question. */
type Plain = Map<string, { kind: RbacKind; object: RbacObjects[RbacKind] }>;

function some<T>(random: WordRandom, all: readonly T[], atMost: number): T[] {
  return Array.from({ length: Math.ceil(random.below(atMost * 4 + 1) / 4) }, () => pick(random, all));
}

function randomRule(random: WordRandom): PolicyRule {
  if (random.below(4) === 0) return { verbs: some(random, VERBS, 2), nonResourceURLs: some(random, PATHS, 3) };
  const rule: PolicyRule = { verbs: some(random, VERBS, 3), apiGroups: some(random, API_GROUPS, 2), resources: some(random, RESOURCES, 3) };
  return random.below(2) === 0 ? rule : { ...rule, resourceNames: some(random, OBJECTS, 2) };
}

function randomSubject(random: WordRandom): RbacSubject {
  switch (random.below(4)) {
    case 0:
      return { kind: "User", name: pick(random, USERS) };
    case 1:
      return { kind: "Group", name: pick(random, GROUPS) };
    case 2:
      return { kind: "ServiceAccount", name: pick(random, ["ann", "default"]), namespace: pick(random, NAMESPACES) };
    default:
      return { kind: "ServiceAccount", name: pick(random, ["ann", "default"]) };
  }
}

function change(random: WordRandom, policy: RulesTaken, plain: Plain): void {
  const kind = pick(random, KINDS);
  const ofCluster = kind === "ClusterRole" || kind === "ClusterRoleBinding";
  const namespace = ofCluster ? undefined : pick(random, NAMESPACES);
  const name = pick(random, NAMES);
  const key = `${kind} ${namespace ?? ""} ${name}`;
  if (random.below(8) === 0) {
    policy.remove(kind, namespace, name);
    plain.delete(key);
    return;
  }
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  const rules = Array.from({ length: random.below(8) }, () => randomRule(random));
  const roleRef: RoleRef = {
    apiGroup: "rbac.authorization.k8s.io",
    kind: ofCluster ? "ClusterRole" : pick(random, ["Role", "ClusterRole"]),
    name: pick(random, NAMES),
  };
  const subjects = Array.from({ length: random.below(5) }, () => randomSubject(random));
  const object = kind === "Role" || kind === "ClusterRole" ? { metadata, rules } : { metadata, roleRef, subjects };
  policy.put(kind, object as RbacObjects[typeof kind]);
  plain.set(key, { kind, object });
}

function randomQuestion(random: WordRandom): { user: User; asked: Attributes } {
  const user = { name: pick(random, USERS), uid: "", groups: some(random, GROUPS, 3), extra: {} };
  if (random.below(4) === 0) return { user, asked: { kind: "path", verb: pick(random, VERBS), path: pick(random, ASKED_PATHS) } };
  const asked = resourceAttributes({
    verb: pick(random, ["get", "list", "create"]),
    group: pick(random, ["", "apps"]),
    resource: pick(random, ["pods", "services"]),
    subresource: pick(random, ["", "", "status", "scale"]),
    namespace: pick(random, ["", ...NAMESPACES]),
    name: pick(random, OBJECTS),
  });
  return { user, asked };
}

function isSubject(user: User, subject: RbacSubject, bindingNamespace: string): boolean {
  if (subject.kind === "User") return subject.name === user.name;
  if (subject.kind === "Group") return user.groups.includes(subject.name);
  const namespace = subject.namespace ?? bindingNamespace;
  return namespace !== "" && user.name === `system:serviceaccount:${namespace}:${subject.name}`;
}

function plainlyAllows(rule: PolicyRule, asked: Attributes): boolean {
  const has = (list: readonly string[] | undefined, ...wanted: string[]): boolean => list?.some((text) => wanted.includes(text)) === true;
  if (!has(rule.verbs, "*", asked.verb)) return false;
  if (asked.kind === "path") {
    return (rule.nonResourceURLs ?? []).some(
      (url) => url === asked.path || (/\*$/.test(url) && asked.path.startsWith(url.replace(/[*]+$/, ""))),
    );
  }
  const sub = asked.subresource;
  const resources = sub === "" ? ["*", asked.resource] : ["*", `${asked.resource}/${sub}`, `*/${sub}`];
  const named = (rule.resourceNames ?? []).length === 0 || has(rule.resourceNames, asked.name);
  return has(rule.apiGroups, "*", asked.group) && has(rule.resources, ...resources) && named;
}

/** Every binding in order, with its rules or what it misses: the reading of upstream's VisitRulesFor. */
function* readings(plain: Plain, user: User, namespace: string): Generator<{ text: string; rules?: PolicyRule[]; missing?: string }> {
  const scopes = namespace === "" ? [""] : ["", namespace];
  for (const scope of scopes) {
    const kind = scope === "" ? "ClusterRoleBinding" : "RoleBinding";
    const bindings = [...plain.values()]
      .filter((entry) => entry.kind === kind && (entry.object.metadata?.namespace ?? "") === scope)
      .map((entry) => entry.object as RoleBinding | ClusterRoleBinding)
      .sort((a, b) => ((a.metadata?.name ?? "") < (b.metadata?.name ?? "") ? -1 : 1));
    for (const { metadata, roleRef, subjects = [] } of bindings) {
      const subject = subjects.find((one) => isSubject(user, one, scope));
      if (subject === undefined) continue;
      const role = plain.get(`${roleRef.kind} ${roleRef.kind === "Role" ? scope : ""} ${roleRef.name}`)?.object as
        { rules?: PolicyRule[] } | undefined;
      const account = subject.kind === "ServiceAccount" ? `/${subject.namespace ?? scope}` : "";
      const source = `${kind} "${metadata?.name ?? ""}${scope === "" ? "" : `/${scope}`}"`;
      const text = `${source} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${subject.name}${account}"`;
      if (role) yield { text, rules: role.rules ?? [] };
      else yield { text, missing: `${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io "${roleRef.name}" not found` };
    }
  }
}

function plainDecision(plain: Plain, user: User, asked: Attributes): Decision {
  const missing = new Set<string>();
  for (const { text, rules, missing: gone } of readings(plain, user, asked.kind === "resource" ? asked.namespace : "")) {
    if (gone !== undefined) missing.add(gone);
    if (rules?.some((rule) => plainlyAllows(rule, asked))) return { decision: "allow", reason: `RBAC: allowed by ${text}` };
  }
  const all = [...missing].join(", ");
  return { decision: "noOpinion", reason: missing.size === 0 ? "" : missing.size === 1 ? `RBAC: ${all}` : `RBAC: [${all}]` };
}

/** What takes the objects, and what decides then. */
interface Decided {
  taken: RulesTaken;
  policy(): Policy;
}

function itself(policy: Policy): Decided {
  return { taken: policy, policy: () => policy };
}

/** By the text that an isolate gets; it does not depend on the order in which the objects came. */
function compiled(): Decided {
  const taken = new CompiledPolicy();
  return { taken, policy: () => policyFrom(taken.text()) };
}

it.each([
  { lists: "looked through", policyOf: () => itself(new Policy()) },
  { lists: "found by their rules", policyOf: () => itself(new Policy(0)) },
  { lists: "compiled into one text", policyOf: compiled },
])(
  `random objects, changes and requests (${HISTORIES} histories from seed ${SEED}), bindings $lists: decided as a plain reading of the objects`,
  ({ policyOf }) => {
    let allowed = 0;
    for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
      const random = seededRandom(seed);
      const { taken, policy: now } = policyOf();
      const plain: Plain = new Map();
      for (let step = 0; step < STEPS; step++) {
        change(random, taken, plain);
        const policy = now();
        for (let i = 0; i < QUESTIONS; i++) {
          const { user, asked } = randomQuestion(random);
          const wanted = plainDecision(plain, user, asked);
          if (wanted.decision === "allow") allowed++;
          expectSame(authorizeByRbac(policy, user, asked), wanted, () => `seed ${seed}, step ${step}`);
        }
        const { user } = randomQuestion(random);
        const namespace = pick(random, ["", ...NAMESPACES]);
        const rules = [...readings(plain, user, namespace)].flatMap((reading) => reading.rules ?? []);
        expectSame(policyRulesIn(policy, user, namespace).rules, rules, () => `seed ${seed}, step ${step}`);
      }
    }
    expect(allowed).toBeGreaterThan(HISTORIES * STEPS * QUESTIONS * 0.1);
  },
);
