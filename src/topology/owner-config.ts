/** From claims and allocatable ranges to what each owner has to know. */
import type { OwnerConfig, Receiving } from "../rpc/service-cidr";
import { byPosition } from "./prefix-index";
import type { PrefixIndex } from "./prefix-index";
import type { NamedPrefix } from "./stored-prefix";

/** A configuration without its epoch; equal contents have equal JSON text. */
export type OwnerContent = Omit<OwnerConfig, "epoch">;

/** What an owner that has nothing any more is told, for ever. */
export const RETIRED: OwnerContent = { owned: [], ranges: [], frozen: [], receiving: [], retired: true };

/** What an owner has, and what is on its way to or from it. */
export interface Holdings {
  /** disjoint; with the segments that it hands over until their new owner is active */
  owned: readonly NamedPrefix[];
  /** those of `owned` that it hands over */
  frozen: readonly string[];
  receiving: readonly Receiving[];
  /** the ranges have static bands */
  withStatic: boolean;
}

/** The content for an owner when `allocatable` holds the ranges that give out addresses now. */
export function ownerContent({ owned, frozen, receiving, withStatic }: Holdings, allocatable: PrefixIndex<NamedPrefix>): OwnerContent {
  const ranges = new Map<string, NamedPrefix>();
  for (const segment of owned) {
    for (const range of allocatable.intersecting(segment.parsed)) ranges.set(range.prefix, range);
  }
  return {
    owned: inOrder(owned),
    ranges: inOrder([...ranges.values()]),
    frozen: [...frozen].sort(),
    receiving: [...receiving].sort((a, b) => a.handoff - b.handoff),
    retired: false,
    ...(withStatic ? {} : { withoutBands: true as const }),
  };
}

function inOrder(prefixes: readonly NamedPrefix[]): string[] {
  return [...prefixes].sort((a, b) => byPosition(a.parsed, b.parsed)).map((named) => named.prefix);
}
