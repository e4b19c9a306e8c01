/** CPU time of another process. Linux only: elsewhere the figures are left out. */
import { readFileSync } from "node:fs";

/** In the kernel's clock ticks; the same on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** User and system time of the process so far, in milliseconds; undefined where the system does not show it. */
export function cpuMs(pid: number): number | undefined {
  try {
    // The name, in parentheses, may hold any character; the fields from the third on follow it.
    const fields =
      readFileSync(`/proc/${String(pid)}/stat`, "utf8")
        .split(") ")
        .at(-1)
        ?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return undefined;
  }
}
