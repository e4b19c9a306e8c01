/** `npm run backup`: a whole cluster into one file. */
import { writeBackup } from "../backup/write-file";
import { takeBackup } from "../backup/run";
import { parseOptions, usage } from "../backup/options";
import { Api } from "../cluster/api";
import { shownPath } from "../folders/user-path";
import { runProgram } from "../terminal/command-line";
import { progressOn } from "../terminal/progress";

/** The cluster contradicts itself; the file has it as it is. A failure is 1, as of most programs: then there is no file. */
const EXIT_WRONG = 3;

await runProgram({
  name: "backup",
  usage,
  parse: parseOptions,
  main: async ({ target, file }) => {
    const backup = await takeBackup({ api: new Api(target), progress: progressOn(process.stderr) });
    await writeBackup(file, backup);
    const counts = backup.sections.flatMap(({ type, objects }) => (objects.length > 0 ? [`${objects.length} ${type.resource}`] : []));
    console.log(`${backup.header.server} is in ${shownPath(file)}: ${counts.join(", ")}`);
    for (const line of backup.wrong) console.log(`  ${line}`);
    if (backup.wrong.length > 0) console.log("The cluster contradicts itself (npm run check); the file has it as it is.");
    return backup.wrong.length > 0 ? EXIT_WRONG : 0;
  },
});
