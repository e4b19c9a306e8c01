/** The options of `npm run bench -- --against URL`. */
import { bearer, readOption, type Target } from "../../cluster/target";
import { wholeNumber } from "../../terminal/command-line";
import { UserError } from "../../terminal/user-error";
import type { Sizes } from "./against";

/** Options for `parseArgs`. */
export const againstOptions = {
  against: { type: "string" },
  token: { type: "string" },
  ca: { type: "string" },
  insecure: { type: "boolean" },
  services: { type: "string" },
  leases: { type: "string" },
  clients: { type: "string" },
  watchers: { type: "string" },
  seconds: { type: "string" },
} as const;

/** A kube-apiserver makes some tens of Services a second. */
const DEFAULTS: Sizes = { services: 2_000, leases: 5_000, clients: 100, watchers: 1_000, seconds: 8 };

export const againstUsage = `  --token TOKEN       bearer token; @FILE reads it from a file
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

/** Undefined without `--against`. Throws UserError for values that cannot be used. */
export function parseAgainst(values: Values): { target: Target; sizes: Sizes } | undefined {
  const { against, token, ca, insecure } = values;
  if (against === undefined) {
    const given = (Object.keys(againstOptions) as (keyof Values)[]).find((name) => values[name] !== undefined);
    if (given !== undefined) throw new UserError(`--${given}: goes with --against`);
    return undefined;
  }
  const sizes = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof Sizes)[]) {
    const value = values[name];
    if (value !== undefined) sizes[name] = wholeNumber(`--${name}`, value, 1);
  }
  const url = against.replace(/\/+$/, "");
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UserError(`--against ${against}: must be a URL`);
  const options: Target["options"] = { headers: { ...(token === undefined ? {} : bearer(token)) } };
  if (ca !== undefined) options.ca = readOption("--ca", ca);
  if (insecure) options.rejectUnauthorized = false;
  return { target: { url, options }, sizes };
}
