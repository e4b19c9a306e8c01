/**
 * The places that share the busy clusters of a cron run. A place counts when its identity Lease lives and its own cron has run recently: a Lease
 * shows that a place serves requests, not that its crons run. Cloudflare fires a cron in one place for the whole deployment and does not name the
 * place, so that run does everything. In doubt a run does everything, too; work that is done twice does no harm.
 */
import type { Env } from "../../durable-objects/platform/env";
import { systemDigest } from "../../durable-objects/platform/ports";
import type { Config } from "../core/config/config";
import { identityLeaseName } from "../leases/identity/lease-name";
import { DEFAULT_CLUSTER } from "../tenancy/cluster-id";
import { log } from "./http/log";
import { instancesOf } from "./routing/instances";

/** A key in the directory for each place whose cron has run. Three of its runs. */
const PREFIX = "cron/place/";
const LIFETIME_SECONDS = 180;
/** More places than ever run crons of one directory. */
const PLACES_MAX = 100;

export interface CronPlaces {
  /** name of this place's identity Lease */
  self: string;
  /** those that share the work, `self` among them */
  all: readonly string[];
}

/** Undefined: this run does everything. Notes this place for the runs of others, where there are any. Never rejects. */
export async function cronPlaces(env: Env, { featureGates }: Config): Promise<CronPlaces | undefined> {
  if (!featureGates.APIServerIdentity || !env.HOST_NAME) return undefined;
  try {
    const self = await identityLeaseName(env.HOST_NAME, systemDigest);
    const { living } = await instancesOf(env, DEFAULT_CLUSTER);
    const names = living.flatMap(({ metadata }) => metadata?.name ?? []);
    if (names.length < 2 || !names.includes(self)) return undefined;
    await env.DIRECTORY.put(PREFIX + self, "", { expirationTtl: LIFETIME_SECONDS });
    const noted = await env.DIRECTORY.list({ prefix: PREFIX, limit: PLACES_MAX });
    const run = new Set([self, ...noted.keys.map(({ name }) => name.slice(PREFIX.length))]);
    const all = names.filter((name) => run.has(name));
    return all.length < 2 ? undefined : { self, all };
  } catch (error) {
    log("warn", "cron does not know who shares its work", { error: String(error) });
    return undefined;
  }
}
