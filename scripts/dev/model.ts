/** `npm run model`: what operations cost on the platform, in rows, calls, bytes and dollars. */
import { settleComputedPart } from "./tidy/computed-part";
import { root } from "./testing/commands";
import { parseCommandLine, runProgram } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

const usage = `Usage: npm run model [-- --write | --bounds | --check]

Runs each operation in a local runtime, and prints what it cost with everything that follows its answer. Then prints what operations
cost at most in dollars, by the bounds of test/support/economy/bounds.ts and the prices of scripts/dev/model/prices.ts.

  --write             also writes docs/edge.md anew
  --bounds            without the run: what the bounds and prices say alone; with --write the measured part stays as it is
  --check             writes and measures nothing; fails when the page does not have the bounds and prices
  --help              this text

Exit code: 0 done, 1 the page does not have the bounds and prices, 2 wrong options.`;

const FLAG = { type: "boolean", default: false } as const;

await runProgram({
  name: "model",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine("npm run model", { args, options: { write: FLAG, bounds: FLAG, check: FLAG } });
    if (parsed === "help") return "help";
    const { write, bounds, check } = parsed.values;
    if (check && (write || bounds)) throw new UserError("--check: goes without --write and --bounds");
    return parsed.values;
  },
  main: async ({ write, bounds, check }) => {
    const { boundTables } = await import("./model/tables");
    const { EDGE_PAGE, measuredText, writeMeasured } = await import("./model/page");
    const part = boundTables();
    if (!bounds && !check) {
      const { measure } = await import("./model/measure");
      const measurement = await measure((what) => console.error(`measures: ${what}`));
      console.log(measuredText(measurement));
      if (write) await writeMeasured(root, measurement);
    }
    if (!check) console.log(part);
    const findings = check || write ? await settleComputedPart({ root, write }, { path: EDGE_PAGE, part }) : [];
    for (const line of findings) console.log(line);
    return findings.length === 0 ? 0 : 1;
  },
});
