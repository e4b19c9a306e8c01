/** Where a Chromium is, for the suite that watches from a page. */
import { spawnSync } from "node:child_process";

/** A command that runs Chromium: $CHROMIUM, or one under its usual names on the PATH. */
export function findChromium(): string | undefined {
  const candidates = [process.env["CHROMIUM"], "chromium", "chromium-browser", "google-chrome"];
  return candidates.find((command) => command !== undefined && runs(command));
}

function runs(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;
}
