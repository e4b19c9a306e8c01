/**
 * What a cluster has to show for one write when objects die at each await of it in turn (deaths.ts). Enumerated: the write is done again, in a
 * cluster of its own, with the next await as its last, until it comes to its end. So for each who may die: everything, or the object that is
 * called, or that waits for its disk, or the caller. A call of the client's has no object for a caller. Whether each dies before or after the await
 * depends on the seed (death-forms.ts).
 *
 *     given ──► the client asks, objects die ──► all is at rest: I1 to I4, no lost row, no lost claim, nothing pending
 *                       │                                     ▲     │
 *                       │                                     │     ▼
 *                       │                                     └── the call that a dead caller had made arrives
 *                       │
 *                       │ answered with success ─────────────►├─ then it is done, as it was answered
 *                       └ refused, or never answered ────────►└─ then the client asks again, and it is done after all
 */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import type { ControllerName } from "../../../durable-objects/platform/controllers";
import { sqlLedgerStorage } from "../../../durable-objects/sql/ledger-sql";
import { systemClock } from "../../../durable-objects/platform/ports";
import { inParallel } from "../../../src/core/base/in-parallel";
import { checkCluster } from "../../../src/tools/check/check-cluster";
import { RpcSource } from "../../../src/worker/system/check-source";
import { onlyBegun } from "./begun-stores";
import { FORMS, formsOf, seed } from "./death-forms";
import { AT_DISK, type Death, Deaths, type Watched } from "./deaths";
import { ObjectCluster } from "./object-cluster";

const bindings = env as unknown as Env;
/** Clusters that die side by side: most of their work is waiting, and none may wait for its turn as long as a call may take. */
const TOGETHER = 16;
/** The same, where all of their stores are woken. */
const TOGETHER_WHOLE = 4;
const POLL_MS = 10;
const POLL_MAX_MS = 300;
/** Until everything is at rest: the longest backoff after a few failures, on a busy machine. */
const REST_MS = 120_000;
const AWAITS_MAX = 200;

export interface WritePath {
  name: string;
  /** the cluster has never had a request */
  isNew?: true;
  /** the state before the request */
  given?(cluster: ObjectCluster): Promise<unknown>;
  /** The client's request and its answer; rejects without an answer. Repeated after a refusal and without an answer. */
  ask(cluster: ObjectCluster): Promise<{ ok: boolean } | undefined>;
  /** Whether the requested work has ended as it was answered. Read from tables: a call would count as an await. */
  done(cluster: ObjectCluster, answer: unknown): Promise<boolean>;
  /** further work of cron besides the maintenance of stores */
  nudge?(cluster: ObjectCluster): Promise<unknown>;
  /** the controller that takes part; pokes of the others are lost */
  controller?: ControllerName;
  /** Only awaits of these objects count, by name without the cluster's: where all stores are asked, most of them are alike. */
  of?: readonly string[];
  /** awaits that the enumeration must contain */
  awaits: readonly string[];
  /** findings of the check that the request itself causes */
  expected?: readonly string[];
}

interface Case {
  cluster: ObjectCluster;
  /** what the check reads the cluster by */
  env: Env;
  death: Death;
  watched: Watched;
  /** the answers that the client heard */
  answer: { ok: boolean } | undefined;
  isOver: boolean;
  /** the client has left and hears nothing */
  isLeft: boolean;
}

/** One test for each path. */
export function describeDeaths(paths: readonly WritePath[]): void {
  describe("objects die", () => {
    for (const path of paths) {
      it(`at each await of: ${path.name}`, { timeout: 600_000 }, async () => {
        const deaths = await Deaths.begin((await new ObjectCluster().ready()).servicesObject, path.controller);
        try {
          const reached = new Set(await enumerate(path, deaths));
          expect([...reached], "what is known to be an await of it").toEqual(expect.arrayContaining([...path.awaits]));
        } finally {
          deaths.end();
        }
      });
    }
  });
}

/** Every await of the path with every death at it; answers where the deaths were. */
async function enumerate(path: WritePath, deaths: Deaths): Promise<string[]> {
  const [undisturbed] = await dyingTogether(path, deaths, [{ nth: Infinity, when: "before", who: "called" }]);
  expect(undisturbed?.answer, "the answer when nothing dies").toMatchObject({ ok: true });
  const { awaits = 0, calls = 0 } = undisturbed?.watched ?? {};
  const called: Case[] = [];
  for (const who of ["all", "called"] as const) called.push(...(await enumerateOf(path, deaths, { who, likely: awaits })));
  called.push(...(await missed(path, deaths, { who: "called", among: called, wanted: path.awaits })));
  const callers = await enumerateOf(path, deaths, { who: "caller", likely: calls });
  const asked = new Set(called.flatMap(({ watched }) => [...watched.asked]));
  const byObjects = path.awaits.filter((place) => !place.endsWith(AT_DISK) && !asked.has(place));
  callers.push(...(await missed(path, deaths, { who: "caller", among: callers, wanted: byObjects })));
  expect(places(callers), "calls whose caller has died").toEqual(expect.arrayContaining(byObjects));
  return places(called);
}

/** The deaths of one object at each of its awaits, about `likely` of them; answers the cases in which it died. */
async function enumerateOf(path: WritePath, deaths: Deaths, { who, likely }: Pick<Death, "who"> & { likely: number }): Promise<Case[]> {
  const dead: Case[] = [];
  const together = path.of ? TOGETHER_WHOLE : TOGETHER;
  for (let nth = 1, isReached = true; isReached;) {
    // One more than there are, to see the end.
    const wave = Array.from({ length: Math.max(1, Math.min(together / FORMS, likely + 2 - nth)) }, (_, i) => nth + i);
    nth += wave.length;
    expect(nth, `awaits of one path: ${places(dead).join()}`).toBeLessThan(AWAITS_MAX);
    const wanted = wave.flatMap((each) => formsOf({ nth: each, who }));
    const cases = (await dyingTogether(path, deaths, wanted)).filter(({ watched }) => watched.at !== "");
    dead.push(...cases);
    isReached = cases.some(({ death }) => death.nth === wave.at(-1));
  }
  return dead;
}

/** A call that depends on time, a fresh topology for one, shifts the numbers of those after it: what `among` does not have dies by its name. */
async function missed(
  path: WritePath,
  deaths: Deaths,
  { who, among, wanted }: Pick<Death, "who"> & { among: readonly Case[]; wanted: readonly string[] },
): Promise<Case[]> {
  const met = new Set(places(among));
  const left = wanted.filter((place) => !met.has(place));
  const named = left.flatMap((place, i) => formsOf({ nth: i, place, who }));
  if (named.length === 0) return [];
  return (await dyingTogether(path, deaths, named)).filter(({ watched }) => watched.at !== "");
}

function places(cases: readonly Case[]): string[] {
  return [...new Set(cases.map(({ watched }) => watched.at))];
}

async function dyingTogether(path: WritePath, deaths: Deaths, wanted: readonly Death[]): Promise<Case[]> {
  const clusters = await Promise.all(
    wanted.map(async () => {
      const cluster = new ObjectCluster();
      if (!path.isNew) await cluster.ready();
      await path.given?.(cluster);
      return cluster;
    }),
  );
  const cases = wanted.map((death, i) => begin(path, deaths, clusters[i] as ObjectCluster, death));
  await Promise.all(cases.map((one) => untilDead(path, one)));
  for (const one of cases) {
    deaths.forget(one.cluster.name);
    one.isLeft = true;
  }
  if (wanted.some(({ who }) => who === "all")) {
    await abortAllDurableObjects();
  }
  await inParallel(cases, TOGETHER, (one) => comesBack(path, one));
  return cases;
}

function begin(path: WritePath, deaths: Deaths, cluster: ObjectCluster, death: Death): Case {
  const watched = deaths.plan(cluster.name, death, (object) => path.of?.includes(object) ?? true);
  const env = onlyBegun(bindings, (name) => deaths.hasBegun(name));
  const one: Case = { cluster, env, death, watched, answer: undefined, isOver: false, isLeft: false };
  const heard = (answer?: { ok: boolean }): void => {
    if (!one.isLeft) Object.assign(one, { answer, isOver: true });
  };
  path.ask(cluster).then(
    (answer) => heard(answer ?? { ok: true }),
    () => heard(),
  );
  return one;
}

/** Until everything has died, or the client has its answer and the work has ended, or died. */
async function untilDead(path: WritePath, one: Case): Promise<void> {
  const { death, watched } = one;
  let lookAt = 0;
  let waitMs = POLL_MS;
  for (const endAt = Date.now() + REST_MS; Date.now() < endAt; await scheduler.wait(POLL_MS)) {
    if (watched.at !== "" && (death.who === "all" || one.isOver)) return;
    if (!one.isOver || Date.now() < lookAt) continue;
    if (one.answer?.ok !== true || (await isDone(path, one))) return;
    // A check costs time of the thread that the cluster works on.
    lookAt = Date.now() + (waitMs = Math.min(2 * waitMs, POLL_MAX_MS));
  }
  throw new Error(`${label(one)}: neither dead nor done`);
}

/** Everything comes to rest. Acknowledged work is there; the client repeats the rest. */
async function comesBack(path: WritePath, one: Case): Promise<void> {
  const { cluster, answer } = one;
  const isAcknowledged = answer?.ok === true;
  if (!isAcknowledged) await rests(path, one, () => problemsOf(path, one));
  await rests(path, one, async () => {
    if (await isDone(path, one)) return problemsOf(path, one);
    if (!isAcknowledged) await path.ask(cluster).catch(() => undefined);
    return [`not done after ${JSON.stringify(answer)}`];
  });
  if (!one.watched.late) return;
  const arrived = await one.watched.late().catch(String);
  await rests(path, one, async () => {
    const problems = await problemsOf(path, one);
    return (await isDone(path, one)) ? problems : [`undone by the late call, answered with ${JSON.stringify(arrived)}`, ...problems];
  });
}

/** Maintains the cluster until `problems` has none. */
async function rests(path: WritePath, one: Case, problems: () => Promise<string[]>): Promise<void> {
  let left: string[] = [];
  let waitMs = POLL_MS;
  for (const endAt = Date.now() + REST_MS; Date.now() < endAt; await scheduler.wait((waitMs = Math.min(2 * waitMs, POLL_MAX_MS)))) {
    await one.cluster.maintain();
    await path.nudge?.(one.cluster).catch(() => undefined);
    left = await problems().catch((error: unknown) => [String(error)]);
    if (left.length === 0) return;
  }
  expect.fail(`${label(one)}: ${left.join("; ")}`);
}

/** An object that dies during the look proves nothing. */
function isDone(path: WritePath, { cluster, answer }: Case): Promise<boolean> {
  return path.done(cluster, answer).catch(() => false);
}

function label({ death: { nth, when, who }, watched }: Case): string {
  return `seed ${String(seed)}: ${who} dies ${when} ${who === "caller" ? "call" : "await"} ${nth} (${watched.at})`;
}

/** All findings of `npm run check`, each at once, and the pending work. */
async function problemsOf({ expected = [] }: WritePath, { cluster, env: checked }: Pick<Case, "cluster" | "env">): Promise<string[]> {
  let time = Date.now();
  // A finding that lasts counts. This one lasts.
  const clock = { ...systemClock, now: () => (time += HOUR_MS), after: (_: number, work: () => void) => systemClock.after(0, work) };
  const { wrong, unchecked } = await checkCluster(new RpcSource(checked, cluster.name), clock);
  const findings = [...wrong.map(({ rule, message }) => `${rule}: ${message}`), ...unchecked];
  const pending = await Promise.all([cluster.servicesObject, cluster.ipAddressesObject].map(pendingReleases));
  const { handoffs, owners, claims } = await cluster.ranges.state();
  const claiming = new Set(claims.map(({ ownerUid }) => ownerUid));
  return [
    ...findings.filter((finding) => !expected.includes(finding)),
    ...pending.flat(),
    ...handoffs.map(({ phase, prefixes }) => `hand-off ${phase} of ${prefixes.join()}`),
    ...owners.flatMap(({ uid, epoch, ackedEpoch }) =>
      epoch === ackedEpoch ? [] : [`owner ${uid} has confirmed ${ackedEpoch} of ${epoch}`],
    ),
    ...owners.flatMap(({ uid }) => (claiming.has(uid) ? [] : [`owner ${uid} is not retired`])),
  ];
}

const HOUR_MS = 3_600_000;

function pendingReleases(stub: DurableObjectStub): Promise<string[]> {
  return runInDurableObject(stub, (_, { storage }) => {
    const { releasesAll, releaseLists } = sqlLedgerStorage(storage);
    const pending = [...releasesAll(), ...[...releaseLists()].flatMap(({ releases }) => releases)];
    return pending.map(({ address }) => `release of ${address} is pending`);
  });
}
