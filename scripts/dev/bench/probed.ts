/** Measurements beside a work, until it ends. */

/**
 * Calls `probe` again and again, one call after the other, until the work has ended and the last call, too. Rejects as the first of the two that fails;
 * no call is made after that.
 */
export async function probedDuring(work: Promise<unknown>, probe: () => Promise<void>): Promise<void> {
  let isOver = false;
  const probing = (async () => {
    while (!isOver) await probe();
  })();
  try {
    await Promise.race([work, probing]);
  } finally {
    isOver = true;
    // Its failure is that of the race, or the work failed before.
    await probing.catch(() => undefined);
  }
}
