/**
 * Values filed by what the texts of rules name, so that a request finds those of the rules that may allow it. Its size is that of the rules: no product
 * of their lists is ever stored, because a small object may list a thousand groups, resources and names each.
 */
import type { PolicyRule } from "../../api/meta/kubernetes";
import type { Attributes } from "../authorization/attributes";
import { ALL, pathMatches, resourcePatterns } from "./rule-match";

export class RuleFile<T> {
  /** of rules without names, by each text of `resources` */
  readonly #byResource = new Map<string, T[]>();
  /** of rules with names, by each name */
  readonly #byName = new Map<string, T[]>();
  readonly #byPath = new Map<string, T[]>();
  /** of those whose paths end in a star, by pattern */
  readonly #byPathPattern = new Map<string, T[]>();

  /** Files the value of a rule. The same value for several rules one after another stands once under a text. */
  add(rule: PolicyRule, value: T): void {
    const names = rule.resourceNames ?? [];
    if (names.length === 0) file(this.#byResource, rule.resources, value);
    else file(this.#byName, names, value);
    for (const url of rule.nonResourceURLs ?? []) file(url.endsWith(ALL) ? this.#byPathPattern : this.#byPath, [url], value);
  }

  /** Every value of a rule that may allow the request: some lists, each in the order in which the values were filed. */
  *listsFor(asked: Attributes): Generator<readonly T[]> {
    if (asked.kind === "resource") {
      for (const pattern of resourcePatterns(asked)) yield this.#byResource.get(pattern) ?? [];
      yield this.#byName.get(asked.name) ?? [];
      return;
    }
    yield this.#byPath.get(asked.path) ?? [];
    for (const [pattern, values] of this.#byPathPattern) if (pathMatches(pattern, asked.path)) yield values;
  }
}

function file<T>(index: Map<string, T[]>, keys: readonly string[] | undefined, value: T): void {
  for (const key of keys ?? []) {
    const values = index.get(key);
    if (!values) index.set(key, [value]);
    else if (values.at(-1) !== value) values.push(value);
  }
}
