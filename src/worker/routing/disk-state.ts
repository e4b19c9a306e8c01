/** What this isolate knows of the disk under its objects: a fault lasts until a write proves that it is over. */
import { log } from "../http/log";

/** A fault that was quiet for so long is told again. */
const QUIET_MS = 60_000;

class DiskState {
  #fault: { readonly text: string; readonly atMs: number } | undefined;

  /** undefined = none is known */
  get fault(): string | undefined {
    return this.#fault?.text;
  }

  /** The fault, if a write has failed because of it within the last minute. */
  faultNear(nowMs: number): string | undefined {
    return this.#fault && nowMs - this.#fault.atMs < QUIET_MS ? this.#fault.text : undefined;
  }

  /** A write has failed. One line tells it, however many fail. */
  note(text: string, nowMs: number, what: string, error: string): void {
    const known = this.#fault;
    this.#fault = { text, atMs: nowMs };
    if (known?.text === text && nowMs - known.atMs < QUIET_MS) return;
    log("error", text, {
      hint: "writes are answered with 503 until there is space again; nothing that was acknowledged is lost",
      what,
      error,
    });
  }

  /** A write has succeeded. */
  mended(): void {
    if (!this.#fault) return;
    this.#fault = undefined;
    log("info", "the disk takes data again");
  }
}

export const diskState = new DiskState();
