/** `npm run check`: is what must always hold true of a live cluster? */
import { parseOptions, usage } from "./check/options";
import { reportText } from "./check/report-text";
import { runCheck, runRepair } from "./check/run";
import { Api } from "./cluster/api";
import { runProgram } from "./terminal/command-line";
import { progressOn } from "./terminal/progress";

const EXIT_WRONG = 1;
const EXIT_UNCHECKED = 2;

runProgram("check", async () => {
  const options = await parseOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(usage);
    return 0;
  }
  const task = { api: new Api(options.target), progress: progressOn(process.stderr) };
  const outcome = await (options.repair ? runRepair(task, options.waitMs) : runCheck(task));
  console.log(options.json ? JSON.stringify(outcome, null, 2) : reportText(outcome));
  if (outcome.wrong.length > 0) return EXIT_WRONG;
  return outcome.unchecked.length > 0 ? EXIT_UNCHECKED : 0;
});
