/**
 * The wrangler configuration as the local server takes it. The fields that it serves mean what they mean to wrangler (a test compares both readings); what
 * it does not have is refused by name.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { WorkerOptions } from "miniflare";
import { UserError } from "../terminal/user-error";
import { chooseEnvironment } from "./configuration/environment";
import { type Table, tableIn, textIn, textsIn } from "./configuration/fields";
import { durableObjectsOf, kvNamespacesOf } from "./configuration/objects";
import { readTable } from "./configuration/read-file";
import { secretVariables } from "./configuration/secret-variables";

export interface WorkerConfig {
  /** of the Worker; also the prefix of its data's folders */
  name: string;
  main: string;
  crons: string[];
  vars: Record<string, unknown>;
  define: Record<string, string>;
  worker: Partial<WorkerOptions>;
}

const NAME = /^[a-z0-9_][-a-z0-9_]*$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Throws UserError for a file that is no configuration. */
export function readWorkerConfig(path: string, env: NodeJS.ProcessEnv = process.env): WorkerConfig {
  if (!existsSync(path)) throw new UserError(`--config ${path}: there is no such file`);
  try {
    const { fields, warnings } = chooseEnvironment(readTable(path), env["CLOUDFLARE_ENV"]);
    const secrets = secretVariables(path, fields, env);
    for (const warning of [...warnings, ...secrets.warnings]) console.warn(`servicenet: --config ${path}: ${warning}`);
    return configOf(fields, dirname(resolve(path)), secrets.vars);
  } catch (error) {
    throw new UserError(`--config ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function configOf(fields: Table, folder: string, secrets: Record<string, string>): WorkerConfig {
  const [name, main] = [textIn(fields, "name"), textIn(fields, "main")];
  if (!name || !main) throw new Error("name and main are required");
  if (!NAME.test(name)) throw new Error(`"name" must be of lowercase letters, digits, - and _`);
  const vars = tableIn(fields, "vars");
  const objects = { durableObjects: durableObjectsOf(fields, name), kvNamespaces: kvNamespacesOf(fields) };
  const bound = [vars, objects.durableObjects, objects.kvNamespaces].flatMap((bindings) => Object.keys(bindings));
  const twice = bound.find((binding, i) => bound.indexOf(binding) < i);
  if (twice !== undefined) throw new Error(`"${twice}" is bound twice`);
  const others = new Set([...Object.keys(objects.durableObjects), ...Object.keys(objects.kvNamespaces)]);
  const ownSecrets = Object.fromEntries(Object.entries(secrets).filter(([secret]) => !others.has(secret)));
  return {
    name,
    main: resolve(folder, main),
    crons: textsIn(tableIn(fields, "triggers"), "crons", "triggers.crons"),
    vars,
    define: definesOf(fields),
    worker: {
      compatibilityDate: compatibilityDate(fields),
      compatibilityFlags: textsIn(fields, "compatibility_flags"),
      bindings: { ...vars, ...ownSecrets },
      ...objects,
    } as Partial<WorkerOptions>,
  };
}

function compatibilityDate(fields: Table): string | undefined {
  const date = textIn(fields, "compatibility_date");
  if (date !== undefined && !DATE.test(date)) throw new Error(`"compatibility_date" must be a date as 2026-04-26`);
  return date;
}

function definesOf(fields: Table): Record<string, string> {
  const define = tableIn(fields, "define");
  for (const [name, value] of Object.entries(define)) if (typeof value !== "string") throw new Error(`"define.${name}" must be a text`);
  return define as Record<string, string>;
}
