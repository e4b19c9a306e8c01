/** How far a long piece of work is: a bar on a terminal, nothing anywhere else. */
export interface Progress {
  /** `done` of `total`; the line goes when all is done */
  show(what: string, done: number, total: number): void;
  /** Work whose end nobody knows. */
  wait(what: string): void;
  /** The line goes, for something else to be printed. */
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
