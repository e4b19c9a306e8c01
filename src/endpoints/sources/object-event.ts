/** An event about the object that a plan is for; the controller records it. */
export interface ObjectEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  /** for a human reader */
  readonly note: string;
}
