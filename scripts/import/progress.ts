/** How far a long piece of work is: a bar on a terminal, nothing anywhere else. */
export interface Progress {
  /** `done` of `total`; the line goes when all is done */
  show(what: string, done: number, total: number): void;
}

const BAR_WIDTH = 24;

export function progressOn(stream: Pick<NodeJS.WriteStream, "isTTY" | "write">): Progress {
  if (!stream.isTTY) return { show: () => undefined };
  return {
    show: (what, done, total) => {
      const filled = Math.round((BAR_WIDTH * done) / Math.max(total, 1));
      const bar = "#".repeat(filled).padEnd(BAR_WIDTH, ".");
      stream.write(done < total ? `\r[${bar}] ${what} ${String(done)}/${String(total)}\x1b[K` : "\r\x1b[K");
    },
  };
}
