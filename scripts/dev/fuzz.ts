/** `npm run fuzz`: random requests that fit, or just do not fit, the server's own OpenAPI v3. */
import { parseOptions, usage } from "./fuzz/options";
import { runProgram } from "../terminal/command-line";

await runProgram({
  name: "fuzz",
  usage,
  parse: parseOptions,
  main: async (options) => {
    const { fuzz } = await import("./fuzz/run");
    return (await fuzz(options)) ? 0 : 1;
  },
});
