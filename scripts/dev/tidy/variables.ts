/** The table of variables in docs/deploy.md, and wrangler.toml, both compared with src/core/config/variables.ts. */
import { type Variable, VARIABLES, VARIABLES_ELSEWHERE } from "../../../src/core/config/variables";

export type VariableRow = Pick<Variable<never>, "name" | "deployed" | "shown" | "meaning">;

/** Every variable of a deployment. */
export const VARIABLE_ROWS: readonly VariableRow[] = [...Object.values(VARIABLES), ...Object.values(VARIABLES_ELSEWHERE)];

/** The table as Markdown: the variables that an operator may set. */
export function variableTable(rows: readonly VariableRow[]): string {
  return [
    "| variable | default | meaning |",
    "| --- | --- | --- |",
    ...rows.flatMap((row) => (row.meaning === undefined ? [] : [`| \`${row.name}\` | ${defaultOf(row)} | ${row.meaning} |`])),
  ].join("\n");
}

function defaultOf({ deployed = "", shown }: VariableRow): string {
  return shown ?? (deployed === "" ? "none" : `\`${deployed}\``);
}

/** What wrangler.toml says otherwise. `vars` is its table of variables. */
export function configuredFindings(rows: readonly VariableRow[], vars: Readonly<Record<string, unknown>>): string[] {
  const expected = new Map(rows.flatMap(({ name, deployed }) => (deployed === undefined ? [] : [[name, deployed] as const])));
  return [...new Set([...expected.keys(), ...Object.keys(vars)])].flatMap((name) => {
    const [wanted, is] = [expected.get(name), vars[name]];
    return is === wanted ? [] : [`wrangler.toml has ${name} = ${said(is)}, and src/core/config/variables.ts says ${said(wanted)}`];
  });
}

function said(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
