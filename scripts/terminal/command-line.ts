/** Command lines and exit codes of all programs. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { parsePrefix, type Prefix, prefixErrorText } from "../../src/core/net/prefix";
import { beforeOptions } from "./call";
import { UserError } from "./user-error";

/** Exit code of a wrong call. */
const EXIT_USAGE = 2;
const EXIT_FAILURE = 1;

/** For `parseArgs`: name -> what it is. */
export type ProgramOptions = NonNullable<ParseArgsConfig["options"]>;

type ParsedCommandLine<T extends ParseArgsConfig> = ReturnType<typeof parseArgs<T>>;

/**
 * The options and other arguments, or "help" where `--help` is among them. Throws UserError with one line that says how to get help.
 *
 * @param command as the user types it (call.ts)
 * @param config of node:util's parseArgs; `args` are the arguments without the program itself
 */
export function parseCommandLine<T extends ParseArgsConfig & { args: string[] }>(
  command: string,
  config: T,
): ParsedCommandLine<T> | "help" {
  if (asksForHelp(config.args)) return "help";
  let parsed: ParsedCommandLine<T>;
  try {
    parsed = parseArgs(config);
  } catch (error) {
    refuseOptionsOfNpm(command, config);
    const [reason = ""] = messageOf(error).split(/\n|\. /);
    throw new UserError(`${reason} (${beforeOptions(command)} --help shows the options)`);
  }
  refuseOptionsOfNpm(command, config);
  return parsed;
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes("--help");
}

/** npm takes options for itself that stand before a `--`, and gives them to the program as variables. */
function refuseOptionsOfNpm(command: string, { args, options = {} }: ParseArgsConfig & { args: string[] }): void {
  // npx leaves to its command what stands behind the name.
  if (process.env["npm_lifecycle_event"] === undefined || command.startsWith("servicenet ")) return;
  for (const [name, { type }] of Object.entries(options)) {
    const taken = process.env[`npm_config_${name.replaceAll("-", "_")}`];
    if (!taken || args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))) continue;
    const example = type === "boolean" ? `--${name}` : `--${name} ${taken === "true" ? (args[0] ?? "VALUE") : taken}`;
    throw new UserError(`npm has taken --${name} for itself; put -- before the options: ${command} -- ${example}`);
  }
}

/** Throws UserError unless `value` is one of the choices. */
export function oneOf<T extends string>(option: string, value: string, choices: readonly T[]): T {
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) throw new UserError(`${option} ${value}: must be one of ${choices.join(", ")}`);
  return chosen;
}

/** Throws UserError unless `value` is a whole number from `min` to `max`. */
export function wholeNumber(option: string, value: string, min = 0, max = Number.MAX_SAFE_INTEGER): number {
  const number = /^\d+$/.test(value) ? Number(value) : NaN;
  if (number >= min && number <= max) return number;
  const limits = max === Number.MAX_SAFE_INTEGER ? `of ${String(min)} or more` : `from ${String(min)} to ${String(max)}`;
  throw new UserError(`${option} ${value}: must be a whole number ${limits}`);
}

/** The prefix that an option names; undefined when it is not given. Throws UserError. */
export function prefixOf(option: string, text: string): Prefix;
export function prefixOf(option: string, text: string | undefined): Prefix | undefined;
export function prefixOf(option: string, text: string | undefined): Prefix | undefined {
  if (text === undefined) return undefined;
  const parsed = parsePrefix(text);
  if (parsed.ok) return parsed.value;
  throw new UserError(`${option} ${text}: ${prefixErrorText(parsed.error)}`);
}

/** The value of `--output`. */
export function isJson(output: string): boolean {
  return oneOf("--output", output, ["text", "json"]) === "json";
}

interface Program<Options> {
  /** begins the line of an error */
  name: string;
  usage: string;
  /** Throws UserError for arguments that the program cannot take. */
  parse(args: string[]): Options | "help" | Promise<Options | "help">;
  /** Resolves to the exit code. Throws UserError for a fault that the user can correct. */
  main(options: Options): Promise<number>;
  /** exit code of an error in `main`; 2 for programs whose 1 means a finding */
  failureCode?: 1 | 2;
}

/**
 * Runs a program on the arguments of this process. Sets its exit code, which is the result, too. Arguments that `parse` refuses are exit code 2. A
 * fault that the user can correct, and an error of the operating system, are one line on stderr. Any other error is a bug and has its stack.
 */
export async function runProgram<Options>({ name, usage, parse, main, failureCode = EXIT_FAILURE }: Program<Options>): Promise<number> {
  let code: number = EXIT_USAGE;
  try {
    const options = await parse(process.argv.slice(2));
    code = failureCode;
    if (options === "help") {
      console.log(usage);
      code = 0;
    } else code = await main(options);
  } catch (error) {
    if (error instanceof UserError || isOfSystem(error)) console.error(`${name}: ${messageOf(error)}`);
    else console.error(error);
  }
  process.exitCode = code;
  return code;
}

/** The operating system refused a file, a socket or a program. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
