/**
 * The identity Leases that this isolate renews: one in each cluster whose requests it answers. Alarms and crons run where an object lives, so they
 * say nothing about a location; requests do. The local runner, which has one location, ticks besides (identity-signal.ts).
 */
import { err, ok, type Result } from "../../core/base/result";
import type { Config } from "../../core/config/config";
import { GIT_VERSION } from "../../core/config/version";
import type { Status } from "../../api/meta/status";
import { IdentityKeeper, type LeaseCalls } from "../../leases/identity/identity-keeper";
import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";
import type { Env } from "../../../durable-objects/platform/env";
import { leasesStore } from "../../../durable-objects/peers/peers";
import { systemClock, systemDigest, systemRandom } from "../../../durable-objects/platform/ports";
import { log } from "../http/log";
import { isInUse } from "./bootstrap";
import { call } from "./call";
import { configOf } from "./config-guard";

/** By the bindings, as the configuration is. */
const keepers = new WeakMap<Env, IdentityKeeper>();
const random = systemRandom();
let start: string | undefined;

/** Renews the Lease of this place in the cluster of an answered request; undefined = it was renewed recently. Never rejects. */
export function renewServed(env: Env, cluster: string, request: Request): Promise<void> | undefined {
  const keeper = keeperOf(env, request);
  // Reads alone make no object in a cluster without writes.
  return keeper?.isDue(cluster) && isInUse(env, cluster) ? keeper.renew(cluster) : undefined;
}

/**
 * The first renewal of a start, which a health check waits for. A place of a deployment has nothing to renew in a cluster that nobody has used
 * through this isolate. Never rejects.
 */
export async function renewAtStart(env: Env, cluster: string, request: Request): Promise<void> {
  const keeper = keeperOf(env, request);
  if (keeper?.isDue(cluster) && (env.HOST_NAME || isInUse(env, cluster))) await keeper.renew(cluster);
}

/** The tick of the local runner. Never rejects. */
export async function renewHere(env: Env): Promise<void> {
  const keeper = keeperOf(env);
  if (keeper?.isDue(DEFAULT_CLUSTER)) await keeper.renew(DEFAULT_CLUSTER);
}

/** undefined: the gate is off, or this place has no name. */
function keeperOf(env: Env, request?: Request): IdentityKeeper | undefined {
  const known = keepers.get(env);
  if (known) return known;
  const config = configOf(env);
  const hostname = env.HOST_NAME || locationOf(request);
  if (!config.ok || !config.value.featureGates.APIServerIdentity || !hostname) return undefined;
  const keeper = made(env, hostname, config.value);
  keepers.set(env, keeper);
  return keeper;
}

/** The data centre that serves the request, and the release that runs there: `ams-v1.36.2-servicenet.1`. */
function locationOf(request: Request | undefined): string | undefined {
  const colo = (request as { cf?: { colo?: unknown } } | undefined)?.cf?.colo;
  return typeof colo === "string" && colo !== "" ? `${colo.toLowerCase()}-${GIT_VERSION}` : undefined;
}

function made(env: Env, hostname: string, config: Config): IdentityKeeper {
  const setting = {
    hostname,
    durationSeconds: config.apiServerLeaseDurationSeconds,
    renewSeconds: config.apiServerLeaseRenewSeconds,
  };
  // One start has one identity, whatever bindings its requests come with.
  const uuid = (): string => (start ??= random.uuid());
  const ports = {
    clock: systemClock,
    random: { next: () => random.next(), uuid },
    digest: systemDigest,
    recorder: { log },
    calls: callsOf(env),
  };
  return new IdentityKeeper(ports, setting);
}

function callsOf(env: Env): LeaseCalls {
  return {
    get: async (cluster, key) =>
      objectOf(await call(() => leasesStore(env, cluster).get(key, ""), { what: "leases.get of an identity", repeatable: true })),
    write: async (cluster, request) =>
      objectOf(await call(() => leasesStore(env, cluster).write(request), { what: "leases.write of an identity", repeatable: false })),
  };
}

function objectOf(answer: Result<{ ok: true; object: string } | { ok: false; status: Status }, Status>): Result<string, Status> {
  if (!answer.ok) return answer;
  return answer.value.ok ? ok(answer.value.object) : err(answer.value.status);
}
