/** `npm run restore`: a backup into an empty cluster, or the recovery of single objects and the step after it. */
import { Api } from "../cluster/api";
import { beginAbove } from "../restore/beginning";
import { parseOptions, type RecoverOptions, type RecoveryOptions, usage } from "../restore/options";
import { readBackup } from "../restore/read-file";
import { isStore, recover } from "../restore/recovery";
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
    if ("objects" in options) return broughtBack(options);
    if (!("file" in options)) return recovered(options);
    const { target, location, file, resume, dryRun, json } = options;
    const backup = await readBackup(file);
    const api = new Api(target, "servicenet-restore");
    await api.begin(location);
    const report = await runRestore({ api, backup, resume, dryRun, progress: progressOn(process.stderr) });
    console.log(json ? JSON.stringify(report, null, 2) : reportText(report));
    return report.shortcomings.length > 0 || (report.check?.wrong.length ?? 0) > 0 ? EXIT_SHORT : 0;
  },
});

async function broughtBack({ target, objects, to, json }: RecoverOptions): Promise<number> {
  const api = new Api(target, "servicenet-restore");
  const revisions = await recover(api, objects, to, ({ object, undo }) => {
    console.log(json ? JSON.stringify({ object, undo }) : `${object} goes back; the way back: --recover ${object} --bookmark ${undo}`);
  });
  if (Object.keys(revisions).length > 0) console.log(json ? JSON.stringify({ revisions }) : beginningsText(revisions));
  const stores = "bookmark" in to ? objects.filter(isStore) : [];
  if (stores.length > 0 && !json)
    console.log(`now: --recovered ${stores.join(",")} --as-of TIME, with the earliest time of its recoveries`);
  return 0;
}

async function recovered({ target, resources, asOf, json }: RecoveryOptions): Promise<number> {
  const api = new Api(target, "servicenet-restore");
  const revisions = await beginAbove(api, { asOf, ...(resources.length > 0 ? { resources } : {}) });
  if (!revisions) throw new UserError(`${api.url} answers 404 to POST /revisions: it is no Servicenet of this release`);
  console.log(json ? JSON.stringify({ revisions }, null, 2) : beginningsText(revisions));
  return 0;
}

function beginningsText(revisions: Record<string, string>): string {
  const lines = Object.entries(revisions).map(([name, revision]) => `${name} begins at ${revision}`);
  return lines.join("\n");
}
