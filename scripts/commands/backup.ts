/** `npm run backup`: a whole cluster into one file, or each cluster of a server into a file of its own. */
import { backUpAll } from "../backup/all-clusters";
import { writeBackup } from "../backup/write-file";
import { takeBackup } from "../backup/run";
import { parseOptions, usage } from "../backup/options";
import { Api } from "../cluster/api";
import { shownPath } from "../folders/user-path";
import { callOf } from "../terminal/call";
import { runProgram } from "../terminal/command-line";
import { progressOn } from "../terminal/progress";

const EXIT_FAILED = 1;
/** The cluster contradicts itself; the file has it as it is. A failure is 1, as of most programs: then there is no file. */
const EXIT_WRONG = 3;

await runProgram({
  name: "backup",
  usage,
  parse: parseOptions,
  main: async (options) => {
    if (options.file !== undefined) return (await backUp(new Api(options.target), options.file)) === "wrong" ? EXIT_WRONG : 0;
    const { hasFailed, isWrong } = await backUpAll(options, backUp);
    if (hasFailed) return EXIT_FAILED;
    return isWrong ? EXIT_WRONG : 0;
  },
});

async function backUp(api: Api, file: string): Promise<"done" | "wrong"> {
  const backup = await takeBackup({ api, progress: progressOn(process.stderr) });
  await writeBackup(file, backup);
  const counts = backup.sections.flatMap(({ type, objects }) => (objects.length > 0 ? [`${objects.length} ${type.resource}`] : []));
  console.log(`${backup.header.server} is in ${shownPath(file)}: ${counts.join(", ")}`);
  for (const line of backup.wrong) console.log(`  ${line}`);
  if (backup.wrong.length > 0) console.log(`The cluster contradicts itself (${callOf("check")}); the file has it as it is.`);
  return backup.wrong.length > 0 ? "wrong" : "done";
}
