/** `npm run restore`: a backup into an empty cluster, or the step after a recovery of single objects. */
import { Api } from "../cluster/api";
import { beginAbove } from "../restore/beginning";
import { parseOptions, type RecoveryOptions, usage } from "../restore/options";
import { readBackup } from "../restore/read-file";
import { reportText } from "../restore/report-text";
import { runRestore } from "../restore/run";
import { runProgram } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";
import { progressOn } from "../terminal/progress";

/** Some object differs from the backup. */
const EXIT_SHORT = 1;
const EXIT_FAILED = 2;

await runProgram({
  name: "restore",
  usage,
  parse: parseOptions,
  failureCode: EXIT_FAILED,
  main: async (options) => {
    if (!("file" in options)) return recovered(options);
    const { target, file, resume, dryRun, json } = options;
    const backup = await readBackup(file);
    const api = new Api(target, "servicenet-restore");
    await api.begin();
    const report = await runRestore({ api, backup, resume, dryRun, progress: progressOn(process.stderr) });
    console.log(json ? JSON.stringify(report, null, 2) : reportText(report));
    return report.shortcomings.length > 0 || (report.check?.wrong.length ?? 0) > 0 ? EXIT_SHORT : 0;
  },
});

async function recovered({ target, resources, asOf, json }: RecoveryOptions): Promise<number> {
  const api = new Api(target, "servicenet-restore");
  const revisions = await beginAbove(api, { asOf, ...(resources.length > 0 ? { resources } : {}) });
  if (!revisions) throw new UserError(`${api.url} answers 404 to POST /revisions: it is no Servicenet of this release`);
  const lines = Object.entries(revisions).map(([name, revision]) => `${name} begins at ${revision}`);
  console.log(json ? JSON.stringify({ revisions }, null, 2) : lines.join("\n"));
  return 0;
}
