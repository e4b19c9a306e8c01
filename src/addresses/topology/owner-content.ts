/** From claims and allocatable ranges to the configurations of owners. */
import type { Prefix } from "../../core/net/prefix";
import type { OwnerConfig, Receiving } from "../rpc/service-cidr";
import { byPosition } from "./prefix-index";
import type { NamedPrefix } from "./stored-prefix";

/** A configuration without its epoch; equal contents have equal JSON text. */
export type OwnerContent = Omit<OwnerConfig, "epoch">;

/** The content of an owner that has nothing any more. It is the last one. */
export const RETIRED: OwnerContent = { owned: [], ranges: [], frozen: [], receiving: [], retired: true };

/** The segments of an owner, and those on their way to or from it. */
export interface Holdings {
  /** disjoint; includes segments that it hands over, until their new owner is active */
  owned: readonly NamedPrefix[];
  /** the segments of `owned` that it hands over */
  frozen: readonly string[];
  receiving: readonly Receiving[];
  /** the ranges have static bands */
  withStatic: boolean;
  /** some range of the cluster is kept for the Services of some namespaces */
  zoned?: boolean;
}

/** A range that gives out addresses. */
export interface GivingRange extends NamedPrefix {
  /** it is kept for the Services of some namespaces */
  isKept?: boolean;
}

/** The content for an owner; `allocatableIn` answers the ranges that give out addresses now and share one with a prefix. */
export function ownerContent(
  { owned, frozen, receiving, withStatic, zoned }: Holdings,
  allocatableIn: (prefix: Prefix) => readonly GivingRange[],
): OwnerContent {
  const ranges = new Map<string, NamedPrefix>();
  const zones = new Map<string, NamedPrefix>();
  for (const segment of owned) {
    for (const range of allocatableIn(segment.parsed)) {
      ranges.set(range.prefix, range);
      if (range.isKept) zones.set(range.prefix, range);
    }
  }
  return {
    owned: inOrder(owned),
    ranges: inOrder([...ranges.values()]),
    frozen: [...frozen].sort(),
    receiving: [...receiving].sort((a, b) => a.handoff - b.handoff),
    retired: false,
    ...(withStatic ? {} : { withoutBands: true as const }),
    ...(zones.size > 0 ? { zones: inOrder([...zones.values()]) } : {}),
    ...(zoned ? { zoned: true as const } : {}),
  };
}

/** The same content (JSON in and out) with the order to take back no lost rows of Services. */
export function closedContent(content: string): string {
  const parsed = JSON.parse(content) as OwnerContent;
  return parsed.retired ? content : JSON.stringify({ ...parsed, closed: true });
}

function inOrder(prefixes: readonly NamedPrefix[]): string[] {
  return [...prefixes].sort((a, b) => byPosition(a.parsed, b.parsed)).map((named) => named.prefix);
}
