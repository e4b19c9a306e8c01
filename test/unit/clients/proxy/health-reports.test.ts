import { describe, expect, it } from "vitest";
import { HealthReports, type ReportAnswer } from "../../../../src/clients/proxy/health-reports";
import { ProxyHealth } from "../../../../src/clients/proxy/proxy-health";

const PERIOD_MS = 30_000;
const KEPT: ReportAnswer = { status: 200, text: "" };
const noNode = (name: string): ReportAnswer => ({ status: 404, text: JSON.stringify({ details: { kind: "nodes", name } }) });

/** A proxy whose IPv4 alone has updates, and a server. */
class World {
  now = 0;
  readonly health = new ProxyHealth();
  /** `seconds: report`; durations in seconds */
  readonly sent: string[] = [];
  readonly told: string[] = [];
  answer: ReportAnswer | Error = KEPT;
  /** undefined = an answer comes at once */
  held: Promise<void> | undefined;
  #timer: { at: number; work: () => void } | undefined;
  readonly reports = new HealthReports(
    {
      clock: {
        now: () => this.now,
        after: (delayMs, work) => {
          const timer = { at: this.now + delayMs, work };
          this.#timer = timer;
          return () => {
            if (this.#timer === timer) this.#timer = undefined;
          };
        },
      },
      report: () => this.health.report(this.now),
      send: async ({ IPv4, IPv6 }) => {
        expect(IPv6).toBeUndefined();
        const { appliedAgoMs = NaN, queuedForMs } = IPv4 ?? {};
        this.sent.push(`${this.now / 1_000}: ${appliedAgoMs / 1_000}${queuedForMs === undefined ? "" : ` waits ${queuedForMs / 1_000}`}`);
        await this.held;
        if (this.answer instanceof Error) throw this.answer;
        return this.answer;
      },
      log: (line) => this.told.push(line),
    },
    { node: "n1", syncPeriodMs: PERIOD_MS },
  );

  constructor() {
    this.health.updated("IPv4", 0);
  }

  async settled(): Promise<void> {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    await this.settled();
    while (this.#timer && this.#timer.at <= until) {
      const { at, work } = this.#timer;
      this.#timer = undefined;
      this.now = at;
      work();
      await this.settled();
    }
    this.now = until;
  }

  queued(): void {
    this.health.queued("IPv4", this.now);
  }

  applied(): void {
    this.health.updated("IPv4", this.now);
    this.reports.applied();
  }
}

describe("reports about a proxy", () => {
  it("a proxy without changes: one report in each period, the first at once", async () => {
    const world = new World();
    world.reports.start();
    await world.pass(2 * PERIOD_MS);
    expect(world.sent).toEqual(["0: 0", "30: 30", "60: 60"]);
  });

  it("changes that are applied between two reports: no report of their own", async () => {
    const world = new World();
    world.reports.start();
    for (let i = 0; i < 20; i++) {
      await world.pass(1_000);
      world.queued();
      await world.pass(200);
      world.applied();
    }
    await world.pass(PERIOD_MS - 24_000);
    expect(world.sent).toEqual(["0: 0", "30: 6"]);
  });

  it("the end of a wait that was told: a report at once, then one in each period again", async () => {
    const world = new World();
    world.reports.start();
    await world.pass(20_000);
    world.queued();
    await world.pass(25_000);
    world.applied();
    await world.pass(PERIOD_MS);
    expect(world.sent).toEqual(["0: 0", "30: 30 waits 10", "45: 0", "75: 30"]);
  });

  it("waits that end one after the other: told a second apart at most", async () => {
    const world = new World();
    world.queued();
    world.reports.start();
    for (let i = 0; i < 10; i++) {
      await world.pass(100);
      world.applied();
      world.queued();
    }
    await world.pass(0);
    expect(world.sent).toEqual(["0: 0 waits 0", "1: 0.1 waits 0.1"]);
  });

  it("a wait that ends while its report is under way: told a second after it", async () => {
    const world = new World();
    world.queued();
    let answer: () => void = () => undefined;
    world.held = new Promise((resolve) => (answer = resolve));
    world.reports.start();
    await world.pass(400);
    world.applied();
    answer();
    await world.pass(5_000);
    expect(world.sent).toEqual(["0: 0 waits 0", "1: 0.6"]);
  });

  it("stop: no further report", async () => {
    const world = new World();
    world.reports.start();
    await world.pass(1_000);
    world.reports.stop();
    await world.pass(10 * PERIOD_MS);
    expect(world.sent).toHaveLength(1);
  });
});

describe("a report that is not kept", () => {
  it.each<[string, answer: ReportAnswer | Error, againSeconds: number, told: RegExp]>([
    ["no answer", new Error("connect ECONNREFUSED"), 5, /^no report about this proxy can be sent: connect ECONNREFUSED$/],
    ["a busy server", { status: 429, text: "" }, 5, /answered with 429/],
    ["a store in trouble", { status: 503, text: "try again\n" }, 5, /answered with 503: try again$/],
    ["no right to report", { status: 403, text: "forbidden" }, 30, /answered with 403: forbidden$/],
    ["no such Node yet", noNode("n1"), 5, /the Node n1 does not exist$/],
    ["Kubernetes", { status: 404, text: "404 page not found\n" }, 600, /takes no reports about proxies \(404\); .* every 600 seconds$/],
    ["a Status of another object", noNode("n2"), 600, /takes no reports/],
    ["a path of other methods", { status: 405, text: "" }, 600, /takes no reports about proxies \(405\)/],
  ])("%s: told once, and tried again in its time", async (_, answer, againSeconds, told) => {
    const world = new World();
    world.answer = answer;
    world.reports.start();
    await world.pass(2 * againSeconds * 1_000);
    expect(world.sent).toEqual([0, 1, 2].map((i) => `${i * againSeconds}: ${i * againSeconds}`));
    expect(world.told).toEqual([expect.stringMatching(told)]);
    world.answer = KEPT;
    await world.pass(againSeconds * 1_000);
    world.answer = answer;
    await world.pass(PERIOD_MS);
    expect(world.told).toHaveLength(2);
  });

  it("a path that is gone after a report was kept: tried again soon, and told once", async () => {
    const world = new World();
    world.reports.start();
    await world.pass(PERIOD_MS - 1_000);
    world.answer = { status: 404, text: "404 page not found\n" };
    await world.pass(11_000);
    world.answer = KEPT;
    await world.pass(PERIOD_MS);
    expect(world.sent).toEqual(["0: 0", "30: 30", "35: 35", "40: 40", "45: 45"]);
    expect(world.told).toEqual([expect.stringMatching(/takes no reports about proxies \(404\); .* every 5 seconds$/)]);
  });

  it("Kubernetes, while changes wait and are applied: no report before its time", async () => {
    const world = new World();
    world.answer = { status: 404, text: "404 page not found\n" };
    world.queued();
    world.reports.start();
    await world.pass(10_000);
    world.applied();
    await world.pass(60_000);
    expect(world.sent).toHaveLength(1);
  });
});
