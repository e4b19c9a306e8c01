/** `npm run import`: takes a dump of a live cluster over into a running Servicenet. */
import { Api } from "../cluster/api";
import { parseOptions, usage } from "../import/options";
import { readFiles } from "../import/read-files";
import { reportText } from "../import/report-text";
import { runImport } from "../import/run";
import { runProgram } from "../terminal/command-line";
import { progressOn } from "../terminal/progress";

/** The program did its work and found conflicts. */
const EXIT_CONFLICTS = 1;
const EXIT_FAILED = 2;

await runProgram({
  name: "import",
  usage,
  parse: parseOptions,
  failureCode: EXIT_FAILED,
  main: async ({ target, location, files, dryRun, json }) => {
    const documents = readFiles(files);
    const api = new Api(target, "servicenet-import");
    await api.begin(location);
    const report = await runImport({ api, documents, dryRun, progress: progressOn(process.stderr) });
    console.log(json ? JSON.stringify(report, null, 2) : reportText(report));
    return report.conflicts.length > 0 ? EXIT_CONFLICTS : 0;
  },
});
