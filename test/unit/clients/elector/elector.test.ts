import { afterEach, describe, expect, it } from "vitest";
import type { ConfigMap } from "../../../../src/api/meta/kubernetes";
import { type Election, type ElectorOptions, electionProblem, takePart } from "../../../../src/clients/elector/elector";
import { changeFenced } from "../../../../src/clients/elector/fencing";
import type { Term } from "../../../../src/clients/elector/term";
import { type ProcessSetting, SimProcess } from "../../../support/worlds/api-world";
import { ElectionWorld } from "../../../support/worlds/election-world";
import { aLease, WRITE } from "../../../support/worlds/store-world";

const SECOND = 1_000;
const LEASE_MS = 15 * SECOND;
/** retryPeriod with all its jitter */
const RETRY_MAX_MS = 4.4 * SECOND;

interface Candidate {
  process: SimProcess;
  election: Election;
  terms: Term[];
  errors: string[];
  leaders: string[];
}

const running: { world: ElectionWorld; election: Election }[] = [];
afterEach(async () => {
  for (const { world, election } of running.splice(0)) {
    world.startServer();
    void election.stop();
    await world.scheduler.pass(60 * SECOND);
  }
});

function candidate(world: ElectionWorld, identity: string, more: Partial<ElectorOptions> & ProcessSetting = {}): Candidate {
  const process = new SimProcess(world, more);
  const [terms, errors, leaders]: [Term[], string[], string[]] = [[], [], []];
  const election = takePart({
    send: process.send,
    clock: process.clock,
    random: { next: () => 0.999 },
    namespace: "ns",
    name: "lock",
    identity,
    lead: (term) => void terms.push(term),
    onError: (error) => errors.push(error.message),
    onLeader: (leader) => leaders.push(leader),
    ...more,
  });
  running.push({ world, election });
  return { process, election, terms, errors, leaders };
}

const leads = ({ terms }: Candidate): boolean => terms.at(-1)?.isValid === true;
const spec = (world: ElectionWorld) => world.leases.stored("lock")?.spec;
const revision = (world: ElectionWorld) => world.leases.stored("lock")?.metadata?.resourceVersion;

/** Passes time in small steps until it holds; answers the milliseconds. */
async function until(world: ElectionWorld, holds: () => boolean, limitMs = 120 * SECOND): Promise<number> {
  for (let passed = 0; passed <= limitMs; passed += 10) {
    if (holds()) return passed;
    await world.scheduler.pass(10);
  }
  throw new Error(`not within ${limitMs} ms`);
}

describe("options", () => {
  const base = { identity: "a" } as ElectorOptions;
  it.each<[Partial<ElectorOptions>, string | undefined]>([
    [{}, undefined],
    [{ identity: "" }, "Lock identity is empty"],
    [{ leaseDurationSeconds: 10 }, "leaseDuration must be greater than renewDeadline"],
    [{ renewDeadlineSeconds: 2.4 }, "renewDeadline must be greater than retryPeriod*JitterFactor"],
    [{ renewDeadlineSeconds: 2.5 }, undefined],
    [{ leaseDurationSeconds: 0 }, "leaseDuration must be greater than zero"],
    [{ leaseDurationSeconds: 15.5 }, "leaseDuration must be whole seconds"],
    [{ renewDeadlineSeconds: 0 }, "renewDeadline must be greater than zero"],
    [{ retryPeriodSeconds: 0 }, "retryPeriod must be greater than zero"],
  ])("%j: %s", (options, want) => {
    expect(electionProblem({ ...base, ...options })).toBe(want);
  });
});

describe("one candidate", () => {
  it("acquisition and two renewals: get, create, update, update, as client-go", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a");
    await until(world, () => leads(a));
    const token = revision(world);
    await world.scheduler.pass(4.5 * SECOND);
    expect(world.asked).toEqual(["GET", "POST", "PUT", "PUT"]);
    expect(a.terms.map((term) => term.token)).toEqual([token]);
    expect(Number(revision(world))).toBeGreaterThan(Number(token));
    expect(spec(world)).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
  });

  it("a conflict at a renewal: get and update follow at once", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a");
    await until(world, () => leads(a));
    await world.scheduler.pass(2.5 * SECOND);
    expect(await world.leases.patch("lock", "merge", { metadata: { labels: { by: "somebody" } } })).toMatchObject({ ok: true });
    await world.scheduler.pass(4 * SECOND);
    expect(world.asked).toEqual(["GET", "POST", "PUT", "PUT", "GET", "PUT", "PUT"]);
    expect([a.terms.length, leads(a), a.errors]).toEqual([1, true, []]);
    expect(world.leases.stored("lock")?.metadata?.labels).toEqual({ by: "somebody" });
  });

  it("a Lease without a record or holder: taken, with a transition", async () => {
    for (const before of [undefined, { holderIdentity: "", leaseTransitions: 6 }]) {
      const world = new ElectionWorld();
      await world.leases.create(aLease("lock", before));
      const a = candidate(world, "a");
      await until(world, () => leads(a));
      expect(spec(world)).toMatchObject({ holderIdentity: "a", leaseTransitions: (before?.leaseTransitions ?? 0) + 1 });
    }
  });

  it("a Lease of a stranger whose clock is years ahead: taken a duration after it was first seen, not before", async () => {
    const world = new ElectionWorld();
    await world.leases.create(aLease("lock", { holderIdentity: "x", leaseDurationSeconds: 7, renewTime: "2099-01-01T00:00:00.000000Z" }));
    const a = candidate(world, "a");
    const took = await until(world, () => leads(a));
    expect(took).toBeGreaterThanOrEqual(7 * SECOND);
    expect(took).toBeLessThan(7.2 * SECOND);
    expect(a.leaders).toEqual(["x", "a"]);
  });

  it("stop: the work ends first, renewed meanwhile; then the Lease is released", async () => {
    const world = new ElectionWorld();
    let finish: () => void = () => undefined;
    const seen: boolean[] = [];
    const a = candidate(world, "a", {
      lead: (term) =>
        new Promise((resolve) => {
          a.terms.push(term);
          finish = () => {
            seen.push(term.signal.aborted, term.isValid);
            resolve();
          };
        }),
    });
    await until(world, () => leads(a));
    const stopped = a.election.stop();
    await world.scheduler.pass(30 * SECOND);
    expect(spec(world)).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
    finish();
    await world.scheduler.run(stopped);
    expect(seen).toEqual([true, false]);
    expect(spec(world)).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 0 });
  });

  it("stop while a renewal is under way: released all the same", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a", { latencyMs: 200 });
    await until(world, () => leads(a));
    await until(world, () => world.asked.length === 3);
    await world.scheduler.run(a.election.stop());
    expect(spec(world)).toMatchObject({ holderIdentity: "" });
    expect(a.errors).toEqual([]);
  });

  it("work that fails: reported; the Lease is released, and taken again after a rest", async () => {
    const world = new ElectionWorld();
    let terms = 0;
    const a = candidate(world, "a", { lead: () => (++terms === 1 ? Promise.reject(new Error("broken")) : undefined) });
    await until(world, () => spec(world)?.holderIdentity === "" && terms === 1);
    expect(a.errors).toEqual(["broken"]);
    expect(await until(world, () => terms === 2)).toBeGreaterThan(SECOND);
  });

  it("a Lease that somebody deletes or takes by force: the term ends at once, the next has a later token", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a");
    await until(world, () => leads(a));
    await world.scheduler.pass(500);
    const [first] = a.terms;
    await world.leases.delete("lock");
    expect(await until(world, () => first?.signal.aborted === true)).toBeLessThan(100);
    await until(world, () => a.terms.length === 2);
    await world.scheduler.pass(500);
    await world.leases.patch("lock", "merge", { spec: { holderIdentity: "x" } });
    expect(await until(world, () => a.terms[1]?.signal.aborted === true)).toBeLessThan(100);
    await until(world, () => leads(a));
    const tokens = a.terms.map(({ token }) => Number(token));
    expect(tokens).toEqual([...tokens].sort((one, other) => one - other));
    expect(new Set(tokens).size).toBe(3);
  });
});

describe("two candidates", () => {
  it.each([1, 200])(
    "release, with a latency of %i ms: the other leads within three round trips, without waiting for an attempt",
    async (latencyMs) => {
      const world = new ElectionWorld();
      const a = candidate(world, "a", { latencyMs });
      await until(world, () => leads(a));
      const b = candidate(world, "b", { latencyMs });
      await world.scheduler.pass(20 * SECOND);
      expect([leads(a), leads(b)]).toEqual([true, false]);
      void a.election.stop();
      expect(await until(world, () => leads(b))).toBeLessThan(2 * latencyMs * 3 + 100);
      expect(Number(b.terms[0]?.token)).toBeGreaterThan(Number(a.terms[0]?.token));
      expect(b.leaders).toEqual(["a", "", "b"]);
    },
  );

  it.each([1, 200])("kill -9 of the leader, with a latency of %i ms: the other leads when the Lease has run out", async (latencyMs) => {
    const world = new ElectionWorld();
    const a = candidate(world, "a", { latencyMs, aheadMs: 3_600_000 });
    await until(world, () => leads(a));
    const b = candidate(world, "b", { latencyMs });
    await world.scheduler.pass(20 * SECOND);
    a.process.kill();
    const took = await until(world, () => leads(b));
    expect(took).toBeGreaterThan(LEASE_MS - 2 * SECOND - 4 * latencyMs);
    expect(took).toBeLessThan(LEASE_MS + 8 * latencyMs + 100);
    expect(a.terms[0]?.isValid).toBe(false);
  });

  it("leader that sleeps through its term: knows when it wakes, and the other leads with a later token", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a");
    await until(world, () => leads(a));
    const b = candidate(world, "b");
    await world.scheduler.pass(5 * SECOND);
    a.process.pause();
    await until(world, () => leads(b));
    const [old] = a.terms;
    expect(old?.isValid).toBe(false);
    a.process.resume();
    expect(old?.signal.aborted).toBe(true);
    await world.scheduler.pass(30 * SECOND);
    expect([leads(a), leads(b), b.terms.length]).toEqual([false, true, 1]);
  });

  it("leader whose machine sleeps, clocks of timers with it: knows by the wall clock when it wakes, and changes nothing", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a");
    await until(world, () => leads(a));
    const b = candidate(world, "b");
    await world.configMaps.create({ metadata: { name: "work", namespace: "ns" } }, { ...WRITE, group: "" });
    await world.scheduler.pass(5 * SECOND);
    const [old] = a.terms;
    if (!old) throw new Error("no term");
    a.process.sleep();
    await world.scheduler.pass(60 * SECOND);
    expect(leads(b)).toBe(true);
    a.process.resume();
    expect(old.isValid).toBe(false);
    const { send, clock } = a.process;
    const changed = changeFenced({
      send,
      clock,
      term: old,
      path: "/api/v1/namespaces/ns/configmaps/work",
      change: (stored: ConfigMap) => ({ ...stored, data: { by: "a" } }),
    });
    expect(await world.scheduler.run(changed)).toEqual({ ok: false, error: { reason: "ended" } });
    expect(await until(world, () => old.signal.aborted)).toBeLessThanOrEqual(2 * SECOND);
    expect(world.configMaps.stored<ConfigMap>("work")?.data).toBeUndefined();
    await world.scheduler.pass(30 * SECOND);
    expect([leads(a), leads(b), b.terms.length]).toEqual([false, true, 1]);
  });

  it.each([
    { write: "acquisition", asked: 2, sleptMs: 60 * SECOND },
    { write: "renewal", asked: 3, sleptMs: 7 * SECOND },
  ])("machine that sleeps while its $write is answered: the term lasts from the sending", async ({ asked, sleptMs }) => {
    const world = new ElectionWorld();
    const a = candidate(world, "a", { latencyMs: 100 });
    await until(world, () => world.asked.length === asked);
    a.process.sleep();
    await world.scheduler.pass(sleptMs);
    a.process.resume();
    // The rest of the ten seconds, without another renewal.
    world.stopServer();
    await world.scheduler.pass(Math.max(0, 10 * SECOND - sleptMs));
    expect(leads(a)).toBe(false);
  });

  it("server away for less than the deadline: the leader stays; for longer: its term ends at the deadline, before the Lease runs out", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a");
    await until(world, () => leads(a));
    const b = candidate(world, "b");
    await world.scheduler.pass(5 * SECOND);
    world.stopServer();
    await world.scheduler.pass(6 * SECOND);
    world.startServer();
    await world.scheduler.pass(20 * SECOND);
    expect([leads(a), a.terms.length, b.terms.length]).toEqual([true, 1, 0]);
    world.stopServer();
    const ended = await until(world, () => !leads(a));
    expect(ended).toBeGreaterThan(7.9 * SECOND);
    expect(ended).toBeLessThan(10.1 * SECOND);
    await world.scheduler.pass(20 * SECOND);
    world.startServer();
    await until(world, () => leads(a) || leads(b), RETRY_MAX_MS + LEASE_MS);
    expect(leads(a) && leads(b)).toBe(false);
    expect([...a.errors, ...b.errors]).toContain("connection refused");
  });

  it("an acquisition whose answer is lost: found at the next attempt, with a later token than any before", async () => {
    const world = new ElectionWorld();
    const a = candidate(world, "a", { isLost: ({ method }, what) => method === "POST" && what === "answer" });
    await until(world, () => spec(world)?.holderIdentity === "a");
    const acquired = revision(world);
    await until(world, () => leads(a));
    expect(Number(a.terms[0]?.token)).toBeGreaterThan(Number(acquired));
    expect(spec(world)).toMatchObject({ leaseTransitions: 0 });
  });
});
