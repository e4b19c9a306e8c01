/** `npm run agent`: makes this machine a node. */
import type { Stop } from "../src/agent/agent";
import { parseOptions, usage } from "./agent/options";
import { runProgram } from "./terminal/command-line";

const code = await runProgram({
  name: "agent",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { startAgent } = await import("./agent/run");
    const asked = new Promise<Stop>((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.once(signal, () => {
          // Whoever asks twice does not want to wait.
          process.once(signal, () => process.exit(1));
          resolve(options.isLeaving ? "leave" : "stop");
        });
      }
    });
    const onReady = (): void =>
      console.log(`The agent of ${options.node} is ready (addresses ${options.addresses.join(", ")}, Ctrl-C stops)`);
    const ending = await startAgent(options, asked, (line) => console.error(`agent: ${line}`), onReady);
    console.error(`agent: ${ending.message}`);
    return ending.code;
  },
});
process.exit(code);
