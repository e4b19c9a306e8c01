/** `npm run docs`: writes the generated part of docs/compatibility.md, which names the test of each convention and of each of upstream's assertions. */
import { readSources } from "./sources/read";
import { parseCommandLine, runProgram } from "../terminal/command-line";
import { root } from "./testing/commands";

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
    const { compatibilityMistakes } = await import("./compatibility/run");
    const { mistakes, sum } = await compatibilityMistakes({ root, sources: readSources(root), check });
    for (const mistake of mistakes) console.log(mistake);
    if (mistakes.length > 0) return 1;
    console.log(`compatibility: ${sum}`);
    return 0;
  },
});
