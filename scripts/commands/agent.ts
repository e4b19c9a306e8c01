/** `npm run agent`: makes this machine a node. */
import type { Stop } from "../../src/clients/agent/index";
import { parseOptions, usage } from "../agent/options";
import { stopSignals } from "../agent/stop-signals";
import { runProgram } from "../terminal/command-line";

const code = await runProgram({
  name: "agent",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { startAgent } = await import("../agent/run");
    const asked = new Promise<Stop>((resolve) => {
      const stop = (): void => resolve(options.isLeaving ? "leave" : "stop");
      stopSignals(
        process,
        () => performance.now(),
        stop,
        () => process.exit(1),
      );
    });
    const onReady = (): void =>
      console.log(`The agent of ${options.node} is ready (addresses ${options.addresses.join(", ")}, Ctrl-C stops)`);
    const ending = await startAgent(options, asked, (line) => console.error(`agent: ${line}`), onReady);
    console.error(`agent: ${ending.message}`);
    return ending.code;
  },
});
process.exit(code);
