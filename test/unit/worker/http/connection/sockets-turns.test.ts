import { describe, expect, it } from "vitest";
import { SocketsTurns } from "../../../../../src/worker/http/connection/sockets-turns";

/** Requests that come together, and the timers that they wait for. */
class Burst {
  readonly begun: number[] = [];
  #looks: (() => void)[] = [];
  #sleeps: { untilMs: number; resolve: () => void }[] = [];
  #nowMs = 0;
  readonly turns = new SocketsTurns({
    now: () => this.#nowMs,
    nextTurn: () => new Promise((resolve) => void this.#looks.push(resolve)),
    after: (delayMs, work) => {
      const sleep = { untilMs: this.#nowMs + delayMs, resolve: work };
      this.#sleeps.push(sleep);
      return () => void (this.#sleeps = this.#sleeps.filter((one) => one !== sleep));
    },
  });

  constructor(count: number) {
    for (let i = 0; i < count; i++) void Promise.resolve(this.turns.take()).then(() => this.begun.push(i));
  }

  /** The runtime is idle and looks at its sockets. Answers how many requests have begun. */
  async look(): Promise<number> {
    await settle();
    for (const resolve of this.#looks.splice(0)) resolve();
    await settle();
    return this.begun.length;
  }

  /** The clients of so many requests that look go, and the timers of these requests with them. */
  async lose(count: number): Promise<void> {
    await settle();
    this.#looks.splice(0, count);
  }

  /** Of all that wait, with two timers each, the first ones go. */
  loseFirst(count: number): void {
    this.#sleeps.splice(0, 2 * count);
  }

  async pass(durationMs: number): Promise<void> {
    await settle();
    this.#nowMs += durationMs;
    const due = this.#sleeps.filter(({ untilMs }) => untilMs <= this.#nowMs);
    this.#sleeps = this.#sleeps.filter(({ untilMs }) => untilMs > this.#nowMs);
    for (const { resolve } of due) resolve();
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let round = 0; round < 20; round++) await Promise.resolve();
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

it("requests that come together begin in turns of 64, in their order, with eight looks at the sockets before each turn", async () => {
  const burst = new Burst(200);
  await settle();
  expect(burst.begun).toEqual(numbers(64));
  const begun: number[] = [];
  for (let look = 1; look <= 24; look++) begun.push(await burst.look());
  expect(begun).toEqual(numbers(24).map((i) => [64, 128, 192, 200][Math.floor((i + 1) / 8)]));
  expect(burst.begun.map((i) => Math.floor(i / 64))).toEqual(numbers(200).map((i) => Math.floor(i / 64)));
});

it("requests that come later begin in the turn that waits, or at once in a turn that has begun", async () => {
  const burst = new Burst(66);
  for (let look = 0; look < 4; look++) expect(await burst.look()).toBe(64);
  void burst.turns.take()?.then(() => burst.begun.push(66));
  for (let look = 4; look < 8; look++) await burst.look();
  expect(burst.begun).toHaveLength(67);
  expect(numbers(61).map(() => burst.turns.take())).toEqual(numbers(61).map(() => undefined));
  expect(burst.turns.take()).toBeInstanceOf(Promise);
});

it("a turn begins when some requests that look lose their clients", async () => {
  const burst = new Burst(200);
  await burst.look();
  await burst.lose(3);
  for (let look = 1; look < 8; look++) await burst.look();
  expect(burst.begun).toHaveLength(125);
});

it("a turn begins after a second when all requests that look lose their clients", async () => {
  const burst = new Burst(200);
  await burst.lose(4);
  for (let look = 0; look < 30; look++) expect(await burst.look()).toBe(64);
  await burst.pass(1_000);
  for (let look = 0; look < 7; look++) expect(await burst.look()).toBe(64);
  expect(await burst.look()).toBe(124);
});

it("the last turn begins after four seconds when all requests that look lose their clients", async () => {
  const burst = new Burst(100);
  await burst.lose(4);
  await burst.pass(4_000);
  for (let look = 0; look < 8; look++) await burst.look();
  expect(burst.begun).toHaveLength(96);
});

it("clients of whole turns go: those behind them begin after one pause", async () => {
  const burst = new Burst(5 * 64);
  await burst.lose(4);
  burst.loseFirst(60 + 64 + 64);
  await burst.pass(1_000);
  for (let look = 0; look < 16; look++) await burst.look();
  expect(burst.begun.filter((i) => i >= 4 * 64)).toHaveLength(64);
});

it("a turn that takes longer than the pause: the next turn alone begins, by those that look for it", async () => {
  const burst = new Burst(5 * 64);
  for (let look = 0; look < 7; look++) await burst.look();
  await burst.pass(10_000);
  expect(await burst.look()).toBe(2 * 64);
  for (let look = 1; look < 8; look++) expect(await burst.look()).toBe(2 * 64);
  expect(await burst.look()).toBe(3 * 64);
});

describe("beside few connections", () => {
  const begins = (burst: Burst, count: number): number => numbers(count).filter(() => burst.turns.take() === undefined).length;

  it("requests begin at once, and those that waited before get their turn", async () => {
    const burst = new Burst(200);
    await settle();
    burst.turns.areManyConnections = false;
    for (let look = 1; look <= 24; look++) await burst.look();
    expect(burst.begun).toEqual(numbers(200));
    expect(begins(burst, 1000)).toBe(1000);
  });

  it("after a quarter of a second with more than 64 requests those that come wait for one look at the sockets", async () => {
    const burst = new Burst(0);
    burst.turns.areManyConnections = false;
    await burst.pass(250);
    expect(begins(burst, 100)).toBe(100);
    await burst.pass(249);
    expect(begins(burst, 1)).toBe(1);
    await burst.pass(1);
    const waiting = numbers(100).map((i) => burst.turns.take()?.then(() => burst.begun.push(i)));
    expect(waiting).not.toContain(undefined);
    for (let look = 1; look < 8; look++) expect(await burst.look()).toBe(0);
    expect(await burst.look()).toBe(100);
    expect(begins(burst, 1000)).toBe(1000);
  });

  it("a quarter of a second with fewer costs nothing", async () => {
    const burst = new Burst(0);
    burst.turns.areManyConnections = false;
    for (let round = 0; round < 10; round++) {
      expect(begins(burst, 63)).toBe(63);
      await burst.pass(250);
    }
  });
});
