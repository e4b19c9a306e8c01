/** `npm run simulate`: random histories of a whole simulated cluster, each from its seed alone. */
import { parseOptions, usage } from "./simulate/options";
import { runProgram } from "../terminal/command-line";

await runProgram({
  name: "simulate",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { simulate } = await import("./simulate/run");
    return (await simulate(options)) ? 0 : 1;
  },
});
