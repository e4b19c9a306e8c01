/** What runs on a machine beside the agent: kube-proxy and CoreDNS, built from their Go modules (test/clients) into .cache. */
import { join } from "node:path";
import { goProgram } from "./go-program";
import { type Counts, oneFailed, onePassed } from "./counts";

const sources = join(import.meta.dirname, "..", "..", "..", "test", "clients");

/** Builds what is missing or old; a machine that cannot build fails this step loudly. */
export function ensureMachinePrograms(): Counts {
  try {
    for (const name of ["kube-proxy", "coredns"]) goProgram({ folder: join(sources, name), name, args: ["-ldflags", "-s -w"] });
    return onePassed;
  } catch (error) {
    console.error(`FAILED kube-proxy or CoreDNS could not be built: ${error instanceof Error ? error.message : String(error)}`);
    return oneFailed("kube-proxy and CoreDNS");
  }
}
