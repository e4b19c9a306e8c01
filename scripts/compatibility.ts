/** `npm run docs`: writes the generated part of docs/compatibility.md, which names the test of each convention and of each of upstream's assertions. */
import { parseCommandLine, runProgram } from "./terminal/command-line";

const usage = `Usage: npm run docs [-- --check]

Writes the generated part of docs/compatibility.md from the tests.

  --check             writes nothing; fails when the page is not what the tests say
  --help              this text

Exit code: 0 done, 1 the page is not what the tests say, or a row has neither a test nor a reason, 2 wrong options.`;

await runProgram({
  name: "docs",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine("npm run docs", { args, options: { check: { type: "boolean", default: false } } });
    return parsed === "help" ? "help" : parsed.values;
  },
  main: async ({ check }) => {
    const { writeCompatibility } = await import("./compatibility/run");
    return (await writeCompatibility(check)) ? 0 : 1;
  },
});
