/** A Chromium for the tests on a machine that has none: Debian's package. */
import { execFileSync } from "node:child_process";
import { findChromium } from "../chromium";
import { type Counts, oneFailed, onePassed } from "./steps";

/** Finds or installs a Chromium; a machine that cannot have one fails this step loudly. */
export function ensureChromium(): { command: string | undefined; counts: Counts } {
  let command = findChromium();
  if (!command) {
    console.log("No Chromium on the PATH: installing Debian's package ...");
    try {
      install();
    } catch (error) {
      console.error(`FAILED chromium could not be installed: ${error instanceof Error ? error.message : String(error)}`);
    }
    command = findChromium();
  }
  if (!command) console.error("FAILED there is no Chromium: put one on the PATH or name it in $CHROMIUM");
  return { command, counts: command ? onePassed : oneFailed("chromium") };
}

function install(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (args: string[]) => execFileSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"], env });
  apt(["update", "-qq"]);
  apt(["install", "-y", "-qq", "--no-install-recommends", "chromium"]);
}
