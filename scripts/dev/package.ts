/** `npm run package`: builds what `npm pack` packs; npm runs it before. */
import { buildPackage } from "../packaging/build";
import { parseCommandLine, runProgram } from "../terminal/command-line";

const COMMAND = "npm run package";
const usage = `Usage: ${COMMAND}

Builds dist/servicenet and dist/lib: the programs for users, the Worker and the libraries, as npm pack packs them.

  --help              this text

Exit code: 0 done, 1 it did not work, 2 wrong options.`;

await runProgram({
  name: "package",
  usage,
  parse: (args) => parseCommandLine(COMMAND, { args }),
  main: async () => {
    await buildPackage();
    return 0;
  },
});
