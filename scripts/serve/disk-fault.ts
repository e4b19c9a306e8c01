/** What the runtime says, in many lines with a stack, of a disk that takes no data. */
const FAULTS: readonly (readonly [pattern: RegExp, fault: string])[] = [
  [/SQLITE_FULL|No space left on device/, "the disk is full"],
  [/SQLITE_READONLY|Read-only file system/, "the disk is read-only"],
  [/SQLITE_IOERR|SQLITE_CANTOPEN|File too large|Permission denied/, "the disk refuses to write"],
];

export function diskFaultIn(text: string): string | undefined {
  return FAULTS.find(([pattern]) => pattern.test(text))?.[1];
}
