/**
 * The configuration of an owner: when the owner accepts one (the fence, rules 9 and 11) and what it means.
 *
 * | stored             | offered                 | answer                                  |
 * |--------------------|-------------------------|-----------------------------------------|
 * | nothing            | any                     | accept                                  |
 * | retired            | not retired             | retired, for ever                       |
 * | any                | lower epoch             | superseded: it is late                  |
 * | any                | equal epoch and content | repeat: acknowledged, changes nothing   |
 * | any                | equal epoch, other content | contentDiffers: an epoch was used twice |
 * | any                | greater epoch           | accept                                  |
 * | receiving P        | owns P, some of its rows are missing | unsealed                   |
 */
import { assert } from "../../core/base/assert";
import { OWNER_PREFIXES_MAX } from "../rpc/limits";
import type { Family } from "../../core/net/family";
import { type Prefix, containsAddress, formatPrefix, parsePrefix, relation } from "../../core/net/prefix";
import type { ConfigureResult, OwnerConfig } from "../rpc/service-cidr";
import type { StoredConfig } from "./owner-storage";

/** A configuration in force, parsed. */
export interface ActiveConfig {
  epoch: number;
  retired: boolean;
  /** all segments that this object alone writes */
  owned: Prefix[];
  /** those of `owned` that allocate and release now; with `frozen` they make up `owned` */
  active: Prefix[];
  frozen: Prefix[];
  /** segments on their way here from other owners; disjoint from `owned` */
  receiving: { handoff: number; prefixes: Prefix[] }[];
  /** Ready ranges that intersect `owned` */
  ranges: Prefix[];
  /** the ranges have no static bands */
  withoutBands: boolean;
  /** `seed` takes no row for a Service */
  closed: boolean;
  /** kept for the Services of some namespaces */
  zones: Prefix[];
  /** the same by their canonical texts */
  zoneTexts: ReadonlySet<string>;
  /** Services say which zone they ask */
  zoned: boolean;
}

/** The configuration of an object that was never configured. */
const UNCONFIGURED: ActiveConfig = {
  epoch: 0,
  retired: false,
  owned: [],
  active: [],
  frozen: [],
  receiving: [],
  ranges: [],
  withoutBands: false,
  closed: false,
  zones: [],
  zoneTexts: new Set(),
  zoned: false,
};

export type ConfigureDecision = { kind: "accept"; next: StoredConfig } | { kind: "repeat" } | { kind: "refuse"; result: ConfigureResult };

/** Everything but the epoch, as text: equal contents have equal texts. The lists are sets, so they are sorted; a retired owner keeps none. */
function canonicalContent(config: OwnerConfig): string {
  const set = (prefixes: readonly string[]): string[] => (config.retired ? [] : [...prefixes].sort());
  const receiving = (config.retired ? [] : [...config.receiving]).sort((a, b) => a.handoff - b.handoff);
  return JSON.stringify({
    frozen: set(config.frozen),
    owned: set(config.owned),
    ranges: set(config.ranges),
    receiving: receiving.map(({ handoff, prefixes }) => ({ handoff, prefixes: set(prefixes) })),
    retired: config.retired,
    ...(config.withoutBands && !config.retired ? { withoutBands: true } : {}),
    ...(config.closed && !config.retired ? { closed: true } : {}),
    ...(config.zones && !config.retired ? { zones: set(config.zones) } : {}),
    ...(config.zoned && !config.retired ? { zoned: true } : {}),
  });
}

/**
 * Applies the table above.
 *
 * @param isSealed whether all rows of a hand-off have come
 * @throws InvariantError for a configuration that no Coordinator may send
 */
export function decideConfigure(
  stored: StoredConfig | undefined,
  offered: OwnerConfig,
  isSealed: (handoff: number) => boolean,
): ConfigureDecision {
  const next: StoredConfig = { epoch: offered.epoch, content: canonicalContent(offered) };
  readOwnerConfig(next);
  if (stored === undefined) return { kind: "accept", next };
  const refuse = (reason: Extract<ConfigureResult, { ok: false }>["reason"]): ConfigureDecision => ({
    kind: "refuse",
    result: { ok: false, reason, epoch: stored.epoch },
  });
  const before = readOwnerConfig(stored);
  if (before.retired && !offered.retired) return refuse("retired");
  if (offered.epoch < stored.epoch) return refuse("superseded");
  if (offered.epoch === stored.epoch) return next.content === stored.content ? { kind: "repeat" } : refuse("contentDiffers");
  const owned = new Set(offered.owned);
  const opened = before.receiving.filter(({ prefixes }) => prefixes.some((prefix) => owned.has(formatPrefix(prefix))));
  return opened.every(({ handoff }) => isSealed(handoff)) ? { kind: "accept", next } : refuse("unsealed");
}

/** Reads a stored configuration; asserts canonical texts, disjoint segments, and that frozen segments are owned ones. */
export function readOwnerConfig(stored: StoredConfig | undefined): ActiveConfig {
  if (stored === undefined) return UNCONFIGURED;
  assert(Number.isSafeInteger(stored.epoch) && stored.epoch > 0, "an epoch is a positive safe integer");
  // Configurations that were stored before hand-offs existed do not name any.
  const content = { receiving: [], ...(JSON.parse(stored.content) as object) } as unknown as Omit<OwnerConfig, "epoch">;
  for (const list of [
    content.owned,
    content.ranges,
    content.zones ?? [],
    content.frozen,
    content.receiving.flatMap(({ prefixes }) => prefixes),
  ]) {
    assert(list.length <= OWNER_PREFIXES_MAX, "an owner's configuration is bounded");
  }
  const frozen = new Set(content.frozen);
  const owned = content.owned.map(parseCanonical);
  const receiving = content.receiving.map(({ handoff, prefixes }) => ({ handoff, prefixes: prefixes.map(parseCanonical) }));
  assertDisjoint([...owned, ...receiving.flatMap(({ prefixes }) => prefixes)]);
  const isFrozen = (_: Prefix, at: number): boolean => frozen.has(content.owned[at] ?? "");
  const frozenPrefixes = owned.filter(isFrozen);
  assert(frozenPrefixes.length === frozen.size, "only owned segments can be frozen");
  return {
    epoch: stored.epoch,
    retired: content.retired,
    owned,
    active: owned.filter((prefix, at) => !isFrozen(prefix, at)),
    frozen: frozenPrefixes,
    receiving,
    ranges: content.ranges.map(parseCanonical),
    withoutBands: content.withoutBands ?? false,
    closed: content.closed ?? false,
    zones: (content.zones ?? []).map(parseCanonical),
    zoneTexts: new Set(content.zones),
    zoned: content.zoned ?? false,
  };
}

/** Whether one of `prefixes` contains the address. */
export function someContains(prefixes: readonly Prefix[], family: Family, address: bigint): boolean {
  return prefixes.some((prefix) => containsAddress(prefix, family, address));
}

/** Reads a prefix of a call; asserts that it is canonical. */
export function parseCanonical(text: string): Prefix {
  const parsed = parsePrefix(text);
  assert(parsed.ok, `a configuration names prefixes canonically: ${text}`);
  return parsed.value;
}

/** Compares neighbours by base only: when two prefixes intersect, two neighbours among the sorted ones do too. */
function assertDisjoint(prefixes: readonly Prefix[]): void {
  const sorted = [...prefixes].sort(byBase);
  sorted.slice(1).forEach((prefix, index) => {
    const before = sorted[index];
    assert(before !== undefined && relation(before, prefix) === "disjoint", "owned segments are disjoint");
  });
}

function byBase(a: Prefix, b: Prefix): number {
  if (a.family !== b.family) return a.family < b.family ? -1 : 1;
  return a.base < b.base ? -1 : a.base > b.base ? 1 : 0;
}
