/** The steps of taking an address, and what each of them answers. The rules of who follows whom: take.ts. */
import type { Band } from "../../core/net/band";
import type { Topology } from "../rpc/topology";
import type { AllocateResult } from "../rpc/service-cidr";
import type { Draw } from "../topology/route";
import type { SupplyResult } from "./wanted-address";

/** Owners that one request does not draw again, by band. */
export interface PassedOver extends Readonly<Record<Band, ReadonlySet<string>>> {
  /** some of them have nothing to give but what is being handed over, or do not know the newest ranges yet */
  readonly isBusy: boolean;
}

/** What one owner call answered under which epoch, or that nothing is known. */
export interface Attempt {
  result: AllocateResult | { ok: false; reason: "unknown" };
  epoch: number;
  /** "full" of an owner that was thought to have more than it gave */
  isSurprise: boolean;
}

export type TakeStep =
  /** Draw an owner in the newest view. `pause`: the number of the pause before the draw, 0 = none. `resting`: an owner with nothing to give for a moment. */
  | { kind: "draw"; pause: number; resting?: { ownerUid: string; isStale: boolean } }
  /** Ask the owner; without a token with a fresh one. */
  | { kind: "ask"; draw: Draw; token: string | undefined }
  /**
   * Ask the Coordinator for its topology. `why`: nobody owns the address, owners are busy, the segment moved. Or no owner in the zone has an address
   * left, the address is kept for others, no range gives the address out.
   */
  | { kind: "compare"; why: "noOwner" | "busy" | "moved" | "zoneFull" | "kept" }
  | { kind: "compare"; why: "notAllocatable"; draw: Draw; epoch: number }
  /** Ask the Coordinator to count what every owner has free, for this request: before "full". */
  | { kind: "count" }
  /** The same, together with others: before a static band is entered, or because the counts were wrong. */
  | { kind: "recount"; why: "staticBand" | "surprise" }
  /** Ask the other store whether a release of its own makes the refusal wrong. */
  | { kind: "inquire"; before: "full" | "taken" }
  /** Have the owner write the row down under the epoch of its answer. */
  | { kind: "seed"; draw: Draw; epoch: number }
  /** Wait until a pending release has gone through or failed. */
  | { kind: "hurry" }
  | { kind: "end"; result: SupplyResult };

/** What zones mean for a request; of a topology without any nothing. */
export interface Tenancy {
  places?: readonly string[];
  kept?: string;
}

/** The answer to the step of the same kind. A topology that is undefined did not come in time. */
export type TakeAnswer =
  | { kind: "draw"; view: undefined }
  /**
   * `places`: where zones are kept apart, where the request may take from, in order. `kept`: why the address that it names is in none of them.
   * `isPending`: a release may make a refusal wrong. `gone`: how many releases of the family had gone through by then. `isStaticOpen`: static bands
   * may be entered on the word of the last recount.
   */
  | ({ kind: "draw"; view: Topology; draw: Draw | undefined; isPending: boolean; gone: number; isStaticOpen: boolean } & Tenancy)
  | { kind: "ask"; token: string; attempt: Attempt }
  | { kind: "compare"; view: Topology | undefined }
  | { kind: "count"; view: Topology | undefined }
  /** `isWhole`: every owner was counted, or the Coordinator did not answer */
  | { kind: "recount"; isWhole: boolean }
  /** undefined = the other store did not answer in time */
  | { kind: "inquire"; isPending: boolean | undefined }
  | { kind: "seed" }
  | { kind: "hurry" };
