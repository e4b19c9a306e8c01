/** The counters of a cluster's stores and owners of addresses. An object that does not answer is left out. */
import type { Env } from "../../../durable-objects/platform/env";
import { coordinator, owner, storeStub } from "../../../durable-objects/peers/peers";
import { systemClock } from "../../../durable-objects/platform/ports";
import type { CidrUsage } from "../../addresses/metrics/allocator-families";
import { partsOfRanges } from "../../addresses/topology/range-parts";
import { storedDefinitionsIn, storeLabel } from "../../api/registry/all";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { StoreCounters } from "../../api/rpc/store";
import { isRootCluster } from "../../tenancy/cluster-id";
import { inParallel } from "../../core/base/in-parallel";
import { pause } from "../../core/base/pause";
import { READY_TIMEOUT_MS } from "../http/limits";
import { log } from "../http/log";
import { call } from "../routing/call";

export interface Reading extends StoreCounters {
  store: string;
}

/** Owners asked side by side: a scrape of a thousand ranges must leave the thread to other requests. */
const OWNERS_AT_ONCE = 32;

/** An object that does not answer is left out: half of the metrics are better than none. */
export async function read<T>(what: string, attempt: () => Promise<T>): Promise<T | undefined> {
  const answer = await call(attempt, { what, repeatable: true, timeoutMs: READY_TIMEOUT_MS });
  if (answer.ok) return answer.value;
  log("warn", "metrics are incomplete", { what, message: answer.error.message ?? "" });
  return undefined;
}

/** `isThere`: whether the store of this resource has an object. */
export async function storeReadings(env: Env, cluster: string, isThere: (definition: ResourceDefinition) => boolean): Promise<Reading[]> {
  const stored = storedDefinitionsIn(isRootCluster(cluster)).filter(isThere);
  const readings = await Promise.all(
    stored.map(async (definition) => {
      const counters = await read(`${definition.resource}.counters`, () => storeStub(env, cluster, definition).counters());
      return counters && { store: storeLabel(definition), ...counters };
    }),
  );
  return readings.filter((reading) => reading !== undefined);
}

interface OwnerReading {
  owner: string;
  drains: number;
  operations: number;
}

/** Counters of the owners, and the usage of the ranges that give out addresses now. An address in several ranges counts in each, as upstream. */
export async function ownerReadings(env: Env, cluster: string): Promise<{ owners: OwnerReading[]; usage: CidrUsage[] }> {
  const topology = await read("coordinator.topology", () => coordinator(env, cluster).topology());
  if (!topology) return { owners: [], usage: [] };
  const parts = partsOfRanges(topology);
  const taken = new Map(parts.ranges.map(({ cidr }) => [cidr, 0]));
  const unknown = new Set<string>();
  const owners = new Map<string, OwnerReading>();
  await inParallel([...parts.byOwner], OWNERS_AT_ONCE, async ([uid, intervals]) => {
    const answer = await read("owner.usage", () => owner(env, cluster, uid).usage(intervals.map(({ first, last }) => ({ first, last }))));
    for (const [index, { cidr }] of intervals.entries()) {
      if (answer) taken.set(cidr, (taken.get(cidr) ?? 0) + (answer.taken[index] ?? 0));
      else unknown.add(cidr);
    }
    if (answer) owners.set(uid, { owner: uid, drains: answer.drains, operations: answer.weight });
    await pause(systemClock, 1);
  });
  const known = parts.ranges.filter(({ cidr }) => !unknown.has(cidr));
  return {
    owners: [...parts.byOwner.keys()].flatMap((uid) => owners.get(uid) ?? []),
    usage: known.map(({ cidr, size }) => {
      const allocated = taken.get(cidr) ?? 0;
      return { cidr, allocated, available: Number(size - BigInt(allocated)) };
    }),
  };
}
