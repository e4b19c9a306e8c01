/** What all programs do with their command line and their end. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { UserError } from "../serve/user-error";

/** The options and other arguments. Throws UserError with one line that says how to get help; `command` as it is typed, `npm run check`. */
export function parseCommandLine<T extends ParseArgsConfig>(command: string, config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new UserError(`${reason} (${command} -- --help shows the options)`);
  }
}

/** The value of `--output`. */
export function isJson(output: string): boolean {
  if (output !== "text" && output !== "json") throw new UserError(`--output ${output}: must be text or json`);
  return output === "json";
}

/** Runs a program whose `main` resolves to its exit code. A UserError is one line on stderr, and like any other error the exit code 2. */
export function runProgram(name: string, main: () => Promise<number>): void {
  main().then(
    (code) => (process.exitCode = code),
    (error: unknown) => {
      if (error instanceof UserError) console.error(`${name}: ${error.message}`);
      else console.error(error);
      process.exitCode = 2;
    },
  );
}
