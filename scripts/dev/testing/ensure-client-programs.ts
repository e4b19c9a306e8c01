/** Builds the programs of test/clients against the official Go and Python clients. Go modules and Python packages are fetched when missing. */
import { join } from "node:path";
import { goProgram } from "./go-program";
import { pythonEnvironment } from "./python-environment";
import { type Counts, oneFailed, onePassed } from "./counts";

const sources = join(import.meta.dirname, "..", "..", "..", "test", "clients");

/** Module files beside go.mod: one for each version of client-go that the tests speak through. */
const goModules = { "0.36": "go.mod", "0.37": "go-0.37.mod" };
/** Build tags: the newer version can run programs that the older one cannot. */
const goTags = { "0.36": "", "0.37": "newer" };

export interface ClientPrograms {
  /** for the tests: where the programs are */
  env: Record<string, string>;
  counts: Counts;
}

/** Builds what is missing or old; a machine that cannot build fails this step loudly. */
export function ensureClientPrograms(): ClientPrograms {
  try {
    const requirements = join(sources, "python", "requirements.txt");
    const python = join(pythonEnvironment({ name: "clients/python", requirements }), "python");
    const env = {
      CLIENTS_GO_036: clientGo("0.36"),
      CLIENTS_GO_037: clientGo("0.37"),
      CLIENTS_CONTROLLER_RUNTIME: goProgram({
        folder: join(sources, "controller-runtime"),
        name: "clients/controller-runtime",
        args: [],
        isTest: true,
      }),
      CLIENTS_PYTHON: python,
    };
    return { env, counts: onePassed };
  } catch (error) {
    console.error(`FAILED client programs could not be built: ${error instanceof Error ? error.message : String(error)}`);
    return { env: {}, counts: oneFailed("client programs") };
  }
}

function clientGo(version: keyof typeof goModules): string {
  const args = [`-modfile=${goModules[version]}`, `-tags=${goTags[version]}`];
  return goProgram({ folder: join(sources, "go"), name: `clients/go-${version}`, args });
}
