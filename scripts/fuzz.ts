/** `npm run fuzz`: random requests that fit, or just do not fit, the server's own OpenAPI v3. */
import { parseOptions, usage } from "./fuzz/options";
import { fuzz } from "./fuzz/run";
import { runProgram } from "./terminal/command-line";

await runProgram({ name: "fuzz", usage, parse: parseOptions, main: async (options) => ((await fuzz(options)) ? 0 : 1) });
