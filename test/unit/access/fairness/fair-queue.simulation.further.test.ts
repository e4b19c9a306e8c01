/** A noisy flow beside a quiet one, at a server with one thread: histories from a seed. */
import { describe, expect, it } from "vitest";
import { FairQueue, type HeldSeats } from "../../../../src/access/fairness/fair-queue";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

const SERVICE_MS = 2;
const SECONDS = 5;

interface Setting {
  seed: number;
  quiet: number;
  noisy: number;
  max: number;
  least: number;
  /** every fifth client leaves while it waits */
  leaves?: boolean;
}

/** Latencies of the quiet flow in milliseconds, sorted; how many of each flow were served; what is left when all have ended. */
async function history({ seed, quiet, noisy, max, least, leaves = false }: Setting) {
  const scheduler = new SimScheduler();
  const random = seededRandom(seed);
  const queue = new FairQueue(scheduler.clock(), 120_000);
  const sleep = (ms: number) => new Promise<void>((resolve) => scheduler.after(ms, resolve));
  let freeAt = scheduler.now;
  /** One thread: each request waits for those that are under way. */
  const served = async (seats: number): Promise<void> => {
    freeAt = Math.max(freeAt, scheduler.now) + SERVICE_MS * seats;
    await sleep(freeAt - scheduler.now);
  };
  const latencies: number[] = [];
  const counts = { quiet: 0, noisy: 0, refused: 0 };
  const end = scheduler.now + SECONDS * 1000;
  const client = async (flow: "quiet" | "noisy"): Promise<void> => {
    while (scheduler.now < end) {
      const begunMs = scheduler.now;
      const seats = flow === "noisy" ? pick(random, [1, 1, 1, 2]) : 1;
      const patience = new AbortController();
      if (leaves && random.below(5) === 0) scheduler.after(random.below(20), () => patience.abort());
      const place: HeldSeats | undefined = await queue.begin({
        kind: "writes",
        cluster: flow,
        user: "",
        seats,
        max,
        least,
        waitMs: 15_000,
        isExempt: false,
        signal: patience.signal,
      });
      if (place) {
        await served(seats);
        place.end();
        counts[flow]++;
        if (flow === "quiet") latencies.push(scheduler.now - begunMs);
      } else {
        counts.refused++;
        await sleep(100);
      }
    }
  };
  const clients = [...Array<"quiet">(quiet).fill("quiet"), ...Array<"noisy">(noisy).fill("noisy")];
  await scheduler.run(Promise.all(clients.map(client)));
  latencies.sort((a, b) => a - b);
  return { p99: latencies[Math.ceil(0.99 * latencies.length) - 1] ?? NaN, counts, left: queue.counts("writes") };
}

describe("ten times as many noisy clients in another cluster", () => {
  it.each([1, 2, 3])("seed %i: the p99 of the quiet one is at most one and a half times what it is alone", async (seed) => {
    const alone = await history({ seed, quiet: 8, noisy: 0, max: 1_000, least: 3 });
    const beside = await history({ seed, quiet: 8, noisy: 80, max: 1_000, least: 3 });
    expect(beside.p99).toBeLessThanOrEqual(1.5 * alone.p99);
    expect(beside.counts.noisy, "it is served, too").toBeGreaterThan(beside.counts.quiet / 4);
    expect(beside.left).toMatchObject({ taken: 0, queued: 0 });
  });

  it("without the bounds beside neighbours: the p99 is several times as high", async () => {
    const alone = await history({ seed: 1, quiet: 8, noisy: 0, max: 1_000, least: 0 });
    const beside = await history({ seed: 1, quiet: 8, noisy: 80, max: 1_000, least: 0 });
    expect(beside.p99).toBeGreaterThan(5 * alone.p99);
  });

  it.each([4, 5])("seed %i, few seats, and clients that leave: nobody starves, and no seat is lost", async (seed) => {
    const { counts, left } = await history({ seed, quiet: 8, noisy: 80, max: 10, least: 0, leaves: true });
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.quiet).toBeGreaterThan(counts.noisy / 2);
    expect(counts.noisy).toBeGreaterThan(counts.quiet / 4);
    expect(left).toMatchObject({ taken: 0, queued: 0 });
  });
});
