/** Memory of another process. Linux only: elsewhere the figures are left out. */
import { readFileSync } from "node:fs";

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
