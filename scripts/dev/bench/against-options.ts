/** The options of `npm run bench -- --against URL` and `-- --beside FOLDER`. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { bearer, readOption, type Target } from "../../cluster/target";
import { userPath } from "../../folders/user-path";
import { wholeNumber } from "../../terminal/command-line";
import { UserError } from "../../terminal/user-error";
import type { Sizes } from "./against";

/** Options for `parseArgs`. */
export const againstOptions = {
  against: { type: "string" },
  beside: { type: "string" },
  rounds: { type: "string" },
  token: { type: "string" },
  ca: { type: "string" },
  insecure: { type: "boolean" },
  services: { type: "string" },
  leases: { type: "string" },
  clients: { type: "string" },
  watchers: { type: "string" },
  seconds: { type: "string" },
} as const;

const ROUNDS = { against: 1, beside: 5 };
/** A kube-apiserver makes some tens of Services a second. */
const DEFAULTS: Sizes = { services: 2_000, leases: 5_000, clients: 100, watchers: 1_000, seconds: 8 };

export const againstUsage = `  --rounds N          how often each load runs on both, who begins changing; figures are medians (${String(ROUNDS.against)}; beside a checkout ${String(ROUNDS.beside)})
  --token TOKEN       bearer token; @FILE reads it from a file
  --ca FILE           certificates (PEM) of the authorities that the server's certificate may come from
  --insecure          takes any certificate
  --services N        Services that are created, listed and deleted (${String(DEFAULTS.services)})
  --leases N          Leases that are created, updated and deleted (${String(DEFAULTS.leases)})
  --clients N         connections that do so (${String(DEFAULTS.clients)})
  --watchers N        clients that watch (${String(DEFAULTS.watchers)})
  --seconds N         how long a burst of changes lasts (${String(DEFAULTS.seconds)})`;

type Values = {
  [K in keyof typeof againstOptions]?: (typeof againstOptions)[K]["type"] extends "string" ? string | undefined : boolean | undefined;
};

export interface Against {
  /** who is compared with: a server, or the folder of another checkout */
  other: Target | string;
  sizes: Sizes;
  rounds: number;
}

/** Undefined without `--against` and `--beside`. Throws UserError for values that cannot be used. */
export function parseAgainst(values: Values): Against | undefined {
  const { against, beside, rounds } = values;
  if (against === undefined && beside === undefined) {
    const given = (Object.keys(againstOptions) as (keyof Values)[]).find((name) => values[name] !== undefined);
    if (given !== undefined) throw new UserError(`--${given}: goes with --against or --beside`);
    return undefined;
  }
  if (against !== undefined && beside !== undefined) throw new UserError("--beside: goes without --against");
  const sizes = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Sizes)[]) {
    const value = values[name];
    if (value !== undefined) sizes[name] = wholeNumber(`--${name}`, value, 1);
  }
  const usual = against === undefined ? ROUNDS.beside : ROUNDS.against;
  const other = against === undefined ? checkoutAt(beside ?? "", values) : targetAt(against, values);
  return { other, sizes, rounds: rounds === undefined ? usual : wholeNumber("--rounds", rounds, 1) };
}

function targetAt(against: string, { token, ca, insecure }: Values): Target {
  const url = against.replace(/\/+$/, "");
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UserError(`--against ${against}: must be a URL`);
  const options: Target["options"] = { headers: { ...(token === undefined ? {} : bearer(token)) } };
  if (ca !== undefined) options.ca = readOption("--ca", ca);
  if (insecure) options.rejectUnauthorized = false;
  return { url, options };
}

function checkoutAt(folder: string, values: Values): string {
  for (const name of ["token", "ca", "insecure"] as const) {
    if (values[name] !== undefined) throw new UserError(`--${name}: goes with --against`);
  }
  const path = resolve(userPath(folder));
  if (!existsSync(join(path, "scripts", "commands", "serve.ts"))) throw new UserError(`--beside ${folder}: is no checkout of Servicenet`);
  return path;
}
