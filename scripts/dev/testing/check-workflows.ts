/** The workflows of .github, checked by actionlint, which is built from its Go module: scripts/dev/testing/actionlint. */
import { join } from "node:path";
import { type Counts, oneFailed } from "./counts";
import { goProgram } from "./go-program";
import { check } from "./steps";

/** Builds actionlint where it is missing or old, and checks the workflows. A machine that cannot build fails this step loudly. */
export async function checkWorkflows(): Promise<Counts> {
  let command: string;
  try {
    command = goProgram({ folder: join(import.meta.dirname, "actionlint"), name: "actionlint", args: ["-ldflags=-s -w"] });
  } catch (error) {
    console.error(`FAILED actionlint could not be built: ${error instanceof Error ? error.message : String(error)}`);
    return oneFailed("actionlint");
  }
  // Without the programs that a machine may have: the findings are the same everywhere.
  return check("workflows", [command, "-shellcheck=", "-pyflakes="]);
}
