import { describe, expect, it } from "vitest";
import { EndableWait } from "../../../../src/core/base/endable-wait";

/** The timers of one request. */
class Timers {
  #now = 0;
  #timers: { at: number; work: () => void }[] = [];

  after(delayMs: number, work: () => void): () => void {
    const timer = { at: this.#now + delayMs, work };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((one) => one !== timer));
  }

  get left(): number {
    return this.#timers.length;
  }

  /** Nothing that waits goes on before the caller awaits something. */
  fire(passedMs: number): void {
    this.#now += passedMs;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { work } of due) work();
  }
}

describe("a wait that another request may end", () => {
  it("ends when its time is over, unless it is ended before, with what it was ended with first", async () => {
    const timers = new Timers();
    const late: EndableWait<string> = new EndableWait(timers, 100, () => late.end("late"));
    const woken: EndableWait<string> = new EndableWait(timers, 100, () => woken.end("late"));
    woken.end("woken");
    timers.fire(100);
    expect(await Promise.all([late.over(), woken.over()])).toEqual(["late", "woken"]);
    expect(timers.left).toBe(0);
  });

  it("woken, and its time is over before it goes on: a timer of the request is under way until then", async () => {
    const timers = new Timers();
    const wait: EndableWait<void> = new EndableWait(timers, 100, () => wait.end());
    const over = wait.over();
    wait.end();
    timers.fire(5_000);
    expect(timers.left).toBe(1);
    await over;
    expect(timers.left).toBe(0);
  });
});
