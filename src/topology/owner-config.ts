/** From claims and allocatable ranges to what each owner has to know. */
import type { OwnerConfig } from "../rpc/service-cidr";
import { formatPrefix } from "../net/prefix";
import type { Prefix } from "../net/prefix";
import { byPosition } from "./prefix-index";
import type { PrefixIndex } from "./prefix-index";

/** A configuration without its epoch; equal contents have equal JSON text. */
export type OwnerContent = Omit<OwnerConfig, "epoch">;

/** What an owner that has nothing any more is told, for ever. */
export const RETIRED: OwnerContent = { owned: [], ranges: [], frozen: [], retired: true };

/** The content for an owner of `owned` (disjoint) when `allocatable` holds the ranges that give out addresses now. */
export function ownerContent(owned: readonly Prefix[], allocatable: PrefixIndex<Prefix>): OwnerContent {
  const ranges = new Map<string, Prefix>();
  for (const segment of owned) {
    for (const range of allocatable.intersecting(segment)) ranges.set(formatPrefix(range), range);
  }
  return {
    owned: [...owned].sort(byPosition).map(formatPrefix),
    ranges: [...ranges].sort(([, a], [, b]) => byPosition(a, b)).map(([text]) => text),
    frozen: [],
    retired: false,
  };
}
