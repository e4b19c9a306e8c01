/** Bitmaps against rows, some owners at a time and over and over; an owner builds a bitmap that differs anew by itself. */
import type { Pace } from "../../core/base/pause";
import type { RepairPorts } from "./repair-ports";

/** Of one ordinary check, which also ends with a page of an owner that has more. */
const OWNERS = 20;
/** Asked at the same time while everything is looked at: most of what a call takes is the way there and back. */
const OWNERS_TOGETHER = 4;
/** Of one call. */
const ROWS = 2_000;

/** The owner that comes next, by its place among all of them, and how far its rows have been compared. */
const OWNER_MARK = "owner";
const ROW_MARK = "ownerRow";

export class OwnerCheck {
  constructor(private readonly ports: Pick<RepairPorts, "clock" | "owner" | "owners" | "recorder" | "storage">) {}

  /** The next check begins with the first owner. */
  restart(): void {
    this.#save(0, 0);
  }

  /** All that are left until `endAt` (milliseconds since the epoch), or one ordinary check; answers whether the last owner has been through. */
  async run(everything: boolean, endAt: number, pace: Pace): Promise<boolean> {
    const { clock, storage } = this.ports;
    const uids = [...(await this.ports.owners())].sort();
    const from = storage.markGet(OWNER_MARK);
    let at = from < uids.length ? from : 0;
    let row = at === from ? storage.markGet(ROW_MARK) : 0;
    const isEnough = (calls: number): boolean => (everything ? clock.now() >= endAt : calls >= OWNERS || (calls > 0 && row !== 0));
    for (let calls = 0; at < uids.length && !isEnough(calls); calls++) {
      const some = everything && row === 0 ? uids.slice(at, at + OWNERS_TOGETHER) : uids.slice(at, at + 1);
      const next = await Promise.all(some.map((uid) => this.#check(uid, row)));
      // One that has more rows is gone on with before the others.
      const unfinished = next.findIndex((position) => position !== 0);
      row = next[unfinished] ?? 0;
      at += unfinished < 0 ? some.length : unfinished;
      await pace.rest();
    }
    // Once for all of them: after a crash some are looked at again.
    if (at < uids.length) this.#save(at, row);
    else this.restart();
    return at >= uids.length;
  }

  /** Answers where the next call goes on; 0 = this owner is through, or does not answer: the others must not wait for it. */
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
    if (owner !== storage.markGet(OWNER_MARK)) storage.markSet(OWNER_MARK, owner);
    if (row !== storage.markGet(ROW_MARK)) storage.markSet(ROW_MARK, row);
  }
}
