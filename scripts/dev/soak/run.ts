/** A long run of one server under load, and what it has to show for it. */
import { cpus, loadavg, totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "../../../test/support/clients/api";
import { CarefulClient, newTally } from "../../../test/support/clients/careful-clients";
import { violationsAfterRepair, wrongAfterRepair } from "../../../test/support/server/observe";
import { removeFolder, type Server, startServer, temporaryFolder } from "../../../test/support/server/server";
import { seededRandom } from "../../../test/support/sim/platform/seeded-random";
import { serverMiB } from "../bench/memory";
import { flatness } from "./flat";
import type { SoakOptions } from "./options";
import { Services } from "./services";
import { OWN_CONNECTION, STAYING_RANGE, Surroundings } from "./surroundings";
import { SERVICES, Watchers } from "./watchers";

/** Looks of a long run; a short one has a few. */
const LOOK_MS = 60_000;
const SHORT_LOOKS = 4;
const SAMPLES = 120;
const SAMPLE_MS_MAX = 5_000;
/** Kills are so many parts of the run apart, and no closer than a start takes. */
const KILLS = 10;
const KILL_MS_MIN = 6_000;
const KILL_MS_MAX = 120_000;
/** Orphans that are younger than a minute are left alone. */
const REPAIR_MS_MAX = 180_000;
const REST_MS_MAX = 120_000;
const REST_POLL_MS = 1_000;
const SHOWN_MAX = 20;
/** So long, in milliseconds, memory is judged: a shorter run has nothing but the warming up of caches. */
const JUDGED_MS_MIN = 150_000;

export interface SoakReport {
  problems: string[];
  created: number;
  deleted: number;
  kills: number;
  watches: number;
  /** changes that were told to watchers, each counted for each */
  events: number;
}

/** Runs until the time is over, or `ends` is aborted. `say` gets a line for each look, and the sums. */
export async function soak(options: SoakOptions, { say, ends }: { say(line: string): void; ends: AbortSignal }): Promise<SoakReport> {
  const folder = temporaryFolder();
  const run = new Run(options, folder, say);
  try {
    return await run.whole(ends);
  } finally {
    await run.end();
    removeFolder(folder);
  }
}

export function machine(): string {
  const [cpu] = cpus();
  const load = loadavg()
    .map((value) => value.toFixed(2))
    .join(" ");
  return `${String(cpus().length)} x ${cpu?.model ?? "unknown CPU"}, ${String(Math.round(totalmem() / 2 ** 30))} GiB, Node ${process.version}, load ${load}`;
}

class Run {
  readonly #random;
  readonly #tally = newTally();
  readonly #api = new Api(() => this.#url, OWN_CONNECTION);
  readonly #found = new Set<string>();
  readonly #samplesMiB: number[] = [];
  #server: Server | undefined;
  #url = "";
  #kills = 0;

  constructor(
    private readonly options: SoakOptions,
    private readonly folder: string,
    private readonly say: (line: string) => void,
  ) {
    this.#random = seededRandom(options.seed);
  }

  async whole(ends: AbortSignal): Promise<SoakReport> {
    const { seconds, rate, kills, aliveMax, watchers: count } = this.options;
    const random = this.#random;
    const url = () => this.#url;
    await this.#start();
    const surroundings = new Surroundings({ url, random, tally: this.#tally, kills });
    await surroundings.make();
    const lifetimeSeconds = Math.max(4, Math.min(120, seconds / 6));
    const watchers = await Watchers.start({ url, random, count, lifetimeSeconds, list: (path) => this.#api.must("GET", path) });
    const ledger = watchers.ledgers.get(SERVICES);
    if (!ledger) throw new Error("nobody watches Services");
    const client = new CarefulClient("soak", url, this.#tally);
    // A short run would end before so many are there.
    const services = new Services({
      client,
      ledger,
      random,
      ratePerSecond: rate,
      aliveMax: Math.min(aliveMax, Math.ceil((rate * seconds) / 5)),
    });
    const written = [services.run(), surroundings.run()];
    const endAt = performance.now() + seconds * 1_000;
    const isOver = () => ends.aborted || performance.now() >= endAt;
    const pause = (ms: number) =>
      sleep(Math.max(0, Math.min(ms, endAt - performance.now())), undefined, { signal: ends }).catch(() => undefined);
    await Promise.all([
      this.#sample(services, isOver, pause),
      this.#looks({ watchers, services, surroundings }, isOver, pause),
      ...(kills ? [this.#killNowAndThen(isOver, pause)] : []),
    ]);
    services.stop();
    surroundings.stop();
    await Promise.all(written);
    await this.#atRest({ watchers, services, surroundings });
    await watchers.stop();
    this.#judgeMemory(this.#samplesMiB.length * this.#sampleMs >= JUDGED_MS_MIN);
    const { watches, events } = watchers.counts;
    return {
      problems: [...this.#found],
      created: services.counts.created,
      deleted: services.counts.deleted,
      kills: this.#kills,
      watches,
      events,
    };
  }

  async end(): Promise<void> {
    await this.#server?.kill();
  }

  async #start(): Promise<void> {
    this.#server = await startServer(this.folder, ["--var", `SERVICE_CLUSTER_IP_RANGE=${STAYING_RANGE}`]);
    this.#url = this.#server.url;
  }

  get #sampleMs(): number {
    return Math.min(SAMPLE_MS_MAX, (this.options.seconds * 1_000) / SAMPLES);
  }

  /** Memory counts from the moment at which as many Services are there as there will be. */
  async #sample(services: Services, isOver: () => boolean, pause: (ms: number) => Promise<unknown>): Promise<void> {
    while (!isOver()) {
      await pause(this.#sampleMs);
      const mib = services.isFull || this.#samplesMiB.length > 0 ? this.#memoryMiB() : undefined;
      if (mib !== undefined) this.#samplesMiB.push(mib);
    }
  }

  #memoryMiB(): number | undefined {
    return this.#server && serverMiB(this.#server);
  }

  async #killNowAndThen(isOver: () => boolean, pause: (ms: number) => Promise<unknown>): Promise<void> {
    const every = Math.min(KILL_MS_MAX, Math.max(KILL_MS_MIN, (this.options.seconds * 1_000) / KILLS));
    for (;;) {
      await pause(every * (0.5 + this.#random.next()));
      if (isOver()) return;
      await this.#server?.kill();
      this.#kills++;
      await this.#start();
    }
  }

  async #looks(parts: Parts, isOver: () => boolean, pause: (ms: number) => Promise<unknown>): Promise<void> {
    const every = Math.min(LOOK_MS, (this.options.seconds * 1_000) / SHORT_LOOKS);
    while (!isOver()) {
      await pause(every);
      parts.watchers.look();
      // While a server is away nobody answers; with kills the end is checked.
      if (!this.options.kills) this.#find(await wrongAfterRepair(this.#url, REPAIR_MS_MAX));
      this.#collect(parts);
      this.#tell(parts);
    }
  }

  /** Everything has come to rest: nothing may be missing any more. */
  async #atRest({ watchers, services, surroundings }: Parts): Promise<void> {
    await this.#until(async () => (await services.settle()) && (await surroundings.settle()), "some clients have no answer");
    await this.#until(() => this.#isQuiet(watchers), "somebody writes on and on");
    await this.#until(async () => watchers.areThrough(await this.#revisions(watchers)), "some watcher lags behind");
    watchers.look(true);
    this.#find(await violationsAfterRepair(this.#url, [], REPAIR_MS_MAX));
    this.#find(await wrongAfterRepair(this.#url, REPAIR_MS_MAX));
    this.#find(await services.lost());
    this.#collect({ watchers, services, surroundings });
    this.#tell({ watchers, services, surroundings });
  }

  async #isQuiet(watchers: Watchers): Promise<boolean> {
    const before = await this.#revisions(watchers);
    await sleep(2 * REST_POLL_MS);
    const after = await this.#revisions(watchers);
    return [...before].every(([path, revision]) => after.get(path) === revision);
  }

  async #revisions(watchers: Watchers): Promise<Map<string, number>> {
    const revisions = new Map<string, number>();
    for (const path of watchers.ledgers.keys()) {
      const { metadata } = await this.#api.must("GET", path, { query: { limit: "1" } });
      revisions.set(path, Number(metadata?.resourceVersion));
    }
    return revisions;
  }

  async #until(holds: () => Promise<boolean>, otherwise: string): Promise<void> {
    for (const deadline = Date.now() + REST_MS_MAX; !(await holds().catch(() => false));) {
      if (Date.now() > deadline) return this.#find([`not within ${String(REST_MS_MAX / 1_000)} s at rest: ${otherwise}`]);
      await sleep(REST_POLL_MS);
    }
  }

  #collect({ watchers, surroundings }: Parts): void {
    this.#find([...watchers.problems, ...surroundings.problems, ...this.#tally.violations]);
    if (this.options.kills) return;
    const { refused, broken } = watchers.counts;
    if (refused > 0) this.#find(["watches were refused although the server was there"]);
    if (broken > 0) this.#find(["connections of watchers broke off although the server was there"]);
    for (const [what] of this.#tally.failures) this.#find([`writes were answered with ${what}`]);
    this.#find(this.#server?.output().match(/^.*"level":"error".*$/gm) ?? []);
  }

  #judgeMemory(isJudged: boolean): void {
    if (this.#samplesMiB.length === 0) return;
    const { thirds, isFlat } = flatness(this.#samplesMiB);
    this.say(
      `memory of the server, medians of the thirds: ${thirds.map((mib) => mib.toFixed(0)).join(", ")} MiB${isJudged ? "" : " (not judged)"}`,
    );
    if (isJudged && !isFlat) this.#find([`memory grows: ${thirds.map((mib) => mib.toFixed(0)).join(", ")} MiB`]);
  }

  #find(problems: readonly string[]): void {
    for (const problem of problems) {
      if (this.#found.has(problem)) continue;
      this.#found.add(problem);
      if (this.#found.size <= SHOWN_MAX) this.say(`FAILED ${problem}`);
    }
  }

  #tell({ watchers, services }: Parts): void {
    const { created, deleted, leftOut } = services.counts;
    const { events, watches, expired, refused, broken } = watchers.counts;
    const memory = this.#memoryMiB()?.toFixed(0) ?? "?";
    this.say(
      [
        new Date().toISOString().slice(11, 19),
        `${String(created)} created, ${String(deleted)} deleted, ${String(services.alive)} there, ${String(leftOut)} left out`,
        `${String(watchers.count)} watchers: ${String(events)} events, ${String(watches)} watches, ${String(expired)} expired, ${String(refused)} refused, ${String(broken)} broken`,
        `${memory} MiB, ${String(this.#kills)} kills, load ${loadavg()[0]?.toFixed(1) ?? "?"}`,
      ].join("; "),
    );
  }
}

interface Parts {
  watchers: Watchers;
  services: Services;
  surroundings: Surroundings;
}
