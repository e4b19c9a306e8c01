/** How users call the programs of scripts/: each by npm, or all of them as subcommands of `servicenet`. */
let isSubcommand = false;

/** From now on programs are subcommands. They make their texts when they are loaded, so this comes first. */
export function becomeSubcommands(): void {
  isSubcommand = true;
}

/** `npm run check`, or `servicenet check`. */
export function callOf(program: string): string {
  if (isSubcommand) return `servicenet ${program}`;
  return program === "serve" ? "npm start" : `npm run ${program}`;
}

/** The same call up to its options: npm takes those for itself that stand before a `--`. */
export function beforeOptions(call: string): string {
  return call.startsWith("servicenet ") ? call : `${call} --`;
}
