/** What a store asks for when it needs an address of an owner, and what comes of that. */
import type { Gen, Holder } from "../rpc/service-cidr";

export interface AskedAddress {
  family: "IPv4" | "IPv6";
  /** canonical text of a static request, "" = any free one */
  address: string;
}

export interface WantedAddress extends AskedAddress {
  holder: Holder;
  /** static: the holder has the address already and lost the row. A range that gives out nothing any more does not matter then (I3 is about new ones). */
  isHeld?: boolean;
}

export interface TakenAddress {
  family: "IPv4" | "IPv6";
  address: string;
  token: string;
  gen: Gen;
}

export type SupplyRefusal =
  /** all ranges of the family are full */
  | "full"
  /** no Ready range of the family exists at all */
  | "noRange"
  | "taken"
  | "outOfRange"
  /** the address is in a range that is kept for others, or outside of those that are kept for the Service's namespace */
  | "kept"
  /** no decision before the deadline */
  | "unavailable";

/** `detail`: what zones have to do with the refusal, for the client. */
export type SupplyResult = { ok: true; taken: TakenAddress } | { ok: false; reason: SupplyRefusal; detail?: string };
