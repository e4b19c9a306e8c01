/**
 * The directory of all clusters, in objects of the deployment: `clusters` has the list of them, and `shards/<number>` what cron owes those that hash to it.
 * A shell: the rules are in src/tenancy/cluster-names and src/tenancy/cluster-shard.
 */
import { DurableObject } from "cloudflare:workers";
import { ClusterNames as Brain } from "../src/tenancy/cluster-names";
import { ClusterShard } from "../src/tenancy/cluster-shard";
import type { ClusterNamesRpc, ClusterShardRpc, ShardEntry, ShardJob, ShardReport, ShardWhereabouts } from "../src/tenancy/rpc";
import type { Settings } from "../src/core/config/settings";
import { directoryIds } from "../src/tenancy/directory-ids";
import type { Env } from "./platform/env";
import { systemClock, systemRecorder } from "./platform/ports";
import { keptNames } from "./name-values";
import { shardPorts } from "./shard-ports";

export class ClusterNames extends DurableObject<Env> implements ClusterNamesRpc, ClusterShardRpc {
  readonly #names: Brain;
  #shard: ClusterShard | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#names = new Brain({
      storage: keptNames(ctx.storage),
      clock: systemClock,
      recorder: systemRecorder({ object: "clusters" }),
      readDirectory: () => directoryIds((asked) => env.DIRECTORY.list(asked)),
    });
  }

  areMade(names: readonly string[], tellsLives?: boolean): Promise<(boolean | string | null)[]> {
    return this.#names.areMade(names, tellsLives);
  }

  entries(names: readonly string[]): ReturnType<Brain["entries"]> {
    return this.#names.entries(names);
  }

  noteLife(...told: Parameters<Brain["noteLife"]>): Promise<boolean> {
    return this.#names.noteLife(...told);
  }

  add(name: string, stamp?: string): Promise<void> {
    return this.#names.add(name, stamp);
  }

  drop(name: string, stamp: string): Promise<void> {
    return this.#names.drop(name, stamp);
  }

  page(after: string, limit: number): ReturnType<Brain["page"]> {
    return this.#names.page(after, limit);
  }

  enter(entries: readonly ShardEntry[]): Promise<void> {
    return this.#asShard.enter(entries);
  }

  leave(id: string): Promise<void> {
    return this.#asShard.leave(id);
  }

  poke(job: ShardJob, tickMs: number, settings?: Settings): Promise<ShardReport> {
    return this.#asShard.poke(job, tickMs, settings);
  }

  whereabouts(id: string): Promise<ShardWhereabouts> {
    return this.#asShard.whereabouts(id);
  }

  /** Only shards have one. */
  override alarm(): Promise<void> {
    return this.#asShard.alarm();
  }

  get #asShard(): ClusterShard {
    const { ctx, env } = this;
    return (this.#shard ??= new ClusterShard(shardPorts(ctx, env)));
  }
}
