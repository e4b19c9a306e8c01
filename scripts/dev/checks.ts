/** `npm run checks`: tidy, docs:check and types in one run, which reads the sources once. */
import { checkNames, runChecks } from "./checks/run";
import { isJson, oneOf, parseCommandLine, runProgram } from "../terminal/command-line";
import { root } from "./testing/commands";

const usage = `Usage: npm run checks [-- --only NAME] [--output json]

Runs npm run tidy, npm run docs:check and npm run typecheck together, which is quicker than one after the other.

  --only NAME         one of them: ${checkNames.join(", ")}
  --output json       one line with a JSON array instead: name, passed, ms and output of each check
  --help              this text

Exit code: 0 nothing is found, 1 something is, 2 wrong options.`;

await runProgram({
  name: "checks",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine("npm run checks", {
      args,
      options: { only: { type: "string" }, output: { type: "string", default: "text" } },
    });
    if (parsed === "help") return "help";
    const { only, output } = parsed.values;
    return { names: only === undefined ? checkNames : [oneOf("--only", only, checkNames)], json: isJson(output) };
  },
  main: async ({ names, json }) => {
    const checks = await runChecks(root, names);
    if (json) console.log(JSON.stringify(checks));
    else {
      for (const { name, passed, ms, output } of checks) {
        console.log(`${passed ? "ok    " : "FAILED"} ${name} (${(ms / 1000).toFixed(1)} s)`);
        if (output) console.log(output.trimEnd());
      }
    }
    return checks.every(({ passed }) => passed) ? 0 : 1;
  },
});
