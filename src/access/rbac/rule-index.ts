/** The rules of one role, found by what a request names. */
import type { PolicyRule } from "../../api/meta/kubernetes";
import type { Attributes } from "../authorization/attributes";
import { RuleFile } from "./rule-file";
import { ruleAllows } from "./rule-match";

export class RuleIndex {
  readonly #file = new RuleFile<PolicyRule>();

  constructor(readonly rules: readonly PolicyRule[]) {
    for (const rule of rules) this.#file.add(rule, rule);
  }

  allows(asked: Attributes): boolean {
    for (const rules of this.#file.listsFor(asked)) if (rules.some((rule) => ruleAllows(rule, asked))) return true;
    return false;
  }
}
