/**
 * The shards of the directory of clusters: objects of the deployment that each have the clusters whose ids hash to them. Their number never changes:
 * clusters would be in another shard than the one that knows them.
 */
import { fnv1a, FNV_OFFSET } from "../core/encoding/fnv1a";

/**
 * With 100,000 clusters, of which 5,000 are busy, one has some 1,560 and 78, and the fullest 110. A visit is one call of some 200 ms where the cluster
 * is far away. Six are under way, so a minute's round takes under four seconds.
 */
export const SHARDS = 64;
const SHARD = "shards/";
const DAY_MS = 86_400_000;
const HASHES = 2 ** 32;

/** The number of the shard that has the cluster of this id. */
export function clusterShardOf(id: string): number {
  return hashOf(id) % SHARDS;
}

export function clusterShardName(shard: number): string {
  return SHARD + String(shard);
}

/** The number behind the prefix of such a name, or of a key in KV; undefined = it is none. */
export function shardNumberIn(name: string, prefix = SHARD): number | undefined {
  const number = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : NaN;
  return Number.isInteger(number) && number >= 0 && number < SHARDS ? number : undefined;
}

/** When in each day an idle cluster is visited, in milliseconds since its beginning (UTC). All clusters together are spread over the day. */
export function visitTimeOf(id: string): number {
  return Math.floor((hashOf(`time of ${id}`) / HASHES) * DAY_MS);
}

/** MurmurHash3's last step behind FNV-1a: without it ids that differ in their last character would have neighbouring hashes. */
function hashOf(text: string): number {
  let hash = fnv1a(FNV_OFFSET, text);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
