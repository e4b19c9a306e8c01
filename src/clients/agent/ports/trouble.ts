/** A trouble is reported once, until it is over or another one comes: loops meet the same refusal every few seconds. */
import type { Recorder } from "../../../core/base/ports";
import type { ApiReply } from "./api-client";

export class AgentTrouble {
  #told = "";

  /** @param what a short phrase: what does not work */
  constructor(
    private readonly what: string,
    private readonly recorder: Recorder,
  ) {}

  /** Whether it lasts. */
  get lasts(): boolean {
    return this.#told !== "";
  }

  tell(reason: string): void {
    if (reason === this.#told) return;
    this.#told = reason;
    this.recorder.log("warn", this.what, { reason });
  }

  /** The same for a reply of the API server. */
  tellOf(reply: Exclude<ApiReply<unknown>, { kind: "done" }>): void {
    this.tell(reply.kind === "refused" ? `${reply.code} ${reply.message}` : reply.message);
  }

  over(): void {
    if (!this.lasts) return;
    this.#told = "";
    this.recorder.log("info", `${this.what}: this is over`);
  }
}
