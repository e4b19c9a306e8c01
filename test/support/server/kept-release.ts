/**
 * The Worker of another release, as `npm run keep-release` left it: its bundle, compressed, and beside it which commit it is of. So a test needs
 * neither the history of the repository nor a network.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { KEPT_RELEASE } from "../../../scripts/dev/release/kept";

export interface KeptRelease {
  commit: string;
  /** of one ES module */
  text: string;
}

export function keptRelease(): KeptRelease {
  const folder = join(import.meta.dirname, "../../..", KEPT_RELEASE.folder);
  const { commit } = JSON.parse(readFileSync(join(folder, KEPT_RELEASE.facts), "utf8")) as { commit: string };
  return { commit, text: brotliDecompressSync(readFileSync(join(folder, KEPT_RELEASE.bundle))).toString("utf8") };
}
