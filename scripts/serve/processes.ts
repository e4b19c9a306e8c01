/**
 * Running processes. The start time tells a process from a later one with the same number. From /proc on Linux, from `ps` elsewhere; without both no
 * process is known.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export interface ProcessIdentity {
  pid: number;
  /** opaque; equal for the same process only, also across a reboot */
  startedAt: string;
}

export interface ProcessRow extends ProcessIdentity {
  parent: number;
  /** name of the executable */
  command: string;
}

const hasProc = existsSync("/proc/self/stat");

/** The identity of a running process, or undefined when there is none of that number. */
export function identify(pid: number): ProcessIdentity | undefined {
  const row = rowOf(pid);
  return row && { pid: row.pid, startedAt: row.startedAt };
}

/** True while exactly this process runs. */
export function isRunning(process: ProcessIdentity): boolean {
  return identify(process.pid)?.startedAt === process.startedAt;
}

/** Running children of a process. */
export function childrenOf(parent: number): ProcessRow[] {
  const rows = hasProc
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((name) => fromProc(Number(name)))
    : fromPs();
  return rows.filter((row) => row?.parent === parent).filter((row) => row !== undefined);
}

/** Those whose executable has the given name. */
export function childrenNamed(parent: number, command: string): ProcessIdentity[] {
  return childrenOf(parent)
    .filter((row) => row.command === command)
    .map(({ pid, startedAt }) => ({ pid, startedAt }));
}

/** A running process, or undefined when there is none of that number. */
export function rowOf(pid: number): ProcessRow | undefined {
  return hasProc ? fromProc(pid) : fromPs().find((row) => row.pid === pid);
}

function fromProc(pid: number): ProcessRow | undefined {
  try {
    // "pid (command) state parent ... starttime ...": the command may hold spaces and parentheses, so count from the last one.
    const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
    const open = stat.indexOf("(");
    const close = stat.lastIndexOf(")");
    const fields = stat.slice(close + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return { pid, parent: Number(fields[1]), command: stat.slice(open + 1, close), startedAt: `${boot}/${fields[19] ?? ""}` };
  } catch {
    return undefined;
  }
}

function fromPs(): ProcessRow[] {
  try {
    const text = execFileSync("ps", ["-axo", "pid=,ppid=,stat=,lstart=,comm="], { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
    return text.split("\n").flatMap((line) => {
      const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line);
      if (!match || match[3]?.startsWith("Z")) return [];
      const command = (match[5] ?? "").split("/").at(-1) ?? "";
      return [{ pid: Number(match[1]), parent: Number(match[2]), startedAt: (match[4] ?? "").replace(/\s+/g, " "), command }];
    });
  } catch {
    return [];
  }
}
