/** From claims and allocatable ranges to what each owner has to know. */
import type { Prefix } from "../../core/net/prefix";
import type { OwnerConfig, Receiving } from "../rpc/service-cidr";
import { byPosition } from "./prefix-index";
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

/** The content for an owner; `allocatableIn` answers the ranges that give out addresses now and have one in common with a prefix. */
export function ownerContent(
  { owned, frozen, receiving, withStatic }: Holdings,
  allocatableIn: (prefix: Prefix) => readonly NamedPrefix[],
): OwnerContent {
  const ranges = new Map<string, NamedPrefix>();
  for (const segment of owned) {
    for (const range of allocatableIn(segment.parsed)) ranges.set(range.prefix, range);
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

/** The same content, as JSON, for an owner that takes back no lost rows of Services. */
export function closedContent(content: string): string {
  const parsed = JSON.parse(content) as OwnerContent;
  return parsed.retired ? content : JSON.stringify({ ...parsed, closed: true });
}

function inOrder(prefixes: readonly NamedPrefix[]): string[] {
  return [...prefixes].sort((a, b) => byPosition(a.parsed, b.parsed)).map((named) => named.prefix);
}
