/** What runs on a machine beside the agent, and what follows a cluster: programs built from their Go modules (test/clients) into .cache. */
import { join } from "node:path";
import { goProgram } from "./go-program";
import { type Counts, oneFailed, onePassed } from "./counts";

const sources = join(import.meta.dirname, "..", "..", "..", "test", "clients");

const USUAL = ["kube-proxy", "coredns"];
/** Its build takes minutes. */
const BEFORE_A_RELEASE = [...USUAL, "kube-controller-manager"];

/** Builds what is missing or old; a machine that cannot build fails this step loudly. */
export function ensureMachinePrograms({ isRelease }: { isRelease: boolean }): Counts {
  const names = isRelease ? BEFORE_A_RELEASE : USUAL;
  try {
    for (const name of names) goProgram({ folder: join(sources, name), name, args: ["-ldflags", "-s -w"] });
    return onePassed;
  } catch (error) {
    console.error(`FAILED ${names.join(", ")} could not be built: ${error instanceof Error ? error.message : String(error)}`);
    return oneFailed(names.join(", "));
  }
}
