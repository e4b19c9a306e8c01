/** Waits for a body, and notices when no more of it arrives. */
import { overloaded, type Status } from "../../../api/meta/status";
import type { Clock } from "../../../core/base/ports";
import { err, type Result } from "../../../core/base/result";
import type { HeldSeats } from "../in-flight";
import { BODY_REST_MS } from "../limits";

/** How far a body has come. */
export class BodyProgress {
  #hasCome = false;
  #isResting = false;

  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly place: HeldSeats,
  ) {}

  /** Its request holds no seat. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Bytes came. Answers whether there is room for a request of so many seats. */
  came(seats: number): boolean {
    this.#hasCome = true;
    this.#isResting = false;
    return this.place.grow(seats, this.clock.now());
  }

  /** Gives the seat back when nothing has come since the last look. Answers whether the request may go on. */
  look(): boolean {
    if (!this.#hasCome && !this.#isResting) this.#isResting = this.place.rest(this.clock.now());
    const mayGoOn = this.#hasCome || this.#isResting;
    this.#hasCome = false;
    return mayGoOn;
  }
}

export type Arrival<T> = { kind: "read"; value: Result<T, Status> } | { kind: "late" } | { kind: "refused"; value: Result<never, Status> };

/**
 * The outcome of `whole`; "late" after `timeoutMs`; "refused" when the body rests and its user has too many that do. One timer for each body that comes
 * at once. Rejects where `whole` does.
 */
export function arrivalOf<T>(
  whole: Promise<Result<T, Status>>,
  { clock, progress, timeoutMs }: { clock: Pick<Clock, "after">; progress: BodyProgress; timeoutMs: number },
): Promise<Arrival<T>> {
  return new Promise((resolve, reject) => {
    let leftMs = timeoutMs;
    let cancel = (): void => undefined;
    // By the timers, not by the clock, which may be set back.
    const wait = (): void => {
      const ms = Math.min(leftMs, BODY_REST_MS);
      cancel = clock.after(ms, () => {
        leftMs -= ms;
        if (leftMs <= 0) resolve({ kind: "late" });
        else if (progress.look()) wait();
        else resolve({ kind: "refused", value: err(overloaded()) });
      });
    };
    wait();
    whole.then(
      (value) => {
        cancel();
        resolve({ kind: "read", value });
      },
      (error: unknown) => {
        cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
