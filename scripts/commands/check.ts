/** `npm run check`: checks the invariants of a live cluster. */
import { parseOptions, usage } from "../check/options";
import { reportText } from "../check/report-text";
import { runCheck, runRepair } from "../check/run";
import { Api } from "../cluster/api";
import { runProgram } from "../terminal/command-line";
import { progressOn } from "../terminal/progress";

const EXIT_WRONG = 1;
const EXIT_UNCHECKED = 2;

await runProgram({
  name: "check",
  usage,
  parse: parseOptions,
  failureCode: EXIT_UNCHECKED,
  main: async ({ target, repair, waitMs, json }) => {
    const task = { api: new Api(target), progress: progressOn(process.stderr) };
    const outcome = await (repair ? runRepair(task, waitMs) : runCheck(task));
    console.log(json ? JSON.stringify(outcome, null, 2) : reportText(outcome));
    if (outcome.wrong.length > 0) return EXIT_WRONG;
    return outcome.unchecked.length > 0 ? EXIT_UNCHECKED : 0;
  },
});
