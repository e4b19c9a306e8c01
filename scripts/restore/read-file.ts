/** Reads a backup whole and verifies it, before anything is done with it. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type Backup, BackupReader, type LineSums } from "../../src/tools/backup/format";
import { UserError } from "../terminal/user-error";

/** Throws UserError that names the fault of the file. */
export async function readBackup(path: string): Promise<Backup> {
  const reader = new BackupReader();
  let hash = createHash("sha256");
  const sums: LineSums = {
    sha256: () => hash.copy().digest("hex"),
    link: () => {
      hash = createHash("sha256").update(hash.digest("hex"));
    },
  };
  const stream = createReadStream(path, "utf8");
  try {
    for await (const line of linesOf(stream)) {
      const taken = reader.take(line, sums);
      if (!taken.ok) throw new UserError(`${path} ${taken.error}`);
      hash.update(`${line}\n`);
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    stream.destroy();
  }
  const backup = reader.end();
  if (!backup.ok) throw new UserError(`${path} ${backup.error}`);
  return backup.value;
}

/** Cut at line feeds alone: JSON texts may contain other line separators. Text after the last line feed is a line, too. */
async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
