/** A controller that begins its first pass has work from then on: full visits of cron call it. One that nobody ever woke is not made by them. */
import type { RowStorage } from "../followed/row-storage";

/** of the row that says so */
const KIND = "entered";

/**
 * What enters the controller of this name once in the life of its rows. A crash between the two enters it again.
 *
 * @param enter durable when it resolves
 */
export function enteringOnce(
  rows: Pick<RowStorage, "rowGet" | "rowPut">,
  name: string,
  enter: (name: string) => Promise<void>,
): () => Promise<void> {
  return async () => {
    if (rows.rowGet(KIND, name) !== undefined) return;
    await enter(name);
    rows.rowPut(KIND, name, "");
  };
}
