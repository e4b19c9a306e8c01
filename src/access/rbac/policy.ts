/**
 * The RBAC objects of one cluster, as an index: the bindings of a user and of each group, and the rules of each role.
 *
 * A put or remove touches only the lists that the object is in. A visit sees the user's bindings alone, in the order of their names; upstream's order
 * is that of a hash map. So a decision and its reason do not depend on how the policy came to be. Source: upstream
 * pkg/registry/rbac/validation/rule.go.
 */
import type { ClusterRole, ClusterRoleBinding, RbacSubject, Role, RoleBinding, RoleRef } from "../../api/meta/kubernetes";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import type { Attributes } from "../authorization/attributes";
import { serviceAccountUserName } from "../identity/user";
import type { User } from "../identity/user";
import { RuleIndex } from "./rule-index";
import { type PolicyBinding, type NumberedBinding, type Roles, SubjectBindings } from "./subject-bindings";

export interface RbacObjects {
  Role: Role;
  RoleBinding: RoleBinding;
  ClusterRole: ClusterRole;
  ClusterRoleBinding: ClusterRoleBinding;
}
export type RbacKind = keyof RbacObjects;

/** A binding that names the user, by the first of its subjects that does. */
export interface Grant {
  readonly binding: PolicyBinding;
  readonly subject: RbacSubject;
}

/** The bindings of one namespace, or those of the whole cluster. */
interface ScopeBindings {
  readonly bindings: Map<string, PolicyBinding>;
  readonly bySubject: Map<string, SubjectBindings>;
}

/** Answers true to end the visit. */
type Visit = (grant: Grant, role: RuleIndex | undefined) => boolean;

interface Visited {
  readonly keys: readonly string[];
  readonly visit: Visit;
  readonly asked: Attributes | undefined;
}

const LOOKED_THROUGH = 64;

/** The namespace of what has none. */
const CLUSTER = "";

export class Policy {
  /** by namespace and name; those of the cluster under CLUSTER */
  readonly #roles = new Map<string, Map<string, RuleIndex>>();
  readonly #scopes = new Map<string, ScopeBindings>();
  #roleChanges = 0;

  /** `lookedThrough`: so many bindings of one subject in one scope are looked through for each request; more are found by their rules */
  constructor(private readonly lookedThrough = LOOKED_THROUGH) {}

  /** Adds an object, or replaces the one of its name. */
  put<K extends RbacKind>(kind: K, object: RbacObjects[K]): void {
    const namespace = scopeOf(kind, object.metadata?.namespace);
    const name = object.metadata?.name ?? "";
    if (isBindingKind(kind)) {
      const { roleRef, subjects } = object as RoleBinding | ClusterRoleBinding;
      this.#unbind(namespace, name);
      this.#bind({ name, namespace, roleRef, subjects: listOf(subjects) });
      return;
    }
    this.#roleChanges++;
    // a stored role without rules has null
    const rules = (object as Role | ClusterRole).rules ?? [];
    const roles = this.#roles.get(namespace) ?? new Map<string, RuleIndex>();
    this.#roles.set(namespace, roles.set(name, new RuleIndex(listOf(rules))));
  }

  /** Takes an object away; nothing where there is none. */
  remove(kind: RbacKind, namespace: string | undefined, name: string): void {
    const scope = scopeOf(kind, namespace);
    if (isBindingKind(kind)) return this.#unbind(scope, name);
    this.#roleChanges++;
    const roles = this.#roles.get(scope);
    if (roles?.delete(name) === true && roles.size === 0) this.#roles.delete(scope);
  }

  /** The rules that a reference means in a binding of this namespace, "" for one of the cluster; undefined = there is no such role. */
  roleOf({ kind, name }: RoleRef, namespace: string): RuleIndex | undefined {
    if (kind === "ClusterRole") return this.#roles.get(CLUSTER)?.get(name);
    return kind === "Role" && namespace !== CLUSTER ? this.#roles.get(namespace)?.get(name) : undefined;
  }

  /**
   * Shows the bindings of a user: those of the cluster first, then those of the namespace, "" for none. A role that is missing is undefined. The
   * visit ends when `visit` answers true. With `asked`, bindings that do not matter to this request may be left out. They are those behind the first
   * one that allows it, and those whose role exists and does not allow it.
   */
  visitGrants(user: User, namespace: string, visit: Visit, asked?: Attributes): void {
    const keys = [userKey(user.name), ...new Set(user.groups.map(groupKey))];
    if (this.#visitScope(CLUSTER, { keys, visit, asked }) || namespace === CLUSTER) return;
    this.#visitScope(namespace, { keys, visit, asked });
  }

  /** Merges the lists of all keys by name; a binding that several lists have is shown once. True = ended by `visit`. */
  #visitScope(namespace: string, { keys, visit, asked }: Visited): boolean {
    const bySubject = this.#scopes.get(namespace)?.bySubject;
    if (bySubject === undefined) return false;
    const roles: Roles = { changes: this.#roleChanges, of: (ref) => this.roleOf(ref, namespace) };
    const lists: (readonly NumberedBinding[])[] = [];
    for (const key of keys) {
      for (const entries of bySubject.get(key)?.lists(roles, asked) ?? []) if (entries.length > 0) lists.push(entries);
    }
    let last: PolicyBinding | undefined;
    for (const { binding, at } of merged(lists, 0, lists.length)) {
      if (binding === last) continue;
      last = binding;
      const subject = binding.subjects[at];
      if (subject !== undefined && visit({ binding, subject }, roles.of(binding.roleRef))) return true;
    }
    return false;
  }

  #bind(binding: PolicyBinding): void {
    const { namespace, name } = binding;
    const scope = this.#scopes.get(namespace) ?? {
      bindings: new Map<string, PolicyBinding>(),
      bySubject: new Map<string, SubjectBindings>(),
    };
    this.#scopes.set(namespace, scope);
    scope.bindings.set(name, binding);
    for (const [key, at] of keysOf(binding)) {
      const list = scope.bySubject.get(key) ?? new SubjectBindings(this.lookedThrough);
      scope.bySubject.set(key, list);
      list.add({ binding, at });
    }
  }

  #unbind(namespace: string, name: string): void {
    const scope = this.#scopes.get(namespace);
    const binding = scope?.bindings.get(name);
    if (scope === undefined || binding === undefined) return;
    scope.bindings.delete(name);
    for (const key of keysOf(binding).keys()) {
      const list = scope.bySubject.get(key);
      list?.remove(name);
      if (list?.size === 0) scope.bySubject.delete(key);
    }
    if (scope.bindings.size === 0) this.#scopes.delete(namespace);
  }
}

/** Why a role is missing. Source: upstream apimachinery pkg/api/errors (NewNotFound); validation lets no other kind of reference in. */
export function missingRole({ kind, name }: RoleRef): string {
  if (kind !== "Role" && kind !== "ClusterRole") return `unsupported role reference kind: ${JSON.stringify(kind)}`;
  return `${kind.toLowerCase()}.${RBAC_GROUP} ${JSON.stringify(name)} not found`;
}

/** Several errors as one text. Source: upstream apimachinery pkg/util/errors (Aggregate). */
export function joinErrors(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? (different[0] ?? "") : `[${different.join(", ")}]`;
}

function isBindingKind(kind: RbacKind): boolean {
  return kind === "RoleBinding" || kind === "ClusterRoleBinding";
}

/** Upstream writes an empty list as null. */
function listOf<T>(list: readonly T[] | null | undefined): readonly T[] {
  return list ?? [];
}

function scopeOf(kind: RbacKind, namespace: string | undefined): string {
  return kind === "ClusterRole" || kind === "ClusterRoleBinding" ? CLUSTER : (namespace ?? CLUSTER);
}

/** The keys of a binding's subjects, each with the place of its first subject. A service account is the user that requests know it as. */
function keysOf({ subjects, namespace }: PolicyBinding): Map<string, number> {
  const keys = new Map<string, number>();
  subjects.forEach((subject, at) => {
    const key = keyOf(subject, namespace);
    if (key !== undefined && !keys.has(key)) keys.set(key, at);
  });
  return keys;
}

function keyOf(subject: RbacSubject, bindingNamespace: string): string | undefined {
  switch (subject.kind) {
    case "User":
      return userKey(subject.name);
    case "Group":
      return groupKey(subject.name);
    case "ServiceAccount": {
      const namespace = subject.namespace ? subject.namespace : bindingNamespace;
      return namespace === "" ? undefined : userKey(serviceAccountUserName(namespace, subject.name));
    }
    default:
      return undefined;
  }
}

function userKey(name: string): string {
  return `u${name}`;
}

function groupKey(name: string): string {
  return `g${name}`;
}

/** The entries of the lists from `begin` to `end` in order, made as they are asked for. One costs the logarithm of the number of lists. */
function* merged(lists: readonly (readonly NumberedBinding[])[], begin: number, end: number): Generator<NumberedBinding, void> {
  if (end - begin <= 1) {
    yield* lists[begin] ?? [];
    return;
  }
  const middle = (begin + end) >>> 1;
  const [left, right] = [merged(lists, begin, middle), merged(lists, middle, end)];
  let [a, b] = [left.next(), right.next()];
  while (a.done !== true && b.done !== true) {
    if (comesBefore(a.value, b.value)) {
      yield a.value;
      a = left.next();
    } else {
      yield b.value;
      b = right.next();
    }
  }
  for (; a.done !== true; a = left.next()) yield a.value;
  for (; b.done !== true; b = right.next()) yield b.value;
}

function comesBefore(a: NumberedBinding, b: NumberedBinding): boolean {
  return a.binding === b.binding ? a.at < b.at : a.binding.name < b.binding.name;
}
