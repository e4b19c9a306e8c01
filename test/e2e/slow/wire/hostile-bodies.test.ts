/**
 * How long the thread works on one body in one turn, while every other client waits. The bodies are the most hostile that each decoder takes, over each
 * list and map of each kind, and those whose form is hostile, for each kind. What is measured is the work of decoder and preparation in Node, not a
 * request on its way. The measure is the machine's own: parsing 3 MB of JSON, which takes 100 ms and more on a laptop.
 *
 * All bodies in full would take an hour. Each one is screened instead: two small shares of it show what it costs and how that grows. The worst turns of
 * each group are then measured in full: of each kind, encoding and step, of each form, those that grow faster than their size, and the worst of all.
 * A plain run screens one body of seven, by the seed of the commit; a run before a release screens all.
 */
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { seedOfCommit } from "../../../../scripts/dev/testing/seed-of-commit";
import type { BodyType } from "../../../../src/worker/http/read/content-type";
import { isRelease } from "../../../support/server/is-release";
import { BODY_KINDS, hostileBodies, type HostileBody, hostileForms, isReview, placesOf } from "../../../support/values/hostile-bodies";
import { hostilePatches } from "../../../support/values/hostile-patches";
import { growsFaster, LARGE, predictedMs, type Screened, SMALL, worstOf } from "../../../support/values/hostile-screen";
import { type Turn, turnOfPatch, turnsOf } from "../../../support/values/hostile-turns";

/** The longest turn, in such parses. The longest measured take two and a half, with the collector's threads; half as much again is for other machines. */
const TURN_MAX = 4;
/** What is longer than so many parses is measured again: the first time may be the compiler's, the collector's, or other work of the machine. */
const LONG = 2;
/** One body of so many in a plain run, by the seed of the commit; before a release, all of them. A prime, so that each run meets all encodings. */
const SAMPLE = isRelease ? 1 : 7;
const PATIENCE_MS = 3_600_000;
const SHOWN = 40;
const ATTEMPTS = 3;

interface Measured {
  what: string;
  ms: number;
  /** the same in parses of 3 MB of JSON */
  parses: number;
}

/** CPU time of the process: the machine may have other work. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function timeOf(work: () => unknown): number {
  const begun = cpuMs();
  work();
  return cpuMs() - begun;
}

function leastOf(attempts: number, work: () => unknown): number {
  return Math.min(...Array.from({ length: attempts }, () => timeOf(work)));
}

const THREE_MEGABYTES = `[${"{},".repeat(1_000_000)}{}]`;
const parse = (): unknown => JSON.parse(THREE_MEGABYTES);

/** Other work of the machine slows memory, so each further attempt has a parse of its own beside it. */
function measured({ what, work }: Turn, unitMs: number): Measured {
  let ms = timeOf(work);
  let parses = ms / unitMs;
  for (let i = 1; i < ATTEMPTS && parses > LONG; i++) {
    const unit = Math.max(timeOf(parse), unitMs);
    const again = timeOf(work);
    if (again / unit < parses) [ms, parses] = [again, again / unit];
  }
  return { what, ms, parses };
}

function allBodies(): HostileBody[] {
  return [...hostileBodies(), ...BODY_KINDS.flatMap((kind) => [...hostileForms(kind)])];
}

/** What the turns of a body cost in small. Where the cost seems to grow faster than the size, the collector may have come between: once more. */
function screened(body: HostileBody): Screened[] {
  const small = [...turnsOf(body, SMALL)];
  return [...turnsOf(body, LARGE)].map(({ what, step, work }, i) => {
    const of = (attempts: number): Screened => {
      return { body, what, step, smallMs: leastOf(attempts, small[i]?.work ?? work), largeMs: leastOf(attempts, work) };
    };
    const once = of(1);
    return growsFaster(once) ? of(ATTEMPTS) : once;
  });
}

/** A line for each kind: its lists and maps, and what was screened of it. Throws for what no body fills. */
function coverage(bodies: readonly HostileBody[]): string[] {
  const filled = new Map<BodyType, Set<string>>();
  for (const { type, place } of bodies) {
    if (place !== undefined) filled.set(type, (filled.get(type) ?? new Set()).add(place));
  }
  return BODY_KINDS.map((kind) => {
    const places = placesOf(kind);
    const encodings: readonly BodyType[] = isReview(kind) ? ["json", "yaml"] : ["json", "yaml", "protobuf"];
    for (const type of encodings) expect([...places].filter((place) => !filled.get(type)?.has(place))).toEqual([]);
    const own = bodies.filter(({ expected }) => expected === kind);
    const numbers = encodings.map((type) => `${own.filter((body) => body.type === type).length} ${type}`);
    return `${kind.kind}: ${places.size} lists and maps, ${numbers.join(", ")}`;
  });
}

it("the most hostile bodies of each kind: no turn is longer than some parses of 3 MB of JSON", { timeout: PATIENCE_MS }, async () => {
  const bodies = allBodies();
  console.log(`${bodies.length} bodies, of which one of ${SAMPLE} is screened:\n${coverage(bodies).join("\n")}`);
  const first = seedOfCommit() % SAMPLE;
  const sample = bodies.filter((_, i) => i % SAMPLE === first);
  // The first turns are the compiler's.
  for (const body of sample.slice(0, 3)) screened(body);
  const all: Screened[] = [];
  for (const body of sample) {
    all.push(...screened(body));
    // What was printed comes out, and Vitest hears of the test.
    await setImmediate();
  }
  const unitMs = leastOf(5, parse);
  const chosen = worstOf(all, unitMs / 2);
  const growing = all.filter(growsFaster).sort((a, b) => predictedMs(b) - predictedMs(a));
  console.log(
    `${all.length} turns screened, ${(cpuMs() / 1_000).toFixed(0)} s of CPU so far; ${growing.length} seem to grow faster than their size:\n` +
      growing
        .slice(0, SHOWN)
        .map(({ what, smallMs, largeMs }) => `${smallMs.toFixed(1)} ms, then ${largeMs.toFixed(1)} ms: ${what}`)
        .join("\n"),
  );
  const turns: Measured[] = [];
  for (const [body, steps] of chosen) {
    for (const turn of turnsOf(body)) if (steps.has(turn.step)) turns.push(measured(turn, unitMs));
    await setImmediate();
  }
  for (const patch of hostilePatches()) turns.push(measured(turnOfPatch(patch), unitMs));
  turns.sort((a, b) => b.parses - a.parses);
  const lines = turns.slice(0, SHOWN).map(({ what, ms, parses }) => {
    return `${parses.toFixed(1).padStart(5)}  ${ms.toFixed(0).padStart(5)} ms  ${what}`;
  });
  console.log(
    `${turns.length} turns measured in full, ${(cpuMs() / 1_000).toFixed(0)} s of CPU in all; in parses of 3 MB of JSON (${unitMs.toFixed(0)} ms):\n` +
      lines.join("\n"),
  );
  expect(turns.filter(({ parses }) => parses > TURN_MAX)).toEqual([]);
});
