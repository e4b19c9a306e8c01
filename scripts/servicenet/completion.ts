/**
 * Completion for shells, as texts that know every command and option: the shell asks no program for them, and runs nothing of what is typed. Where they
 * know nothing, the shell completes names of files.
 */
import { UserError } from "../terminal/user-error";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly words: readonly string[];
}

export interface CompletedOption {
  /** without its hyphens */
  readonly name: string;
  readonly takesValue: boolean;
}

/** Options in place of a command. */
const OWN_OPTIONS = ["--help", "--version"];
/** What stands in these texts as it is: no shell reads more in it than letters. */
const PLAIN = /^[\w ,.-]*$/;

/** Throws UserError for a name or a summary that a shell would read otherwise. */
export function completionFor(shell: Shell, commands: readonly CompletedCommand[]): string {
  const texts = commands.flatMap(({ name, summary, options, words }) => [name, summary, ...words, ...options.map((one) => one.name)]);
  const strange = texts.find((text) => !PLAIN.test(text));
  if (strange !== undefined) throw new UserError(`no shell completes ${JSON.stringify(strange)}`);
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

function optionsOf({ options }: CompletedCommand): string {
  return options.map(({ name }) => `--${name}`).join(" ");
}

function bash(commands: readonly CompletedCommand[]): string {
  const cases = commands.map((command) => `    ${command.name}) options='${optionsOf(command)}' words='${command.words.join(" ")}' ;;`);
  return `# Completion of servicenet for bash: source <(servicenet completion bash)
_servicenet() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options='' words=''
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${[...commands.map(({ name }) => name), ...OWN_OPTIONS].join(" ")}' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD -eq 2 && -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}
complete -o bashdefault -o default -F _servicenet servicenet
`;
}

function zsh(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name, summary }) => `      '${name}:${summary}'`);
  const cases = commands.map((command) => `    ${command.name}) options=(${optionsOf(command)}) words_=(${command.words.join(" ")}) ;;`);
  return `#compdef servicenet
# Completion of servicenet for zsh, behind compinit: source <(servicenet completion zsh)
_servicenet() {
  local -a commands options words_
  if (( CURRENT == 2 )); then
    commands=(
${names.join("\n")}
    )
    if [[ $words[CURRENT] == -* ]]; then compadd -- ${OWN_OPTIONS.join(" ")}
    else _describe command commands
    fi
    return
  fi
  case $words[2] in
${cases.join("\n")}
  esac
  if [[ $words[CURRENT] == -* ]]; then compadd -a options
  elif (( CURRENT == 3 && $#words_ )); then compadd -a words_
  else _files
  fi
}
if [[ $funcstack[1] == _servicenet ]]; then _servicenet "$@"
else compdef _servicenet servicenet
fi
`;
}

function fish(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const first = `'not __fish_seen_subcommand_from ${names}'`;
  const lines = commands.flatMap(({ name, summary, options, words }) => {
    const behind = `'__fish_seen_subcommand_from ${name}'`;
    const isFirst = `'__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words.join(" ")}'`;
    return [
      `complete -c servicenet -n ${first} -f -a ${name} -d '${summary}'`,
      ...(words.length > 0 ? [`complete -c servicenet -n ${isFirst} -f -a '${words.join(" ")}'`] : []),
      ...options.map((one) => `complete -c servicenet -n ${behind} -l ${one.name}${one.takesValue ? " -r" : ""}`),
    ];
  });
  const own = OWN_OPTIONS.map((option) => `complete -c servicenet -n ${first} -f -l ${option.slice(2)}`);
  return `# Completion of servicenet for fish: servicenet completion fish | source
${[...lines, ...own].join("\n")}
`;
}
