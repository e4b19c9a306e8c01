/** `npm run import`: takes a dump of a live cluster over into a running Servicenet. */
import { parseOptions, usage } from "./import/options";
import { Api } from "./import/api";
import { progressOn } from "./import/progress";
import { readFiles } from "./import/read-files";
import { reportText } from "./import/report-text";
import { runImport } from "./import/run";
import { UserError } from "./serve/user-error";

/** Conflicts were found; the program did what it was asked for. */
const EXIT_CONFLICTS = 1;
/** It could not do it. */
const EXIT_FAILURE = 2;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2));
  if (options === "help") {
    console.log(usage);
    return 0;
  }
  const documents = readFiles(options.files);
  const report = await runImport({ api: new Api(options.url), documents, dryRun: options.dryRun, progress: progressOn(process.stderr) });
  console.log(options.json ? JSON.stringify(report, null, 2) : reportText(report));
  return report.conflicts.length > 0 ? EXIT_CONFLICTS : 0;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    if (error instanceof UserError) console.error(`import: ${error.message}`);
    else console.error(error);
    process.exitCode = EXIT_FAILURE;
  },
);
