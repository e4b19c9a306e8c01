import { describe, expect, it } from "vitest";
import { Batcher } from "../../../../src/core/turns/batch";
import { COMMIT_DEADLINE_MS } from "../../../../src/core/base/limits";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

/** An object whose commits take their time one beside the other, as where they go to other machines, and end in their order. */
class PacedObject {
  readonly scheduler = new SimScheduler();
  readonly clock = this.scheduler.clock();
  /** the operations of each turn */
  readonly turns: number[][] = [];
  /** why it was ended */
  readonly ended: unknown[] = [];
  /** of answers that were given before it was ended */
  readonly answered: string[] = [];
  readonly batcher: Batcher<number, string>;
  #durableAt = 0;

  /** `durable`: in place of a commit that takes `commitMs` */
  constructor(
    readonly commitMs: number,
    durable?: () => Promise<void>,
  ) {
    this.batcher = new Batcher<number, string>({
      clock: this.clock,
      apply: (operations) => {
        this.turns.push([...operations]);
        this.#durableAt = this.clock.now() + this.commitMs;
        return operations.map((operation) => `done ${operation}`);
      },
      refuse: () => "full",
      onFailure: () => undefined,
      queueWeightMax: 1_000,
      commits: {
        durable: durable ?? (() => (this.commitMs === 0 ? Promise.resolve() : this.clock.sleep(this.commitMs))),
        unbegun: (operation) => `try ${operation} again`,
        end: (error) => void this.ended.push(error, this.answered.length),
      },
    });
  }

  submit(operation: number): Promise<string> {
    const answer = this.batcher.submit(operation);
    answer.then(
      (text) => this.answered.push(text),
      (error: unknown) => this.answered.push(String(error)),
    );
    return answer;
  }

  /** One request as its client sees it: the output gate keeps the answer until its commit is durable. Milliseconds. */
  async request(operation: number): Promise<number> {
    const sentAt = this.clock.now();
    await this.batcher.submit(operation);
    await this.clock.sleep(Math.max(0, this.#durableAt - this.clock.now()));
    return this.clock.now() - sentAt;
  }

  /** Clients that send one request after the other, each up to 4 ms of network away. Answers the latencies without the network. */
  async serve(clients: number, durationMs: number): Promise<number[]> {
    const random = seededRandom(clients);
    const until = this.clock.now() + durationMs;
    const latencies: number[] = [];
    const client = async (): Promise<void> => {
      while (this.clock.now() < until) {
        await this.clock.sleep(random.next() * 4);
        latencies.push(await this.request(latencies.length));
      }
    };
    await this.scheduler.run(Promise.all(Array.from({ length: clients }, client)));
    return latencies;
  }

  get groupSize(): number {
    return this.turns.flat().length / this.turns.length;
  }
}

const COMMIT_MS = 12;

describe("commits of 12 ms", () => {
  it("a client that is alone: waits for its own commit and for nothing else", async () => {
    const object = new PacedObject(COMMIT_MS);
    for (const latency of await object.serve(1, 1_000)) expect(latency).toBe(COMMIT_MS);
    expect(object.groupSize).toBe(1);
  });

  it("two clients: neither waits for the commit of the other", async () => {
    const object = new PacedObject(COMMIT_MS);
    const latencies = await object.serve(2, 1_000);
    expect(Math.max(...latencies)).toBe(COMMIT_MS);
    expect(latencies.length).toBeGreaterThan(100);
  });

  it.each([40, 100])("%i clients: half of them share a turn, and none waits longer than for two commits", async (clients) => {
    const object = new PacedObject(COMMIT_MS);
    const latencies = await object.serve(clients, 1_000);
    expect(object.groupSize).toBeGreaterThan(0.4 * clients);
    expect(Math.max(...latencies)).toBeLessThanOrEqual(2 * COMMIT_MS);
    expect(latencies.length).toBeGreaterThan((clients * 1_000) / (2 * COMMIT_MS + 4));
  });

  it("a client that comes to a crowd and is alone after it: waits for one commit, then no more", async () => {
    const object = new PacedObject(COMMIT_MS);
    const crowd = Promise.all(Array.from({ length: 40 }, (_, i) => object.request(i)));
    await object.scheduler.pass(5);
    const third = object.scheduler.run(object.request(40));
    expect(await third).toBe(COMMIT_MS - 5 + COMMIT_MS);
    await object.scheduler.run(crowd);
    expect(await object.scheduler.run(object.request(41))).toBe(COMMIT_MS);
    expect(object.turns.map(({ length }) => length)).toEqual([40, 1, 1]);
  });

  it("requests that come during a commit: one turn, in the order in which they came, when it is durable", async () => {
    const object = new PacedObject(COMMIT_MS);
    for (const i of [1, 2, 3]) void object.submit(i);
    await object.scheduler.pass(1);
    for (let i = 4; i < 14; i++) {
      void object.submit(i);
      await object.scheduler.pass(1);
    }
    expect(object.turns).toEqual([[1, 2, 3]]);
    await object.scheduler.pass(1);
    expect(object.turns).toEqual([
      [1, 2, 3],
      [4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
    ]);
  });

  it("two commits under way: a turn waits for the last of them", async () => {
    const object = new PacedObject(COMMIT_MS);
    void object.submit(1);
    await object.scheduler.pass(4);
    void object.submit(2);
    await object.scheduler.pass(1);
    for (const i of [3, 4, 5]) void object.submit(i);
    await object.scheduler.pass(COMMIT_MS - 5);
    expect(object.turns, "the first is durable").toEqual([[1], [2]]);
    await object.scheduler.pass(4);
    expect(object.turns).toEqual([[1], [2], [3, 4, 5]]);
  });
});

describe("commits that are durable at once, as on a local disk", () => {
  it.each([1, 2, 40])("%i clients: no request waits", async (clients) => {
    const object = new PacedObject(0);
    expect(Math.max(...(await object.serve(clients, 100)))).toBe(0);
  });
});

describe("a commit that is lost", () => {
  /** An object with three requests under way and two that wait; the test settles their commit. */
  async function crowded(): Promise<{ object: PacedObject; settle: { resolve(): void; reject(error: Error): void } }> {
    const settle = { resolve: () => undefined as void, reject: (_error: Error) => undefined as void };
    const object = new PacedObject(
      COMMIT_MS,
      () => new Promise((resolve, reject) => Object.assign(settle, { resolve: () => resolve(), reject })),
    );
    for (const i of [1, 2, 3]) void object.submit(i);
    await object.scheduler.pass(1);
    for (const i of [4, 5]) void object.submit(i);
    await object.scheduler.pass(1);
    expect(object.answered).toEqual(["done 1", "done 2", "done 3"]);
    return { object, settle };
  }

  const UNBEGUN = ["try 4 again", "try 5 again"];

  it("it fails: what had not begun may be tried again, then the object ends, and nothing more is applied", async () => {
    const { object, settle } = await crowded();
    const error = new Error("the disk is gone");
    settle.reject(error);
    await object.scheduler.pass(0);
    expect(object.answered.slice(3)).toEqual(UNBEGUN);
    expect(object.ended, "after five answers").toEqual([error, 5]);
    expect(await object.submit(6)).toBe("try 6 again");
    await object.scheduler.pass(2 * COMMIT_DEADLINE_MS);
    expect([object.turns, object.ended.length, object.batcher.queued]).toEqual([[[1, 2, 3]], 2, 0]);
  });

  it("it fails and nobody waits: the object ends", async () => {
    const object = new PacedObject(COMMIT_MS, () => Promise.reject(new Error("the disk is gone")));
    void object.submit(1);
    await object.scheduler.pass(0);
    expect(object.ended).toEqual([new Error("the disk is gone"), 1]);
  });

  it("the storage throws when it is asked: as if the commit had failed", async () => {
    const object = new PacedObject(COMMIT_MS, () => {
      throw new Error("the object is broken");
    });
    void object.submit(1);
    await object.scheduler.pass(0);
    expect(object.ended).toEqual([new Error("the object is broken"), 1]);
  });

  it("two fail: the object ends once", async () => {
    const failing: ((error: Error) => void)[] = [];
    const object = new PacedObject(COMMIT_MS, () => new Promise((_, reject) => failing.push(reject)));
    void object.submit(1);
    await object.scheduler.pass(1);
    void object.submit(2);
    await object.scheduler.pass(1);
    for (const fail of failing) fail(new Error("the disk is gone"));
    await object.scheduler.pass(1);
    expect([failing.length, object.ended.length]).toEqual([2, 2]);
  });

  it("it hangs: those that wait are answered after the deadline, and the object ends", async () => {
    const { object } = await crowded();
    await object.scheduler.pass(COMMIT_DEADLINE_MS - 2);
    expect([object.answered.length, object.ended]).toEqual([3, []]);
    await object.scheduler.pass(2);
    expect(object.answered.slice(3)).toEqual(UNBEGUN);
    expect(object.ended).toEqual([new Error(`a commit was not durable after ${COMMIT_DEADLINE_MS} ms`), 5]);
  });

  it("it is late, but not too late: the turn begins, and later ones wait as long again", async () => {
    const { object, settle } = await crowded();
    await object.scheduler.pass(COMMIT_DEADLINE_MS - 2);
    settle.resolve();
    await object.scheduler.pass(0);
    for (const i of [6, 7]) void object.submit(i);
    await object.scheduler.pass(COMMIT_DEADLINE_MS - 1);
    expect([object.turns, object.ended]).toEqual([
      [
        [1, 2, 3],
        [4, 5],
      ],
      [],
    ]);
    await object.scheduler.pass(1);
    expect(object.answered.slice(5)).toEqual(["try 6 again", "try 7 again"]);
  });

  it("it hangs and nobody waits: nothing happens", async () => {
    const object = new PacedObject(COMMIT_MS, () => new Promise(() => undefined));
    void object.submit(1);
    await object.scheduler.pass(10 * COMMIT_DEADLINE_MS);
    expect(object.ended).toEqual([]);
  });

  it("the machine slept meanwhile, and its word that it is durable comes behind the deadline: the turn begins", async () => {
    const { object, settle } = await crowded();
    object.clock.after(COMMIT_DEADLINE_MS - 1, () => settle.resolve());
    await object.scheduler.pass(COMMIT_DEADLINE_MS);
    expect([object.turns.length, object.ended]).toEqual([2, []]);
  });

  it("an answer that is a throw: rejects that request", async () => {
    let lose: (error: Error) => void = () => undefined;
    const { clock, scheduler } = new PacedObject(0);
    const batcher = new Batcher<number, string>({
      clock,
      apply: (operations) => operations.map(String),
      refuse: () => "full",
      onFailure: () => undefined,
      queueWeightMax: 10,
      commits: {
        durable: () => new Promise((_, reject) => (lose = reject)),
        unbegun: (operation) => {
          throw new Error(`not begun: ${operation}`);
        },
        end: () => undefined,
      },
    });
    for (const i of [1, 2]) void batcher.submit(i);
    await scheduler.pass(1);
    const waiting = Promise.allSettled([batcher.submit(3), batcher.submit(4)]);
    await scheduler.pass(1);
    lose(new Error("the disk is gone"));
    await scheduler.pass(1);
    expect(await waiting).toEqual([3, 4].map((i) => ({ status: "rejected", reason: new Error(`not begun: ${i}`) })));
    await expect(batcher.submit(5)).rejects.toThrow("not begun: 5");
  });

  it("a transaction that is lost while others wait: holds up nobody, and ends nothing", async () => {
    const object = new PacedObject(COMMIT_MS);
    const lost = new Batcher<number, string>({
      clock: object.clock,
      apply: (operations) => {
        if (operations.includes(3)) throw new Error("disk");
        return operations.map(String);
      },
      refuse: () => "full",
      onFailure: () => undefined,
      queueWeightMax: 10,
      commits: { durable: () => object.clock.sleep(COMMIT_MS), unbegun: () => "again", end: (error) => void object.ended.push(error) },
    });
    for (const i of [1, 2]) void lost.submit(i);
    await object.scheduler.pass(1);
    const waiting = Promise.allSettled([lost.submit(3), lost.submit(4)]);
    await object.scheduler.pass(COMMIT_MS);
    expect((await waiting).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await object.scheduler.run(lost.submit(5), 1)).toBe("5");
    await object.scheduler.pass(2 * COMMIT_DEADLINE_MS);
    expect(object.ended).toEqual([]);
  });
});
