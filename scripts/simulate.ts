/** `npm run simulate`: random histories of a whole simulated cluster, each from its seed alone. */
import { parseOptions, usage } from "./simulate/options";
import { simulate } from "./simulate/run";
import { runProgram } from "./terminal/command-line";

await runProgram({ name: "simulate", usage, parse: parseOptions, main: async (options) => ((await simulate(options)) ? 0 : 1) });
