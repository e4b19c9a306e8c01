/**
 * Calls of a controller by objects of the release before versions. Its stores enter nowhere before their first write (tenancy/visit-list.ts). So from such
 * a call on the controller takes no store for unused, and the list of those that were ever used is in doubt.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EnteredNames } from "../followed/used-stores";

/** A deployment makes many such calls. The list hears of them again, because it may have been learned anew meanwhile. */
const TOLD_AGAIN_MS = 60_000;

export interface OlderCallerPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  /** tells the list; may reject */
  tell(): Promise<void>;
}

export class OlderCallers {
  #haveCalled = false;
  #toldMs: number | undefined;

  constructor(private readonly ports: OlderCallerPorts) {}

  /** To be called before what the caller asked for. Never throws. */
  called(): void {
    const { clock, recorder, tell } = this.ports;
    this.#haveCalled = true;
    const nowMs = clock.now();
    if (this.#toldMs !== undefined && Math.abs(nowMs - this.#toldMs) < TOLD_AGAIN_MS) return;
    this.#toldMs = nowMs;
    tell().catch((error: unknown) => {
      this.#toldMs = undefined;
      recorder.log("warn", "the list of visits was not told of an older release", { error: String(error) });
    });
  }

  /** Who is known, as `entered` says it as long as nobody has called. */
  known(entered: EnteredNames): EnteredNames {
    return async () => (this.#haveCalled ? null : entered());
  }
}
