/** What a look at a cluster shows that ought not to be so. */

/** I1–I3 as in the README; the rest is what keeps them. */
export type Rule =
  | "I1"
  | "I2"
  | "I3"
  /** an owner's row and the object that it is held for belong together */
  | "row"
  /** an owner's bitmap says what its rows say */
  | "bitmap"
  /** every range of a ServiceCIDR has one owner */
  | "claim"
  /** what is stored of an object can be read */
  | "object"
  /** the objects that every cluster has are there */
  | "default"
  /** nothing is broken, and an operator may want to know */
  | "notice";

export interface Finding {
  rule: Rule;
  /** `Service default/web`, `IPAddress 10.96.0.5` */
  objects: string[];
  /** a sentence */
  message: string;
}

/** A finding of one look. It may be on its way to being put right, or seen half: only one that lasts is a finding of a check. */
export interface Suspicion extends Finding {
  /** tells it from one about other objects of the same names */
  identity: string;
  /** how long a healthy cluster may show it */
  lastingMs: number;
  /** whose rows or bitmap show it; a look that this owner does not answer neither shows nor denies it */
  ownerUid?: string;
}
