/** `npm run soak`: a server under load for half an hour, without a restart or with kills. */
import { parseOptions, usage } from "./soak/options";
import { runProgram } from "../terminal/command-line";

await runProgram({
  name: "soak",
  usage,
  parse: parseOptions,
  main: async (options) => {
    await import("../../test/support/server/resting-connections");
    const { machine, soak } = await import("./soak/run");
    const { seconds, rate, kills, seed } = options;
    const again = `--minutes ${String(seconds / 60)} --rate ${String(rate)}${kills ? " --kills" : ""} --seed ${String(seed)}`;
    console.log(`${machine()}\nnpm run soak -- ${again}`);
    const ends = new AbortController();
    process.once("SIGINT", () => ends.abort());
    const { problems } = await soak(options, { say: (line) => console.log(line), ends: ends.signal });
    console.log(problems.length === 0 ? "everything held" : `${String(problems.length)} problems; again: npm run soak -- ${again}`);
    return problems.length === 0 ? 0 : 1;
  },
});
