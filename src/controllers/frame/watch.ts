/** When the next look is to be. It is a row, so that the first look after an absence of the server knows of it. */
import type { KeptRows } from "../followed/kept-rows";

const KIND = "watch";
/** How late a look may be. */
const ABSENCE_MS = 15_000;
/** How late it may be while a pass goes on: from then on the pass names the next look. */
const KEEP_MS = 5_000;

export class Watch {
  #by: number | undefined;

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">) {}

  load(): void {
    for (const [, { by }] of this.rows.saved<{ by: number }>(KIND)) this.#by = by;
  }

  /** How late the look is, in milliseconds, if that shows an absence of the server; otherwise undefined. */
  absenceMs(nowMs: number): number | undefined {
    const late = this.#lateMs(nowMs);
    return late > ABSENCE_MS ? late : undefined;
  }

  /** Whether a pass that goes on has to say that nothing is absent. */
  isLate(nowMs: number): boolean {
    return this.#lateMs(nowMs) > KEEP_MS;
  }

  /** In milliseconds; not above 0 = it is not late. */
  #lateMs(nowMs: number): number {
    return this.#by === undefined ? -Infinity : nowMs - this.#by;
  }

  /** @param by when the next look is to be, in milliseconds since the epoch; undefined = nothing waits for one */
  set(by: number | undefined): void {
    if (this.#by === by) return;
    if (by === undefined) this.rows.delete(KIND, "");
    else this.rows.put(KIND, "", { by });
    this.#by = by;
  }
}
