import { describe, expect, it } from "vitest";
import type { Status } from "../../../../src/api/meta/status";
import type { Result } from "../../../../src/core/base/result";
import { pageChunks } from "../../../../src/endpoints/proxy-config/page-body";
import type { ProxyConfigPage } from "../../../../src/endpoints/proxy-config/proxy-configs";
import { IDLE_MS, ProxyView, SYNC_DELAY_MS } from "../../../../src/endpoints/proxy-config/proxy-view";
import { aService, aSlice, anEndpoint, type EndpointState } from "../../../support/values/endpoint-objects";
import { HeldServer } from "../../../support/worlds/held-server";

const NODE = { name: "n1", zone: "z1" };
const HOUR_MS = 3_600_000;

/** Time passes when the test says so. */
class HandClock {
  #now = 0;
  readonly #timers = new Set<{ at: number; work: () => void }>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, work: () => void): () => void {
    const timer = { at: this.#now + delayMs, work };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Whether something waits for this moment from now. */
  waits(delayMs: number): boolean {
    return [...this.#timers].some(({ at }) => at === this.#now + delayMs);
  }

  pass(durationMs: number): void {
    const end = this.#now + durationMs;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.work();
    }
    this.#now = end;
  }
}

type Answer = Result<ProxyConfigPage | undefined, Status>;

class World {
  readonly server = new HeldServer();
  readonly clock = new HandClock();
  readonly logged: string[] = [];
  readonly view: ProxyView;
  #runs = 0;

  constructor(pageMaxBytes?: number) {
    const { server, clock } = this;
    const random = { next: () => 0.5, uuid: () => `run-${++this.#runs}` };
    const recorder = { log: (level: string, event: string) => void this.logged.push(`${level} ${event}`) };
    this.view = new ProxyView({ fetch: server.fetch, clock, random, recorder }, pageMaxBytes);
  }

  poll(etag?: string, waitMs = 0, signal = new AbortController().signal): Promise<Answer> {
    return this.view.poll({ node: NODE, waitMs, ...(etag === undefined ? {} : { etag }) }, signal);
  }

  async lists(): Promise<void> {
    await this.server.list("services", [aService("web"), aService("api")]);
    await this.server.list("endpointslices", [slice("ready")]);
  }

  /** The page of a view that has just begun. */
  async first(): Promise<ProxyConfigPage> {
    const answer = this.poll();
    await this.lists();
    return pageOf(await answer);
  }

  /** A changed slice, of which the view has heard. */
  async change(...states: EndpointState[]): Promise<void> {
    await this.server.send("endpointslices", "MODIFIED", slice(...states));
    await expect.poll(() => this.clock.waits(SYNC_DELAY_MS)).toBe(true);
  }
}

const slice = (...states: EndpointState[]) =>
  aSlice(
    "web-a",
    "web",
    states.map((state, i) => anEndpoint(`10.1.0.${i + 1}`, state)),
  );

function pageOf(answer: Answer): ProxyConfigPage {
  if (!answer.ok || !answer.value) throw new Error(JSON.stringify(answer));
  return answer.value;
}

/** What a client reads. */
function shown(page: ProxyConfigPage): { isFull: boolean; services: string[]; removed: string[] } {
  const text = [...pageChunks(page)].map((bytes) => new TextDecoder().decode(bytes)).join("");
  const body = JSON.parse(text) as { isFull: boolean; services: Shown[]; removed: { name: string }[] };
  const services = body.services.map(({ name, ports: [port] }) => [name, ...(port?.cluster ?? [])].join(" "));
  return { isFull: body.isFull, services, removed: body.removed.map(({ name }) => name) };
}

interface Shown {
  name: string;
  ports: { cluster?: string[] }[];
}

describe("ProxyView", () => {
  it("first poll: waits for both lists, then has the whole page", async () => {
    const world = new World();
    expect(world.server.asked).toEqual([]);
    const page = await world.first();
    expect(shown(page)).toEqual({ isFull: true, services: ["web 10.1.0.1:8080", "api"], removed: [] });
    expect(world.server.asked.filter((path) => path.includes("limit=50&"))).toHaveLength(2);
  });

  it("lists that do not come: 503 after five seconds, and the next poll may have them", async () => {
    const world = new World();
    const answer = world.poll();
    await expect.poll(() => world.clock.waits(5_000)).toBe(true);
    world.clock.pass(5_000);
    expect(await answer).toMatchObject({ ok: false, error: { code: 503, details: { retryAfterSeconds: 1 } } });
    const next = world.poll();
    await world.lists();
    expect(pageOf(await next).isFull).toBe(true);
  });

  it("changes that come together: wake a poll once, with all of them", async () => {
    const world = new World();
    const { etag } = await world.first();
    const answer = world.poll(etag, HOUR_MS);
    await world.change("notReady");
    expect(world.view.counters.waiting).toBe(1);
    world.clock.pass(SYNC_DELAY_MS / 2);
    await world.server.send("endpointslices", "MODIFIED", slice("ready", "ready"));
    await world.server.send("services", "DELETED", aService("api"));
    await expect.poll(() => world.server.isTaken("services") && world.server.isTaken("endpointslices")).toBe(true);
    world.clock.pass(SYNC_DELAY_MS / 2);
    expect(shown(pageOf(await answer))).toEqual({ isFull: false, services: ["web 10.1.0.1:8080 10.1.0.2:8080"], removed: ["api"] });
    expect(world.view.counters.waiting).toBe(0);
  });

  it("a change that leaves the node's page as it is: wakes nobody", async () => {
    const world = new World();
    const { etag } = await world.first();
    const answer = world.poll(etag, 1_000);
    await world.change("ready", "notReady");
    world.clock.pass(SYNC_DELAY_MS);
    expect(world.view.counters.waiting).toBe(1);
    world.clock.pass(1_000);
    expect(await answer).toEqual({ ok: true, value: undefined });
  });

  it("a poll that was aborted: ends at once", async () => {
    const world = new World();
    const { etag } = await world.first();
    const client = new AbortController();
    const answer = world.poll(etag, HOUR_MS, client.signal);
    await Promise.resolve();
    client.abort();
    expect(await answer).toEqual({ ok: true, value: undefined });
    expect(world.view.counters.waiting).toBe(0);
  });

  it("nobody asks for two minutes: the view is dropped, and the next poll begins a new one", async () => {
    const world = new World();
    const { etag } = await world.first();
    world.clock.pass(IDLE_MS - 1);
    expect(await world.poll(etag)).toEqual({ ok: true, value: undefined });
    world.clock.pass(IDLE_MS - 1);
    expect(world.view.counters.isFollowing).toBe(true);
    world.clock.pass(1);
    const { made } = world.view.counters;
    expect([world.view.counters.isFollowing, made > 0]).toEqual([false, true]);
    const next = world.poll(etag, HOUR_MS);
    await world.lists();
    const page = pageOf(await next);
    expect([page.isFull, page.etag === etag]).toEqual([true, false]);
    expect(world.view.counters.made, "counts go on").toBeGreaterThan(made);
  });

  it("a poll that waits for longer than that: keeps the view", async () => {
    const world = new World();
    const { etag } = await world.first();
    const answer = world.poll(etag, HOUR_MS);
    await expect.poll(() => world.view.counters.waiting).toBe(1);
    world.clock.pass(2 * IDLE_MS);
    await world.change("notReady");
    world.clock.pass(SYNC_DELAY_MS);
    expect(shown(pageOf(await answer)).services).toEqual(["web"]);
  });

  it("a page beyond the bound: refused with its size", async () => {
    const world = new World(100);
    const answer = world.poll();
    await world.lists();
    const message = /^Internal error occurred: the page of the node "n1" has \d{3,4} bytes, more than 100$/;
    expect(await answer).toMatchObject({ ok: false, error: { code: 500, message: expect.stringMatching(message) as string } });
  });

  it("a cluster that refuses: logged, and asked again", async () => {
    const world = new World();
    const answer = world.poll();
    await world.server.list("services", [], 500);
    await world.server.list("endpointslices", []);
    await expect.poll(() => world.logged).toEqual(["warn the view for proxies could not follow"]);
    world.clock.pass(2_000);
    await world.server.list("services", [aService("api")]);
    expect(shown(pageOf(await answer)).services).toEqual(["api"]);
  });
});
