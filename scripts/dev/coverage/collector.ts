/** Where the counters of all processes of a run come together: files of lines in one folder. The Worker has no files, and sends its own. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { addCounters, type Counters } from "./counters.mjs";

export interface Collector {
  folder: string;
  /** where Workers send theirs */
  url: string;
  /** Adds all counts to `files`. No process may be counting any more. */
  addTo(files: Counters): void;
  end(): void;
}

/** Begins with an empty folder, or with the counts of earlier runs. The folder stays. */
export async function startCollector(folder: string, { more = false } = {}): Promise<Collector> {
  if (!more) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const server = createServer((request, response) => {
    void text(request)
      .then((line) => appendFileSync(join(folder, "workers.jsonl"), `${line}\n`))
      .catch(() => undefined)
      .finally(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    folder,
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    addTo: (files) => {
      for (const name of readdirSync(folder)) addLines(readFileSync(join(folder, name), "utf8"), files);
    },
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A process that was killed may have left half a line. */
function addLines(lines: string, files: Counters): void {
  for (const line of lines.split("\n")) {
    try {
      addCounters(JSON.parse(line) as Counters, files);
    } catch {
      continue;
    }
  }
}
