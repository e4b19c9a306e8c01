/** The bindings of one scope that name one subject, in the order of their names. */
import type { RbacSubject, RoleRef } from "../../api/meta/kubernetes";
import type { Attributes } from "../authorization/attributes";
import { RuleFile } from "./rule-file";
import type { RuleIndex } from "./rule-index";

export interface PolicyBinding {
  readonly name: string;
  /** "" = of a ClusterRoleBinding */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  readonly subjects: readonly RbacSubject[];
}

/** `at` is the place of the first of the binding's subjects that is the one of the list. */
export interface NumberedBinding {
  readonly binding: PolicyBinding;
  readonly at: number;
}

/** The roles of the scope, as they are after so many changes of roles. */
export interface Roles {
  readonly changes: number;
  of(ref: RoleRef): RuleIndex | undefined;
}

/** The first binding of each role, by what its rules name. */
interface ByRules {
  readonly file: RuleFile<NumberedBinding>;
  /** the first binding of each role that is missing */
  readonly missing: readonly NumberedBinding[];
  readonly changes: number;
}

export class SubjectBindings {
  readonly #entries: NumberedBinding[] = [];
  /** made when a long list is asked, gone with the next change */
  #byRules: ByRules | undefined;

  /** `lookedThrough`: a list of so many is looked through as a whole */
  constructor(private readonly lookedThrough: number) {}

  get size(): number {
    return this.#entries.length;
  }

  add(entry: NumberedBinding): void {
    this.#entries.splice(placeIn(this.#entries, entry.binding.name), 0, entry);
    this.#byRules = undefined;
  }

  remove(name: string): void {
    this.#entries.splice(placeIn(this.#entries, name), 1);
    this.#byRules = undefined;
  }

  /**
   * The bindings as lists in order: all, or with `asked` at least those that matter to this request. These are the first one that allows it and those
   * whose role is missing.
   */
  lists(roles: Roles, asked?: Attributes): Iterable<readonly NumberedBinding[]> {
    return asked && this.#entries.length > this.lookedThrough ? this.#listsFor(asked, roles) : [this.#entries];
  }

  *#listsFor(asked: Attributes, roles: Roles): Generator<readonly NumberedBinding[]> {
    if (this.#byRules?.changes !== roles.changes) this.#byRules = byRules(this.#entries, roles);
    yield this.#byRules.missing;
    yield* this.#byRules.file.listsFor(asked);
  }
}

/** A role counts by its first binding: what it allows is the same in all of them. So the size is that of the roles, however often each is bound. */
function byRules(entries: readonly NumberedBinding[], roles: Roles): ByRules {
  const file = new RuleFile<NumberedBinding>();
  const missing: NumberedBinding[] = [];
  const seen = new Set<string>();
  for (const entry of entries) {
    const { roleRef } = entry.binding;
    const key = `${roleRef.kind}/${roleRef.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const role = roles.of(roleRef);
    if (role) for (const rule of role.rules) file.add(rule, entry);
    else missing.push(entry);
  }
  return { file, missing, changes: roles.changes };
}

/** Where a binding of this name stands, or would stand. */
function placeIn(entries: readonly NumberedBinding[], name: string): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.binding.name ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
