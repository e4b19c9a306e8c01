import { describe, expect, it } from "vitest";
import { Batched } from "../../../../src/core/turns/batched";
import { isTimeout } from "../../../../src/core/base/timeout";

const LIMITS = { most: 3, waitMs: 1_000 };

/** A callee that answers when it is told to. */
class World {
  now = 0;
  readonly timers: { at: number; work: () => void }[] = [];
  readonly calls: { questions: string[]; answer(): void; fail(): void }[] = [];
  readonly beside: Promise<unknown>[] = [];
  readonly batched = new Batched<string, string>(
    {
      now: () => this.now,
      after: (delayMs, work) => {
        const timer = { at: this.now + delayMs, work };
        this.timers.push(timer);
        return () => void (timer.at = Infinity);
      },
    },
    LIMITS,
    (questions) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(questions.map((question) => `${question}!`));
        this.calls.push({ questions: [...questions], answer, fail: () => reject(new Error("lost")) });
      }),
  );

  ask(question: string): Promise<string> {
    return this.batched.ask(question, (work) => this.beside.push(work)).catch((error: unknown) => (isTimeout(error) ? "timeout" : "lost"));
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    for (const timer of this.timers.splice(0)) {
      if (timer.at <= this.now) timer.work();
      else this.timers.push(timer);
    }
    await settled();
  }

  asked(): string[] {
    return this.calls.map(({ questions }) => questions.join(""));
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("questions that are asked together", () => {
  it("one after the other: each has a call of its own, at once", async () => {
    const world = new World();
    for (const question of ["a", "b"]) {
      const answer = world.ask(question);
      world.calls.at(-1)?.answer();
      expect(await answer).toBe(`${question}!`);
    }
    expect(world.asked()).toEqual(["a", "b"]);
  });

  it("while a call is under way: the others gather for the next one, and each has its own answer", async () => {
    const world = new World();
    const answers = ["a", "b", "c", "b"].map((question) => world.ask(question));
    expect(world.asked()).toEqual(["a"]);
    world.calls[0]?.answer();
    await settled();
    expect(world.asked()).toEqual(["a", "bcb"]);
    world.calls[1]?.answer();
    expect(await Promise.all(answers)).toEqual(["a!", "b!", "c!", "b!"]);
  });

  it("more than one call takes: wait in line, one call at a time, and nobody is refused", async () => {
    const world = new World();
    const answers = [..."abcdefgh"].map((question) => world.ask(question));
    for (let i = 0; i < 4; i++) {
      await settled();
      expect(world.calls.length).toBe(Math.min(i + 1, 4));
      world.calls[i]?.answer();
    }
    expect(await Promise.all(answers)).toEqual([..."abcdefgh"].map((question) => `${question}!`));
    expect(world.asked()).toEqual(["a", "bcd", "efg", "h"]);
  });

  it("a call that fails: fails its own questions alone", async () => {
    const world = new World();
    const answers = ["a", "b"].map((question) => world.ask(question));
    world.calls[0]?.fail();
    await settled();
    world.calls[1]?.answer();
    expect(await Promise.all(answers)).toEqual(["lost", "b!"]);
  });

  it("each call: is kept running after the answer to the request that began it", async () => {
    const world = new World();
    const answers = ["a", "b", "c"].map((question) => world.ask(question));
    expect(world.beside.length, "one for each call, not for each question").toBe(2);
    world.calls[0]?.fail();
    await settled();
    world.calls[1]?.fail();
    await Promise.all([...answers, ...world.beside]);
  });

  it("a call that was dropped with its request: its questions time out, and later ones do not wait for it", async () => {
    const world = new World();
    const lost = world.ask("a");
    const behind = world.ask("b");
    await world.pass(LIMITS.waitMs);
    expect([await lost, await behind]).toEqual(["timeout", "timeout"]);
    await world.pass(1);
    const next = world.ask("c");
    world.calls.find(({ questions }) => questions.includes("c"))?.answer();
    expect(await next).toBe("c!");
  });
});
