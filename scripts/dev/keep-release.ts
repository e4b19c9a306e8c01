/** `npm run keep-release`: keeps the Worker of a commit as the last release. */
import { root } from "../running/root.mjs";
import { parseCommandLine, runProgram } from "../terminal/command-line";

const COMMAND = "npm run keep-release";
const usage = `Usage: ${COMMAND} -- [COMMIT]

Builds the Worker of COMMIT (default: HEAD) and keeps it in test/fixtures/releases, compressed and with the commit's name. From then on .ci/run runs it
against the Worker of the sources, both ways. To be run after each release; needs the commit in this clone.

  --help              this text

Exit code: 0 kept, 1 the commit is not here or cannot be built, 2 wrong options.`;

await runProgram({
  name: "keep-release",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine(COMMAND, { args, options: {}, allowPositionals: true });
    return parsed === "help" ? "help" : { commit: parsed.positionals[0] ?? "HEAD" };
  },
  main: async ({ commit }) => {
    const { keepRelease } = await import("./release/keep");
    const kept = keepRelease(root, commit);
    console.log(`kept ${kept.commit} in ${String(kept.bytes)} bytes`);
    return 0;
  },
});
