/** The number of syncs of a process to disk, seen from outside. */
import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Number of fsync and fdatasync calls of a process while `body` runs; undefined where strace is missing or not allowed to attach. Strace stops the
 * process at every system call: undefined, too, where `body` fails because of that.
 */
export async function countFsyncs(pid: number, body: () => Promise<unknown>): Promise<number | undefined> {
  const strace = spawn("strace", ["-f", "-c", "-e", "trace=fsync,fdatasync", "-p", String(pid)], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  strace.stderr.setEncoding("utf8");
  const closed = once(strace, "close").catch(() => undefined);
  const attached = await new Promise<boolean>((resolve) => {
    strace.once("error", () => resolve(false));
    strace.once("close", () => resolve(false));
    strace.stderr.on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("attached")) resolve(true);
    });
  });
  if (!attached) return undefined;
  let done = true;
  await body().catch(() => (done = false));
  strace.kill("SIGINT");
  await closed;
  if (!done) return undefined;
  // Rows of the summary: "% time  seconds  usecs/call  calls  [errors]  syscall".
  return [...text.matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(?:fsync|fdatasync)$/gm)].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}
