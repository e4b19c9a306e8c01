/** Compares bitmaps with rows, some owners at a time, over and over. An owner rebuilds a bitmap that differs by itself. */
import type { Pace } from "../../core/base/pause";
import type { RepairPorts } from "./repair-ports";

/** Owners of one ordinary check, which also ends after a page of an owner that has more rows. */
const OWNERS = 20;
/** Owners asked at once in a check of everything: most of the time of a call is the way there and back. */
const OWNERS_TOGETHER = 4;
/** Rows of one call. */
const ROWS = 2_000;

/** The next owner, by its place among all of them, and the row behind which its check goes on. */
const OWNER_MARK = "owner";
const ROW_MARK = "ownerRow";

export class OwnerCheck {
  constructor(
    private readonly ports: Pick<RepairPorts, "clock" | "owner" | "recorder" | "storage"> & {
      /** their uids */
      owners(): Promise<readonly string[]>;
    },
  ) {}

  /** The next check begins with the first owner. */
  restart(): void {
    this.#save(0, 0);
  }

  /**
   * Checks all owners that are left until `endAt` (milliseconds since the epoch), or makes one ordinary check. Answers whether the last owner is
   * through.
   */
  async run(everything: boolean, endAt: number, pace: Pace): Promise<boolean> {
    const { clock, storage } = this.ports;
    const uids = [...(await this.ports.owners())].sort();
    const from = storage.numberGet(OWNER_MARK);
    let at = from < uids.length ? from : 0;
    let row = at === from ? storage.numberGet(ROW_MARK) : 0;
    const isEnough = (calls: number): boolean => (everything ? clock.now() >= endAt : calls >= OWNERS || (calls > 0 && row !== 0));
    for (let calls = 0; at < uids.length && !isEnough(calls); calls++) {
      const some = everything && row === 0 ? uids.slice(at, at + OWNERS_TOGETHER) : uids.slice(at, at + 1);
      const next = await Promise.all(some.map((uid) => this.#check(uid, row)));
      // An owner with more rows goes on before the others.
      const unfinished = next.findIndex((position) => position !== 0);
      row = next[unfinished] ?? 0;
      at += unfinished < 0 ? some.length : unfinished;
      await pace.rest();
    }
    // Saved once for all of them: after a crash some are checked again.
    if (at < uids.length) this.#save(at, row);
    else this.restart();
    return at >= uids.length;
  }

  /** Answers where the next call goes on. 0 = this owner is through, or does not answer: the others must not wait for it. */
  async #check(uid: string, after: number): Promise<number> {
    const { owner, recorder, storage } = this.ports;
    try {
      const { next, rebuilt } = await owner(uid).checkBitmap(after, ROWS);
      if (rebuilt) {
        storage.count("repair", 1);
        recorder.log("error", "the bitmap of an owner was built anew from its rows", { owner: uid });
      }
      return next;
    } catch (error) {
      storage.count("", 1);
      recorder.log("warn", "the bitmap of an owner could not be checked", { owner: uid, error: String(error) });
      return 0;
    }
  }

  #save(owner: number, row: number): void {
    const { storage } = this.ports;
    if (owner !== storage.numberGet(OWNER_MARK)) storage.numberSet(OWNER_MARK, owner);
    if (row !== storage.numberGet(ROW_MARK)) storage.numberSet(ROW_MARK, row);
  }
}
