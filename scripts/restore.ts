/** `npm run restore`: a backup into an empty cluster. */
import { Api } from "./cluster/api";
import { parseOptions, usage } from "./restore/options";
import { readBackup } from "./restore/read-file";
import { reportText } from "./restore/report-text";
import { runRestore } from "./restore/run";
import { runProgram } from "./terminal/command-line";
import { progressOn } from "./terminal/progress";

/** Some object differs from the backup. */
const EXIT_SHORT = 1;
const EXIT_FAILED = 2;

await runProgram({
  name: "restore",
  usage,
  parse: parseOptions,
  failureCode: EXIT_FAILED,
  main: async ({ target, file, resume, dryRun, json }) => {
    const backup = await readBackup(file);
    const api = new Api(target, "servicenet-restore");
    await api.begin();
    const report = await runRestore({ api, backup, resume, dryRun, progress: progressOn(process.stderr) });
    console.log(json ? JSON.stringify(report, null, 2) : reportText(report));
    return report.shortcomings.length > 0 || (report.check?.wrong.length ?? 0) > 0 ? EXIT_SHORT : 0;
  },
});
