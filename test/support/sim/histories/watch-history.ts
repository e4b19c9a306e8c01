/**
 * One random history of watches, from its seed alone: a store is written, sleeps, dies, loses old history and is away for a while; sockets are lost; clients
 * come from what they know or from now, select, take nothing for a while, and leave, with or without a word. Then everything comes to rest.
 *
 * Each client gets every change of its selection after its start, once and in order, up to where its watch ended. A bookmark names no revision that a later
 * event has. At rest each open watch is complete, and those that share a selection and an isolate need few sockets.
 */
import type { CollectionRequest } from "../../../../src/api/rpc/store";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { REOPEN_MAX_MS, WATCH_SILENT_MS, WATCH_TEND_MS } from "../../../../src/api/relay/limits";
import { WATCH_PROGRESS_MS } from "../../../../src/api/store/state/limits";
import { type RelaySabotage, RelayWorld, type SimClient } from "../../relay/relay-world";
import { aLease } from "../../worlds/store-world";
import { pick, seededRandom } from "../platform/seeded-random";

export interface WatchReport {
  seed: number;
  violations: string[];
  sleeps: number;
  deaths: number;
  /** watches that were resumed over another socket */
  resumed: number;
  /** watches that ended with 410 */
  expired: number;
  /** times that a slow client took again */
  slow: number;
}

const NAMES = ["a", "b", "c", "d"];
const COLORS = ["red", "blue"];
/** so that a few events fill a window */
const PADS = [10, 10, 1_000, 60_000];
const HISTORY = { entriesMax: 14, sizeMax: 1e9, trimEntries: 3 };

/** A change as every watcher without a selector sees it. */
interface Logged {
  revision: number;
  type: string;
  name: string;
  before: string | undefined;
  after: string | undefined;
}

interface Watching {
  client: SimClient;
  color: string | undefined;
  /** undefined = from the objects at its first bookmark */
  since: number | undefined;
}

export async function runWatchHistory({ seed, sabotage }: { seed: number; sabotage?: RelaySabotage }): Promise<WatchReport> {
  const random = seededRandom(seed ^ 0x5eed);
  const world = new RelayWorld({ seed, historyBounds: HISTORY }, sabotage);
  const play = new Play(world, random);
  world.latencyMs = pick(random, [0, 1, 20, 300]);
  const acts = 60 + random.below(80);
  const gapMs = pick(random, [1, 30, 500, 3_000]);
  for (let act = 0; act < acts; act++) {
    await play.act();
    await world.scheduler.pass(random.below(gapMs));
  }
  await play.rest();
  return {
    seed,
    violations: play.violations(),
    ...play.counts,
    resumed: world.askedOfStore.filter(({ sendInitialEvents }) => sendInitialEvents === false).length,
  };
}

class Play {
  readonly counts = { sleeps: 0, deaths: 0, expired: 0, slow: 0 };
  readonly #log: Logged[] = [];
  readonly #watching: Watching[] = [];
  readonly #colors = new Map<string, string>();

  constructor(
    private readonly world: RelayWorld,
    private readonly random: WordRandom,
  ) {}

  async act(): Promise<void> {
    const { world, random } = this;
    const drawn = random.below(100);
    if (drawn < 45) return this.#write();
    if (drawn < 65) return this.#watch();
    if (drawn < 75) {
      this.counts.sleeps++;
      return world.sleep();
    }
    if (drawn < 79) {
      this.counts.deaths++;
      return world.die();
    }
    if (drawn < 83) return this.#any(world.open)?.lose();
    if (drawn < 85) return void (world.isUnreachable = !world.isUnreachable);
    const client = this.#any(this.#watching)?.client;
    if (!client) return;
    if (drawn < 92) return void (client.slow = true);
    if (drawn < 97) return this.#take(client);
    if (drawn < 98) client.isGone = true;
    else client.watch?.leave();
  }

  #any<T>(all: readonly T[]): T | undefined {
    return all[this.random.below(Math.max(1, all.length))];
  }

  async rest(): Promise<void> {
    const { world } = this;
    world.isUnreachable = false;
    for (const { client } of this.#watching) if (client.slow) this.#take(client);
    await world.scheduler.pass(2 * REOPEN_MAX_MS + WATCH_SILENT_MS + 2 * WATCH_TEND_MS);
    await this.#write();
    await world.scheduler.pass(WATCH_PROGRESS_MS + WATCH_TEND_MS);
    // Once more: those that stand at one place share a socket now.
    await this.#write();
    await world.scheduler.pass(WATCH_PROGRESS_MS + WATCH_TEND_MS);
  }

  violations(): string[] {
    const { world } = this;
    // That a client is gone shows with the next write.
    const open = this.#watching.filter(({ client }) => client.watch?.isOpen);
    const cohorts = new Set(open.map(({ color }) => color)).size;
    const sockets = world.open.length;
    return [
      ...this.#watching.flatMap((watching, at) => this.#problems(watching).map((problem) => `client ${String(at)}: ${problem}`)),
      ...(sockets > cohorts ? [`${String(sockets)} sockets at rest, for ${String(cohorts)} cohorts`] : []),
    ];
  }

  #take(client: SimClient): void {
    if (client.slow) this.counts.slow++;
    client.takeAll();
  }

  async #write(): Promise<void> {
    const { world, random } = this;
    const name = pick(random, NAMES);
    const before = this.#colors.get(name);
    const color = pick(random, COLORS);
    const lease = aLease(name, { holderIdentity: "x".repeat(pick(random, PADS)) + String(random.below(1e9)) }, { labels: { color } });
    if (before === undefined) await world.create(lease);
    else if (random.below(4) === 0) await world.delete(name);
    else await world.update(lease);
    for (const { revision, type } of world.store.history.historySince(this.#log.at(-1)?.revision ?? 1, 10)) {
      const after = type === "DELETED" ? undefined : color;
      this.#log.push({ revision, type, name, before, after });
      if (after === undefined) this.#colors.delete(name);
      else this.#colors.set(name, after);
    }
  }

  async #watch(): Promise<void> {
    const { world, random } = this;
    const color = random.below(2) === 0 ? pick(random, COLORS) : undefined;
    const head = world.store.revision;
    const isFresh = random.below(3) === 0;
    const since = isFresh ? undefined : Math.max(1, head - random.below(random.below(2) === 0 ? 3 : 80));
    const request: Partial<CollectionRequest> = {
      allowWatchBookmarks: true,
      timeoutSeconds: 3_600,
      ...(color === undefined ? {} : { labelSelector: `color=${color}` }),
      ...(since === undefined ? {} : { resourceVersion: String(since) }),
    };
    const client = await world.client(request, {}, random.below(15) === 0);
    if (!client.refused) this.#watching.push({ client, color, since });
    else if (client.refused.code === 410) this.counts.expired++;
    else if (client.refused.code !== 503) throw new Error(JSON.stringify(client.refused));
  }

  #problems({ client, color, since }: Watching): string[] {
    const seen = client.events.map(({ type, object }) => ({
      type,
      name: object.metadata?.name ?? "",
      revision: Number(object.metadata?.resourceVersion),
    }));
    if (seen.at(-1)?.type === "ERROR") {
      this.counts.expired++;
      seen.pop();
    }
    let start = since;
    if (start === undefined) {
      const end = seen.findIndex(({ type }) => type === "BOOKMARK");
      // A start that was broken off.
      if (end < 0) return client.watch?.isOpen && !client.isGone && !this.world.dropped.has(client) ? ["a start without its end"] : [];
      start = seen[end]?.revision ?? 0;
      const listed = seen.splice(0, end + 1).slice(0, -1);
      const wrong =
        this.#objectsAt(start, color).join() !==
        listed
          .map(({ name }) => name)
          .sort()
          .join();
      if (wrong) return [`its start shows ${listed.map(({ name }) => name).join()}, not ${this.#objectsAt(start, color).join()}`];
    }
    const wanted = this.#seenBy(color).filter(({ revision }) => revision > (start ?? 0));
    const problems: string[] = [];
    let at = 0;
    let place = start;
    for (const { type, name, revision } of seen) {
      const next = wanted[at];
      if (type === "BOOKMARK") {
        if (next && next.revision <= revision)
          problems.push(`a bookmark at ${String(revision)} before the event of ${String(next.revision)}`);
      } else {
        if (next?.revision !== revision || next.type !== type || next.name !== name) {
          return [
            `${type} ${name}@${String(revision)} instead of ${next ? `${next.type} ${next.name}@${String(next.revision)}` : "nothing"}`,
          ];
        }
        at++;
      }
      if (revision < place) problems.push(`${String(revision)} after ${String(place)}`);
      place = revision;
    }
    const isComplete = !client.watch?.isOpen || client.isGone || this.world.dropped.has(client);
    if (!isComplete && at < wanted.length) problems.push(`${String(wanted.length - at)} changes are missing at rest`);
    return problems;
  }

  #objectsAt(revision: number, color: string | undefined): string[] {
    const there = new Map<string, string>();
    for (const { revision: at, name, after } of this.#log) {
      if (at > revision) break;
      if (after === undefined) there.delete(name);
      else there.set(name, after);
    }
    return [...there]
      .filter(([, own]) => color === undefined || own === color)
      .map(([name]) => name)
      .sort();
  }

  #seenBy(color: string | undefined): { revision: number; type: string; name: string }[] {
    if (color === undefined) return this.#log;
    return this.#log.flatMap(({ revision, name, before, after }) => {
      const [was, is] = [before === color, after === color];
      if (!was && !is) return [];
      return [{ revision, name, type: was ? (is ? "MODIFIED" : "DELETED") : "ADDED" }];
    });
  }
}
