/** What SQLite, KV or the runtime says, in its own words, of a disk that takes no data; and Node, by its codes. */
const FAULTS: readonly (readonly [pattern: RegExp, fault: string])[] = [
  [/SQLITE_FULL|No space left on device|ENOSPC/, "the disk is full"],
  [/SQLITE_READONLY|Read-only file system|EROFS/, "the disk is read-only"],
  [/SQLITE_IOERR|SQLITE_CANTOPEN|File too large|Permission denied|EFBIG|EACCES|EDQUOT|EIO/, "the disk refuses to write"],
];

/** Each as `diskFaultIn` names it. */
export const DISK_FAULTS: readonly string[] = FAULTS.map(([, fault]) => fault);

export function diskFaultIn(text: string): string | undefined {
  return FAULTS.find(([pattern]) => pattern.test(text))?.[1];
}
