/** `npm run import`: takes a dump of a live cluster over into a running Servicenet. */
import { Api } from "./cluster/api";
import { parseOptions, usage } from "./import/options";
import { readFiles } from "./import/read-files";
import { reportText } from "./import/report-text";
import { runImport } from "./import/run";
import { runProgram } from "./terminal/command-line";
import { progressOn } from "./terminal/progress";

/** Conflicts were found; the program did what it was asked for. */
const EXIT_CONFLICTS = 1;

runProgram("import", async () => {
  const options = await parseOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(usage);
    return 0;
  }
  const documents = readFiles(options.files);
  const api = new Api(options.target, "servicenet-import");
  await api.begin();
  const report = await runImport({ api, documents, dryRun: options.dryRun, progress: progressOn(process.stderr) });
  console.log(options.json ? JSON.stringify(report, null, 2) : reportText(report));
  return report.conflicts.length > 0 ? EXIT_CONFLICTS : 0;
});
