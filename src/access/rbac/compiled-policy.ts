/**
 * All rules of a cluster as one text: of each role its rules, of each binding its role and its subjects. It decides as the objects do, and is the same
 * however it came to be.
 */
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "../../api/meta/kubernetes";
import { RBAC_KINDS, type RulesTaken } from "./followed-policy";
import { Policy, type RbacKind, type RbacObjects } from "./policy";

/** Objects by kind, as JSON: what decides, their names and namespaces. */
type PolicyText = { readonly [K in RbacKind]: readonly RbacObjects[K][] };

export class CompiledPolicy implements RulesTaken {
  /** the text of each object by kind, then by namespace and name */
  readonly #texts = new Map<RbacKind, Map<string, string>>(RBAC_KINDS.map((kind) => [kind, new Map()]));
  #changes = 0;

  /** how often something was put or removed */
  get changes(): number {
    return this.#changes;
  }

  put<K extends RbacKind>(kind: K, object: RbacObjects[K]): void {
    const { namespace, name = "" } = object.metadata ?? {};
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    const { rules } = object as Role | ClusterRole;
    const { roleRef, subjects } = object as RoleBinding | ClusterRoleBinding;
    const deciding = kind === "Role" || kind === "ClusterRole" ? { metadata, rules } : { metadata, roleRef, subjects };
    this.#changes++;
    this.#texts.get(kind)?.set(keyOf(namespace, name), JSON.stringify(deciding));
  }

  remove(kind: RbacKind, namespace: string | undefined, name: string): void {
    this.#changes++;
    this.#texts.get(kind)?.delete(keyOf(namespace, name));
  }

  /** The whole policy. */
  text(): string {
    const lists = [...this.#texts].map(([kind, texts]) => {
      const keys = [...texts.keys()].sort();
      return `"${kind}":[${keys.map((key) => texts.get(key)).join()}]`;
    });
    return `{${lists.join()}}`;
  }
}

/** What decides by the text of a CompiledPolicy. */
export function policyFrom(text: string): Policy {
  const policy = new Policy();
  const all = JSON.parse(text) as PolicyText;
  for (const kind of RBAC_KINDS) for (const object of all[kind]) policy.put(kind, object);
  return policy;
}

function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ""}/${name}`;
}
