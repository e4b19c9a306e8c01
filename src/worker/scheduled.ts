/**
 * Cron -> the shards of the directory of clusters, which visit their clusters (src/tenancy/cluster-shard.ts). A run reads from KV which shards have work
 * for its job, and pokes those. Its work grows with the shards, not with the clusters. A poke may come twice, so several places may run all crons.
 */
import { inParallel } from "../core/base/in-parallel";
import type { Config } from "../core/config/config";
import { shardStub } from "../../durable-objects/peers/peers";
import type { Env } from "../../durable-objects/platform/env";
import { type Settings, settingsOf } from "../core/config/settings";
import type { Rhythm } from "../tenancy/directory-keys";
import type { ShardJob } from "../tenancy/rpc";
import { fleetMetrics } from "./http/connection/fleet";
import { log } from "./http/log";
import { call } from "./routing/call";
import { configOf } from "./routing/config-guard";
import { enterClusters, enterNotes, type KnownShard, knownShards } from "./routing/shards";

const MINUTE_MS = 60_000;
/** Shards that are poked at the same time: as many as connections that one invocation may have open. */
const POKED_TOGETHER = 6;

/** The crons of wrangler.toml. */
export const EVERY_MINUTE = "* * * * *";
const EVERY_FIVE_MINUTES = "*/5 * * * *";
const EVERY_HOUR = "0 * * * *";

interface Run {
  job: ShardJob;
  cron: string;
  dueMs: number;
  shards: readonly number[];
  settings: Settings;
}

/** The cron handler; `dueMs` is the time that the tick was due at. Never throws. What fails is counted and logged, and comes again with the next tick. */
export async function runScheduled(cron: string, env: Env, dueMs: number): Promise<void> {
  const config = configOf(env);
  if (![EVERY_MINUTE, EVERY_FIVE_MINUTES, EVERY_HOUR].includes(cron)) return log("warn", "unknown cron", { cron });
  if (!config.ok) return;
  const noted = cron === EVERY_MINUTE ? await enterNotes(env) : [];
  if (cron === EVERY_HOUR) await enterClusters(env);
  const known = await knownShards(env);
  const withWork = (rhythm: Rhythm): number[] => [
    ...new Set([...known.filter((shard) => shard[rhythm]).map(({ number }) => number), ...noted]),
  ];
  const run = { cron, dueMs, settings: settingsOf(config.value) };
  switch (cron) {
    case EVERY_MINUTE:
      await runJob(env, { ...run, job: "maintain", shards: isFirstTick(config.value, dueMs) ? all(known, noted) : withWork("minute") });
      if (config.value.featureGates.APIServerIdentity && endsInLastMinute(config.value.apiServerLeaseCollectSeconds * 1000, dueMs))
        await runJob(env, { ...run, job: "leases", shards: withWork("hour") });
      return;
    case EVERY_FIVE_MINUTES:
      // A shard that nobody pokes and whose alarm is lost.
      return runJob(env, { ...run, job: "maintain", shards: nextOf(known, dueMs) });
    case EVERY_HOUR:
      return runJob(env, { ...run, job: "compact", shards: withWork("hour") });
  }
}

/** A local server has begun. With the one before everything died that had work to do. */
function isFirstTick({ serverStartedAtMs }: Config, dueMs: number): boolean {
  return serverStartedAtMs > 0 && dueMs - serverStartedAtMs <= 2 * MINUTE_MS;
}

/** Whether a period, counted from the Unix epoch, has ended in the minute before. */
function endsInLastMinute(periodMs: number, nowMs: number): boolean {
  return Math.floor(nowMs / periodMs) > Math.floor((nowMs - MINUTE_MS) / periodMs);
}

function all(known: readonly KnownShard[], noted: readonly number[]): number[] {
  return [...new Set([...known.map(({ number }) => number), ...noted])];
}

function nextOf(known: readonly KnownShard[], dueMs: number): number[] {
  const turn = known[Math.floor(dueMs / (5 * MINUTE_MS)) % Math.max(1, known.length)];
  return turn ? [turn.number] : [];
}

async function runJob(env: Env, { job, cron, dueMs, shards, settings }: Run): Promise<void> {
  const startedAt = Date.now();
  let [visits, errors, left] = [0, 0, 0];
  await inParallel(shards, POKED_TOGETHER, async (shard) => {
    const done = await call(() => shardStub(env, shard).poke(job, dueMs, settings), {
      what: `shards/${String(shard)}.poke`,
      repeatable: true,
    });
    visits += done.ok ? done.value.visits : 0;
    errors += done.ok ? done.value.errors : 1;
    left += done.ok && done.value.isLeft ? 1 : 0;
  });
  fleetMetrics.add("cronVisits", visits);
  fleetMetrics.add("cronErrors", errors);
  const durationMs = Date.now() - startedAt;
  log(errors > 0 ? "warn" : "debug", "cron job finished", { job, cron, shards: shards.length, clusters: visits, left, durationMs, errors });
}
