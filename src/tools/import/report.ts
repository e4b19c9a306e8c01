/** What an import says: one finding per object and matter. */

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
  /** the dump counts something as taken and has no object that holds it */
  | "Unexplained"
  /** a ServiceCIDR did not become Ready in time */
  | "NotReady"
  /** the server refused it for another reason */
  | "Refused";

/** What an operator may want to know; nothing is wrong. */
export type NoticeReason = "Ignored" | "Changed" | "Warning";

export interface Finding<Reason extends string = ConflictReason | NoticeReason> {
  /** `Service default/web` */
  object: string;
  reason: Reason;
  /** a sentence whose subject is the object */
  message: string;
}
