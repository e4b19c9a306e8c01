/** The command `servicenet`: its subcommands, by commander. What stands behind the name of one is read by that program itself. */
import { Argument, Command, CommanderError } from "commander";
import { requirePackage } from "../running/root.mjs";
import { type CompletedCommand, completionFor, type Shell, SHELLS } from "./completion";
import { SUBCOMMANDS, type Subcommand } from "./subcommands";

/** Exit code of a wrong call, as of all programs. */
const EXIT_USAGE = 2;
const HINT = "(servicenet --help shows the commands)";
const FOOT = `
servicenet COMMAND --help has the options of a command. Exit codes are those of the commands; 2 = a wrong call.`;

/**
 * Runs the command that the arguments name; those of this process are its own then. It sets the exit code.
 *
 * @throws UserError where the command cannot be run here
 */
export async function runServicenet(args = process.argv.slice(2)): Promise<void> {
  try {
    await commandLine(args).parseAsync(args.length > 0 ? args : ["--help"], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
}

function commandLine(args: readonly string[]): Command {
  const { version } = requirePackage("./package.json") as { version: string };
  const program = new Command("servicenet")
    .description("The Kubernetes Service network control plane: a server on this machine, and the programs beside it.")
    .usage("COMMAND [options]")
    .version(version, "--version", "the version of this program")
    .helpOption("--help", "this text")
    .helpCommand(false)
    .addHelpText("after", FOOT)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) });
  for (const subcommand of SUBCOMMANDS) addTo(program, subcommand, args);
  program
    .command("completion")
    .copyInheritedSettings(program)
    .summary("print what a shell completes")
    .description(`Prints completion for a shell: ${SHELLS.join(", ")}. In bash: source <(servicenet completion bash)`)
    .addArgument(new Argument("SHELL").choices(SHELLS).argRequired())
    .action(async (shell: Shell) => console.log((await completion(shell)).trimEnd()));
  program
    .command("help")
    .copyInheritedSettings(program)
    .summary("the help of a command")
    .argument("[COMMAND...]")
    .action(([name]: string[]) => runServicenet(helpOf(program, name)));
  return program;
}

/** The call that prints it. A command that is not there is refused as in any call. */
function helpOf({ commands }: Command, name: string | undefined): string[] {
  if (name === undefined) return [];
  return commands.some((command) => command.name() === name) ? [name, "--help"] : [name];
}

/** What stands behind its name is its own, a `--` among it, too. */
function addTo(program: Command, { name, summary, run }: Subcommand, args: readonly string[]): void {
  program
    .command(name)
    .summary(summary)
    .usage("[options]")
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .passThroughOptions()
    .action(async () => {
      process.argv.splice(2, Infinity, ...args.slice(args.indexOf(name) + 1));
      await run();
    });
}

function oneLine(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, "")
    .replaceAll("\n", " ");
  return `servicenet: ${line.endsWith("?)") ? line : `${line} ${HINT}`}`;
}

async function completion(shell: Shell): Promise<string> {
  const commands = await Promise.all(
    SUBCOMMANDS.map(async ({ name, summary, completed }): Promise<CompletedCommand> => {
      const { options, words = [] } = await completed();
      const named = Object.entries(options).map(([option, { type }]) => ({ name: option, takesValue: type === "string" }));
      return { name, summary, options: [...named, { name: "help", takesValue: false }], words };
    }),
  );
  const ours = [
    { name: "completion", summary: "print what a shell completes", options: [], words: SHELLS },
    { name: "help", summary: "the help of a command", options: [], words: SUBCOMMANDS.map(({ name }) => name) },
  ];
  return completionFor(shell, [...commands, ...ours]);
}
