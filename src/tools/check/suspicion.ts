/** Findings: what is wrong with a cluster. */

/** I1–I3 are the README's; the other rules keep them. */
export type CheckRule =
  | "I1"
  | "I2"
  | "I3"
  /** an owner's row and the object of its holder belong together */
  | "row"
  /** an owner's bitmap agrees with its rows */
  | "bitmap"
  /** every range of a ServiceCIDR has one owner */
  | "claim"
  /** no address of a pool is held twice, or where another pool is, and each claim has its own */
  | "pool"
  /** every stored object can be read */
  | "object"
  /** the EndpointSlices of a Service show the endpoints that its Pods are */
  | "slice"
  /** the objects that every cluster has exist */
  | "default"
  /** nothing is broken, but an operator may want to know */
  | "notice";

export interface CheckFinding {
  rule: CheckRule;
  /** `Service default/web`, `IPAddress 10.96.0.5` */
  objects: string[];
  /** a sentence */
  message: string;
}

/** A finding of one look. It may be half of a change under way: only one that lasts is a finding of the check. */
export interface Suspicion extends CheckFinding {
  /** distinguishes other objects of the same names */
  identity: string;
  /** how long a healthy cluster may show it */
  lastingMs: number;
  /** the owner whose rows or bitmap show it; a look that this owner does not answer proves nothing */
  ownerUid?: string;
}
