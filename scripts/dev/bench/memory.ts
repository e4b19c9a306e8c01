/** Memory of another process. Linux only: elsewhere the figures are left out. */
import { readFileSync } from "node:fs";
import { familyOf } from "../../../test/support/server/processes";
import { rowOf } from "../../serve/processes";

const sampleMs = 5;

/** Resident memory in MiB, or undefined where the system does not show it. */
export function residentMiB(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** Memory in MiB of the process and of all that it has started: of pages that several processes share each has its part. */
export function familyMiB(pid: number): number | undefined {
  const shares = familyOf(pid).map((process) => proportionalMiB(process.pid));
  return shares.includes(undefined) ? undefined : shares.reduce<number>((sum, share) => sum + (share ?? 0), 0);
}

/** That of a server with its runner: the parent of the runtime. npm, which may stand above, is not in it. */
export function serverMiB({ runtimePid }: { runtimePid: number }): number | undefined {
  const runner = rowOf(runtimePid)?.parent;
  return runner === undefined ? undefined : familyMiB(runner);
}

function proportionalMiB(pid: number): number | undefined {
  try {
    const kib = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/smaps_rollup`, "utf8"))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** Runs `body`; resolves to the highest growth of the memory meanwhile, in MiB. */
export async function growthDuring<T>(pid: number, body: () => Promise<T>): Promise<{ result: T; growthMiB: number | undefined }> {
  const before = residentMiB(pid);
  let highest = before;
  const sample = () => {
    const now = residentMiB(pid);
    if (now !== undefined && highest !== undefined) highest = Math.max(highest, now);
  };
  const timer = setInterval(sample, sampleMs);
  try {
    const result = await body();
    sample();
    return { result, growthMiB: before === undefined || highest === undefined ? undefined : highest - before };
  } finally {
    clearInterval(timer);
  }
}
