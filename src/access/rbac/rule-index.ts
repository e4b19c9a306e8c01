/**
 * The rules of one role, found by what a request names. Its size is that of the rules: no product of their lists is ever stored,
 * because a small object may list a thousand groups, resources and names each.
 */
import type { PolicyRule } from "../../api/meta/kubernetes";
import type { Attributes } from "../authorization/attributes";
import { ALL, pathMatches, resourcePatterns, ruleAllows } from "./rule-match";

export class RuleIndex {
  /** rules without names, by each text of `resources` */
  readonly #byResource = new Map<string, PolicyRule[]>();
  /** rules with names, by each name */
  readonly #byName = new Map<string, PolicyRule[]>();
  readonly #byPath = new Map<string, PolicyRule[]>();
  /** those whose paths end in a star, by pattern */
  readonly #byPathPattern = new Map<string, PolicyRule[]>();

  constructor(readonly rules: readonly PolicyRule[]) {
    for (const rule of rules) {
      const names = rule.resourceNames ?? [];
      if (names.length === 0) file(this.#byResource, rule.resources, rule);
      else file(this.#byName, names, rule);
      for (const url of new Set(rule.nonResourceURLs)) file(url.endsWith(ALL) ? this.#byPathPattern : this.#byPath, [url], rule);
    }
  }

  allows(asked: Attributes): boolean {
    if (asked.kind === "resource") {
      const unnamed = resourcePatterns(asked).some((pattern) => anyAllows(this.#byResource.get(pattern), asked));
      return unnamed || anyAllows(this.#byName.get(asked.name), asked);
    }
    if (anyAllows(this.#byPath.get(asked.path), asked)) return true;
    for (const [pattern, rules] of this.#byPathPattern) {
      if (pathMatches(pattern, asked.path) && anyAllows(rules, asked)) return true;
    }
    return false;
  }
}

function file(index: Map<string, PolicyRule[]>, keys: readonly string[] | undefined, rule: PolicyRule): void {
  for (const key of new Set(keys)) {
    const rules = index.get(key);
    if (rules) rules.push(rule);
    else index.set(key, [rule]);
  }
}

function anyAllows(rules: readonly PolicyRule[] | undefined, asked: Attributes): boolean {
  return rules?.some((rule) => ruleAllows(rule, asked)) === true;
}
