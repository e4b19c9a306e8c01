/** The report of an import: one finding for each object and matter. */

/** Why an object is not imported as it is. */
export type ConflictReason =
  /** its address, or the address that it is, has another holder */
  | "AddressTaken"
  | "NodePortTaken"
  /** no Ready ServiceCIDR has its address */
  | "OutOfRange"
  /** an object of this name is there and is another one */
  | "Different"
  /** the dump has two objects of this name */
  | "Duplicate"
  | "Invalid"
  /** the dump counts an address or port as taken, and no object of the dump holds it */
  | "Unexplained"
  /** a ServiceCIDR did not become Ready in time */
  | "NotReady"
  /** the server refused it for another reason */
  | "Refused";

/** A notice for the operator; nothing is wrong. */
export type NoticeReason = "Ignored" | "Changed" | "Warning";

export interface ImportFinding<Reason extends string = ConflictReason | NoticeReason> {
  /** `Service default/web` */
  object: string;
  reason: Reason;
  /** a sentence whose subject is the object */
  message: string;
}
