/** The progress of long work: a bar on a terminal, nothing elsewhere. */
export interface Progress {
  /** Shows `done` of `total`. The bar goes when all is done. */
  show(what: string, done: number, total: number): void;
  /** Shows work without a known end. */
  wait(what: string): void;
  /** Removes the bar, so that something else can be printed. */
  clear(): void;
}

const BAR_WIDTH = 24;
const CLEARED = "\r\x1b[K";
/** A terminal is slower than most work. */
const SHOWN_EVERY_MS = 50;

export function progressOn(stream: Pick<NodeJS.WriteStream, "isTTY" | "write">): Progress {
  if (!stream.isTTY) return { show: () => undefined, wait: () => undefined, clear: () => undefined };
  let shown = "";
  let shownAt = 0;
  const clear = (): void => {
    if (shown !== "") stream.write(CLEARED);
    shown = "";
  };
  return {
    clear,
    wait: (what) => {
      stream.write(`\r${what}\x1b[K`);
      shown = what;
    },
    show: (what, done, total) => {
      if (done >= total) return clear();
      if (shown === what && Date.now() - shownAt < SHOWN_EVERY_MS) return;
      const filled = Math.round((BAR_WIDTH * done) / Math.max(total, 1));
      const bar = "#".repeat(filled).padEnd(BAR_WIDTH, ".");
      stream.write(`\r[${bar}] ${what} ${String(done)}/${String(total)}\x1b[K`);
      shown = what;
      shownAt = Date.now();
    },
  };
}
