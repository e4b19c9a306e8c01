/**
 * Which of the rights of some rules are missing in others. A right is one group, resource, verb and name, or one verb and path, and one
 * rule alone has to hold it. Source: upstream component-helpers auth/rbac/validation/policy_comparator.go.
 */
import type { PolicyRule } from "../../api/meta/kubernetes";
import { ALL, pathMatches } from "./rule-match";

/** Single rights that one question takes apart: the lists of a small object multiply to billions. The role `edit` has about 500. */
const RIGHTS_MAX = 10_000;
/** Texts that one question compares, a tenth of a second: ten thousand own rules may all speak of one resource. */
const COMPARISONS_MAX = 5_000_000;

/**
 * The rights of `wanted` that `own` lacks, each as a rule, in upstream's order. What is beyond the limits counts as missing, as whole
 * rules: no right is held by mistake.
 */
export function missingRights(own: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const holder = new HeldRules(own);
  const missing: PolicyRule[] = [];
  let rightsLeft = RIGHTS_MAX;
  for (const part of wanted.flatMap(partsOf)) {
    if (holder.holds(part)) continue;
    rightsLeft -= countOfRights(part);
    const rights = rightsLeft < 0 || holder.isExhausted ? [part] : rightsOf(part);
    for (const right of rights) if (!holder.holds(right)) missing.push(ruleOf(right));
  }
  return missing;
}

/** What a rule says of resources, or what it says of paths: paths go only with verbs. No list but `names` is empty. */
type Part = ResourcePart | PathPart;

interface ResourcePart {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** empty = all */
  readonly names: readonly string[];
}

interface PathPart {
  readonly paths: readonly string[];
  readonly verbs: readonly string[];
}

/** Decoded objects that are not yet validated may lack any list. */
function partsOf(rule: Partial<PolicyRule>): Part[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  if (verbs.length === 0) return [];
  const parts: Part[] = [];
  if (apiGroups.length > 0 && resources.length > 0) parts.push({ groups: apiGroups, resources, verbs, names: resourceNames });
  if (nonResourceURLs.length > 0) parts.push({ paths: nonResourceURLs, verbs });
  return parts;
}

function countOfRights(part: Part): number {
  if ("paths" in part) return part.paths.length * part.verbs.length;
  return part.groups.length * part.resources.length * part.verbs.length * Math.max(1, part.names.length);
}

function rightsOf(part: Part): Part[] {
  if ("paths" in part) return part.paths.flatMap((path) => part.verbs.map((verb) => ({ paths: [path], verbs: [verb] })));
  const names = part.names.length === 0 ? [[]] : part.names.map((name) => [name]);
  return part.groups.flatMap((group) =>
    part.resources.flatMap((resource) =>
      part.verbs.flatMap((verb) => names.map((name) => ({ groups: [group], resources: [resource], verbs: [verb], names: name }))),
    ),
  );
}

function ruleOf(part: Part): PolicyRule {
  if ("paths" in part) return { nonResourceURLs: [...part.paths], verbs: [...part.verbs] };
  const names = part.names.length > 0 && { resourceNames: [...part.names] };
  return { apiGroups: [...part.groups], resources: [...part.resources], verbs: [...part.verbs], ...names };
}

interface OwnRule {
  readonly groups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly paths: readonly string[];
}

/** The own rules, by each text of `resources`, so that a right meets only rules that may hold it. */
class HeldRules {
  readonly #byResource = new Map<string, OwnRule[]>();
  readonly #ofPaths: OwnRule[] = [];
  #comparisons = 0;

  constructor(own: readonly PolicyRule[]) {
    for (const { verbs, apiGroups, resources, resourceNames, nonResourceURLs = [] } of own) {
      const rule = {
        groups: new Set(apiGroups),
        resources: new Set(resources),
        verbs: new Set(verbs),
        names: new Set(resourceNames),
        paths: nonResourceURLs,
      };
      for (const resource of rule.resources) {
        const rules = this.#byResource.get(resource);
        if (rules) rules.push(rule);
        else this.#byResource.set(resource, [rule]);
      }
      if (rule.paths.length > 0) this.#ofPaths.push(rule);
    }
  }

  get isExhausted(): boolean {
    return this.#comparisons > COMPARISONS_MAX;
  }

  /** Whether one own rule has all of it. */
  holds(part: Part): boolean {
    if (this.isExhausted) return false;
    if ("paths" in part)
      return this.#ofPaths.some((rule) => this.#mayCompare(part.paths.length * rule.paths.length) && coversPaths(rule, part));
    const size = part.groups.length + part.resources.length + part.verbs.length + part.names.length;
    return textsThatCover(part.resources[0] ?? "").some((text) =>
      this.#byResource.get(text)?.some((rule) => this.#mayCompare(size) && coversResources(rule, part)),
    );
  }

  #mayCompare(texts: number): boolean {
    this.#comparisons += texts;
    return !this.isExhausted;
  }
}

function coversResources(own: OwnRule, { groups, resources, verbs, names }: ResourcePart): boolean {
  return (
    hasAll(own.verbs, verbs) &&
    hasAll(own.groups, groups) &&
    resources.every((resource) => textsThatCover(resource).some((text) => own.resources.has(text))) &&
    (own.names.size === 0 || (names.length > 0 && names.every((name) => own.names.has(name))))
  );
}

/** A rule with names holds no path: upstream compares the names of every right. */
function coversPaths(own: OwnRule, { paths, verbs }: PathPart): boolean {
  return own.names.size === 0 && hasAll(own.verbs, verbs) && paths.every((path) => own.paths.some((pattern) => pathMatches(pattern, path)));
}

/** What a list may have for this text: the text, all, and of a subresource the same of every resource. */
function textsThatCover(resource: string): string[] {
  const slash = resource.indexOf("/");
  return slash < 0 ? [resource, ALL] : [resource, ALL, `*${resource.slice(slash)}`];
}

function hasAll(own: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return own.has(ALL) || wanted.every((text) => own.has(text));
}
