/** A random schedule of hand-overs, judged by tokens: releases, deaths, sleeps, lost messages, a slow network, a server that dies. */
import { expect, it } from "vitest";
import type { WordRandom } from "../../../../src/core/base/word-random";
import type { ConfigMap } from "../../../../src/api/meta/kubernetes";
import { type Election, takePart } from "../../../../src/clients/elector/elector";
import { changeFenced, FENCING_TOKEN } from "../../../../src/clients/elector/fencing";
import type { Term } from "../../../../src/clients/elector/term";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { SimProcess } from "../../../support/worlds/api-world";
import { ElectionWorld } from "../../../support/worlds/election-world";
import { WRITE } from "../../../support/worlds/store-world";
import { histories, SEED } from "../../../support/sim/platform/seeds";

const HAND_OVERS = 10 * histories(12);
const CANDIDATES = 3;
const SECOND = 1_000;
const [LEASE, DEADLINE, RETRY] = [4, 3, 1];
const LATENCY_MAX_MS = 200;
const WRITES = 2;
const WRITE_PERIOD_MAX_MS = 3 * SECOND;
/** The work of a careless leader, the Lease that runs out, and four attempts of which messages are lost. */
const HAND_OVER_MAX_MS = WRITES * WRITE_PERIOD_MAX_MS + (LEASE + 4 * (2.2 * RETRY + 2 * (DEADLINE / 2))) * SECOND;

interface Candidate {
  identity: string;
  process: SimProcess;
  election: Election;
  term: Term | undefined;
}

class Schedule {
  readonly world = new ElectionWorld();
  readonly candidates: Candidate[] = [];
  readonly tokens: number[] = [];
  #starts = 0;

  constructor(readonly random: WordRandom) {}

  async begin(): Promise<void> {
    const object = { metadata: { name: "work", namespace: "ns" }, data: {} };
    expect(await this.world.configMaps.create(object, { ...WRITE, group: "" })).toMatchObject({ ok: true });
    for (let i = 0; i < CANDIDATES; i++) this.start();
  }

  /** A new process; its clock, its distance and its luck are its own. */
  start(): void {
    const { world, random } = this;
    const process = new SimProcess(world, {
      latencyMs: pick(random, [1, 20, LATENCY_MAX_MS]),
      aheadMs: random.below(7_200_000) - 3_600_000,
      isLost: () => random.below(50) === 0,
    });
    const candidate: Candidate = { identity: `c${++this.#starts}`, process, term: undefined, election: { stop: () => Promise.resolve() } };
    candidate.election = takePart({
      send: process.send,
      clock: process.clock,
      random,
      namespace: "ns",
      name: "lock",
      identity: candidate.identity,
      leaseDurationSeconds: LEASE,
      renewDeadlineSeconds: DEADLINE,
      retryPeriodSeconds: RETRY,
      lead: (term) => this.#lead(candidate, term),
    });
    this.candidates.push(candidate);
  }

  /** The leader that works now, as an observer with everybody's clock sees it. Two are the end. */
  leader(): Candidate | undefined {
    const leaders = this.candidates.filter(({ process, term }) => !process.isDead && term?.isValid === true);
    expect(leaders.map(({ identity }) => identity).length, "leaders at once").toBeLessThanOrEqual(1);
    return leaders[0];
  }

  /** Passes time in steps until there is a leader in another term than `before`. Answers how long, in milliseconds. */
  async untilLed(before: Term | undefined): Promise<number> {
    for (let passedMs = 0; ; passedMs += 50) {
      const leader = this.leader();
      if (leader && leader.term !== before) return passedMs;
      expect(passedMs, "ms without a leader").toBeLessThanOrEqual(HAND_OVER_MAX_MS);
      await this.world.scheduler.pass(50);
    }
  }

  /** A careful leader ends with its term. A careless one writes on as if it never looked at it. */
  async #lead(candidate: Candidate, term: Term): Promise<void> {
    candidate.term = term;
    const { process, identity } = candidate;
    const { random } = this;
    this.tokens.push(Number(term.token));
    const isCareful = random.below(4) > 0;
    const ended = new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve()));
    const asItSees = isCareful ? term : { token: term.token, isValid: true };
    for (let write = 0; write < WRITES; write++) {
      const due = new Promise<void>((resolve) => void process.clock.after(random.below(WRITE_PERIOD_MAX_MS), resolve));
      await (isCareful ? Promise.race([due, ended]) : due);
      await changeFenced<ConfigMap>({
        send: process.send,
        clock: process.clock,
        term: asItSees,
        path: "/api/v1/namespaces/ns/configmaps/work",
        change: (stored) => ({ ...stored, data: { by: identity, write: String(write) } }),
      }).catch(() => undefined);
    }
  }
}

/** One event of the schedule, and the wait for a leader after it. Answers how long that took, in milliseconds. */
async function handOver(schedule: Schedule): Promise<number> {
  const { world, random, candidates } = schedule;
  await world.scheduler.pass(random.below(1_500));
  const leader = schedule.leader();
  if (!leader) return schedule.untilLed(undefined);
  const { term, process, election } = leader;
  const how = pick(random, ["stop", "stop", "stop", "kill", "pause", "sleep", "server"] as const);
  switch (how) {
    case "stop":
    case "kill":
      if (how === "stop") void election.stop();
      else process.kill();
      candidates.splice(candidates.indexOf(leader), 1);
      schedule.start();
      return schedule.untilLed(term);
    case "pause":
    case "sleep": {
      process[how]();
      const tookMs = await schedule.untilLed(term);
      process.resume();
      return tookMs;
    }
    case "server":
      world.stopServer();
      await world.scheduler.pass(random.below((LEASE + 2) * SECOND));
      world.startServer();
      return schedule.untilLed(undefined);
  }
}

it(`${String(HAND_OVERS)} hand-overs: one leader at a time, tokens that grow, and no write of an earlier leader after one of a later`, async () => {
  const seed = SEED || 1965;
  const told = `SEED=${seed}`;
  const schedule = new Schedule(seededRandom(seed));
  const { world, tokens } = schedule;
  await schedule.begin();
  await schedule.untilLed(undefined);
  let slowestMs = 0;
  while (tokens.length <= HAND_OVERS) slowestMs = Math.max(slowestMs, await handOver(schedule));
  const isSorted = (numbers: readonly number[]): boolean => numbers.every((number, i) => number >= (numbers[i - 1] ?? 0));
  expect([isSorted(tokens), new Set(tokens).size], `${told}: tokens grow`).toEqual([true, tokens.length]);
  const history = world.configMaps.storage.historySince(0, 1_000_000);
  const written = history
    .flatMap(({ data }) => (JSON.parse(data) as ConfigMap).metadata?.annotations?.[FENCING_TOKEN.key] ?? [])
    .map(Number);
  expect(written.length, told).toBeGreaterThan(HAND_OVERS / 4);
  expect(isSorted(written), `${told}: writes in the order of tokens`).toBe(true);
  expect(slowestMs, told).toBeLessThanOrEqual(HAND_OVER_MAX_MS);
}, 120_000);
