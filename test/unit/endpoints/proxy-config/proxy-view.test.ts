import { describe, expect, it } from "vitest";
import type { Status } from "../../../../src/api/meta/status";
import type { Result } from "../../../../src/core/base/result";
import { pageChunks } from "../../../../src/endpoints/proxy-config/page-body";
import { pageTag, readPageTag } from "../../../../src/endpoints/proxy-config/page-tag";
import type { Poll } from "../../../../src/endpoints/proxy-config/poll";
import { type PollAnswer, ProxyView } from "../../../../src/endpoints/proxy-config/proxy-view";
import { KeptStore } from "../../../support/proxies/kept-store";
import { aService, aSlice, anEndpoint, type EndpointState } from "../../../support/values/endpoint-objects";

const NODE = { name: "n1", zone: "z1" };

type Answer = Result<PollAnswer, Status>;

/** A cluster with two Services, one of which has a slice. */
class World {
  readonly stores = { services: new KeptStore(), slices: new KeptStore() };
  readonly logged: string[] = [];
  onLog: () => void = () => undefined;
  view: ProxyView;
  now = 0;

  constructor(private readonly pageMaxBytes?: number) {
    this.stores.services.put(aService("web"));
    this.stores.services.put(aService("api"));
    this.put("ready");
    this.view = this.#newView();
  }

  /** The object is forgotten, and made anew. */
  renew(): void {
    this.view = this.#newView();
  }

  put(...states: EndpointState[]): void {
    const endpoints = states.map((state, i) => anEndpoint(`10.1.0.${i + 1}`, state));
    this.stores.slices.put(aSlice("web-a", "web", endpoints));
  }

  poll(etag?: string, more: Partial<Poll> = {}): Promise<Answer> {
    return this.view.poll({ node: NODE, ...(etag === undefined ? {} : { etag }), ...more });
  }

  /** What a client reads: `whole`, `changes` or `unchanged`, then Services with their endpoints. */
  async shown(etag?: string, more: Partial<Poll> = {}): Promise<{ text: string; etag: string }> {
    const answer = await this.poll(etag, more);
    if (!answer.ok) return { text: `${answer.error.code}`, etag: "" };
    const { page } = answer.value;
    if (!page) return { text: "unchanged", etag: answer.value.etag };
    const text = [...pageChunks(page)].map((bytes) => new TextDecoder().decode(bytes)).join("");
    const body = JSON.parse(text) as { isFull: boolean; services: Shown[]; removed: { name: string }[] };
    const services = body.services.map(({ name, ports: [port] }) => [name, ...(port?.cluster ?? [])].join(" ")).sort();
    // Of a Service that was written to, its other family is told as gone.
    const removed = new Set(body.removed.map(({ name }) => `-${name}`));
    return { text: [body.isFull ? "whole" : "changes", ...services, ...removed].join(", "), etag: answer.value.etag };
  }

  get calls(): number {
    return Object.values(this.stores).reduce((sum, { calls }) => sum + calls.after + calls.since + calls.touched, 0);
  }

  #newView(): ProxyView {
    const { stores } = this;
    const log = (level: string, event: string): void => {
      this.logged.push(`${level} ${event}`);
      this.onLog();
    };
    const recorder = { log };
    return new ProxyView(
      {
        stores: { feed: (store) => stores[store], touchedSince: (store, ...asked) => stores[store].touchedSince(...asked) },
        clock: { now: () => this.now },
        recorder,
      },
      this.pageMaxBytes,
    );
  }
}

interface Shown {
  name: string;
  ports: { cluster?: string[] }[];
}

const WHOLE = "whole, api, web 10.1.0.1:8080";

describe("ProxyView", () => {
  it("first poll: the whole page; the next one: what has changed, or nothing", async () => {
    const world = new World();
    const first = await world.shown();
    expect(first.text).toBe(WHOLE);
    expect((await world.shown(first.etag)).text).toBe("unchanged");
    world.put("ready", "ready");
    world.stores.services.delete("default/api");
    const second = await world.shown(first.etag);
    expect(second.text).toBe("changes, web 10.1.0.1:8080 10.1.0.2:8080, -api");
    expect((await world.shown(second.etag)).text).toBe("unchanged");
  });

  it("a change that leaves the page as it is: unchanged, with the ETag of now", async () => {
    const world = new World();
    const { etag } = await world.shown();
    world.put("ready", "notReady");
    const next = await world.shown(etag);
    expect([next.text, next.etag === etag]).toEqual(["unchanged", false]);
    expect(readPageTag(next.etag)).toMatchObject({ slices: world.stores.slices.cursor, zone: "z1" });
  });

  it("a view that is made anew: tells the changes since the ETag, which it asks of the stores that have some", async () => {
    const world = new World();
    const { etag } = await world.shown();
    for (const change of [() => undefined, () => world.put("ready", "ready"), () => world.stores.services.delete("default/api")]) {
      world.renew();
      change();
    }
    const { text, etag: next } = await world.shown(etag);
    expect(text).toBe("changes, web 10.1.0.1:8080 10.1.0.2:8080, -api");
    world.renew();
    expect(await world.shown(next)).toEqual({ text: "unchanged", etag: next });
    expect([world.stores.services.calls, world.stores.slices.calls].map(({ touched }) => touched)).toEqual([1, 1]);
  });

  it("a view that is made anew, and many polls of one place: one question; of other places: one for each, and nobody gets a whole page", async () => {
    const world = new World();
    const first = await world.shown();
    world.stores.services.put(aService("none", { clusterIP: "None" }));
    const second = await world.shown(first.etag);
    world.put("notReady");
    world.renew();
    const polls = await Promise.all([first, second].flatMap(({ etag }) => Array.from({ length: 20 }, () => world.shown(etag))));
    polls.push(await world.shown(first.etag), await world.shown(second.etag));
    expect(new Set(polls.map(({ text }) => text))).toEqual(new Set(["changes, web, -none", "changes, web"]));
    expect([world.stores.services.calls, world.stores.slices.calls].map(({ touched }) => touched)).toEqual([1, 2]);
  });

  it("more unknown places at once than the stores are asked about: the others get the whole page", async () => {
    const world = new World();
    const etags: string[] = [];
    for (let i = 0; i < 40; i++) {
      world.stores.services.put(aService("none", { clusterIP: "None" }));
      etags.push((await world.shown()).etag);
    }
    world.put("notReady");
    world.renew();
    await world.poll();
    const polls = await Promise.all(etags.map((etag) => world.shown(etag)));
    const whole = polls.filter(({ text }) => text.startsWith("whole")).length;
    // A question may be over before the last poll comes.
    expect([whole > 0, whole <= 8], `${whole} whole pages`).toEqual([true, true]);
    expect(new Set((await Promise.all(etags.slice(-8).map((etag) => world.shown(etag)))).map(({ text }) => text.slice(0, 7)))).toEqual(
      new Set(["changes"]),
    );
  });

  it("more changes than places are remembered, none of which the node sees: no whole page", async () => {
    const world = new World();
    const { etag } = await world.shown();
    for (let i = 0; i < 1_100; i++) {
      world.stores.slices.put(aSlice("api-a", "api", [], { labels: { change: String(i) } }));
      await world.poll();
    }
    expect((await world.shown(etag)).text).toBe("changes, api");
  });

  it("more Services changed than one answer holds: the whole page", async () => {
    const world = new World();
    const { etag } = await world.shown();
    for (let i = 0; i < 5_001; i++) world.stores.services.put(aService(`s${i}`, { clusterIP: "None" }));
    world.renew();
    expect((await world.shown(etag)).text).toBe(WHOLE);
  });

  it("a first read that is cut between its pages: the next one goes on, and misses nothing", async () => {
    const world = new World();
    const { services } = world.stores;
    const { etag } = await world.shown();
    services.put(aService("api", { clusterIP: "10.96.0.99", clusterIPs: ["10.96.0.99"] }));
    services.page = 1;
    world.renew();
    let calls = 0;
    services.called = () => {
      if (++calls === 2) throw new Error("lost");
    };
    expect((await world.shown(etag)).text).toBe("503");
    expect((await world.shown(etag)).text).toBe("changes, api, -api");
    const answer = await world.poll();
    const pieces = answer.ok ? (answer.value.page?.services.flat() ?? []) : [];
    expect(pieces.map((bytes) => new TextDecoder().decode(bytes)).join("")).toContain("10.96.0.99");
  });

  it("a slice that goes from one Service to another while the view is away: both are told", async () => {
    const world = new World();
    const { etag } = await world.shown();
    world.stores.slices.put(aSlice("web-a", "api", [anEndpoint("10.1.0.1", "ready")]));
    world.renew();
    expect((await world.shown(etag)).text).toBe("changes, api 10.1.0.1:8080, web");
  });

  it("a Service that loses a family while the view is away: that family is told as gone", async () => {
    const world = new World();
    world.stores.services.put(aService("api", { clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5", "fd00::5"] }));
    const { etag } = await world.shown();
    world.stores.services.put(aService("api", { clusterIP: "10.96.0.5", clusterIPs: ["10.96.0.5"] }));
    world.renew();
    const answer = await world.poll(etag);
    const removed = answer.ok ? (answer.value.page?.removed ?? []) : [];
    expect(removed.map((bytes) => JSON.parse(new TextDecoder().decode(bytes)) as unknown)).toEqual([
      { namespace: "default", name: "api", family: "IPv6" },
    ]);
  });

  it("a store that is lost while it is asked what has changed: 503, and the next poll asks again", async () => {
    const world = new World();
    const { etag } = await world.shown();
    world.put("notReady");
    world.renew();
    await world.poll();
    const { slices } = world.stores;
    slices.called = () => {
      if (slices.calls.touched === 0) return;
      slices.called = () => undefined;
      throw new Error("lost");
    };
    expect((await world.shown(etag)).text).toBe("503");
    expect(world.logged).toContain("warn a view could not ask what has changed");
    expect((await world.shown(etag)).text).toBe("changes, web");
  });

  it("a history that takes longer to ask than a page to make: the whole page", async () => {
    const world = new World();
    const { etag } = await world.shown();
    for (const state of ["notReady", "ready"] as const) world.put(state);
    world.renew();
    await world.poll();
    world.stores.slices.page = 1;
    world.stores.slices.called = () => void (world.now += 3_000);
    expect((await world.shown(etag)).text).toBe(WHOLE);
  });

  it("a pass that fails: the polls behind it have their own", async () => {
    const world = new World();
    let isBroken = true;
    world.stores.services.called = () => {
      if (isBroken) throw new Error("lost");
    };
    world.onLog = () => {
      isBroken = false;
      throw new Error("the log is full");
    };
    const polls = [world.shown(), world.shown()];
    await expect(polls[0]).rejects.toThrow("the log is full");
    expect([(await polls[1])?.text, (await world.shown()).text]).toEqual([WHOLE, WHOLE]);
  });

  it.each(["slices", "services"] as const)("a new view, where the history of %s does not reach back: the whole page", async (store) => {
    const world = new World();
    const { etag } = await world.shown();
    world.put("ready", "ready");
    world.stores.services.put(aService("new"));
    world.stores[store].forget();
    world.renew();
    expect((await world.shown(etag)).text).toBe("whole, api, new, web 10.1.0.1:8080 10.1.0.2:8080");
  });

  it.each(["slices", "services"] as const)(
    "a store of %s that has begun anew, and a new view: the whole page, though the revision is known",
    async (store) => {
      const world = new World();
      const { etag } = await world.shown();
      world.stores[store].beginAnew(world.stores[store].revision);
      world.renew();
      expect((await world.shown(etag)).text).toBe(WHOLE);
    },
  );

  it("a history that is gone while the view goes on: the changes all the same", async () => {
    const world = new World();
    const { etag } = await world.shown();
    world.put("notReady");
    world.stores.services.delete("default/api");
    for (const store of Object.values(world.stores)) store.forget();
    expect((await world.shown(etag)).text).toBe("changes, web, -api");
  });

  it.each([
    ["of another zone", pageTag({ services: new KeptStore().cursor, slices: new KeptStore().cursor }, "z2")],
    ["of nobody", '"x"'],
  ])("an ETag %s: the whole page", async (_, etag) => {
    expect((await new World().shown(etag)).text).toBe(WHOLE);
  });

  it("what no node sees, and what others see: only the first is said to be unseen", async () => {
    const world = new World();
    const unseen = async (etag: string): Promise<boolean | undefined> => {
      const answer = await world.poll(etag);
      return answer.ok ? answer.value.isUnseen : undefined;
    };
    const { etag } = await world.shown();
    world.put("ready", "notReady");
    expect(await unseen(etag)).toBe(true);
    world.stores.services.put(aService("web", { internalTrafficPolicy: "Local" }));
    const { etag: local } = await world.shown(etag);
    world.stores.slices.put(aSlice("web-a", "web", [anEndpoint("10.1.0.1", "ready", { nodeName: "another" })]));
    expect([(await world.shown(local)).text, await unseen(local)]).toEqual(["unchanged", false]);
    world.renew();
    expect(await unseen(local)).toBe(false);
  });

  it("polls of two zones: each with its own ETag", async () => {
    const world = new World();
    const [a, b] = [await world.shown(), await world.shown(undefined, { node: { name: "n2", zone: undefined } })];
    expect(a.etag === b.etag).toBe(false);
    expect((await world.shown(b.etag)).text).toBe(WHOLE);
    expect((await world.shown(b.etag, { node: { name: "n3", zone: undefined } })).text).toBe("unchanged");
  });

  it("a poll that says how far its Worker is: reads only what is behind", async () => {
    const world = new World();
    const { etag } = await world.shown();
    const reached = () => ({ services: world.stores.services.cursor, slices: world.stores.slices.cursor });
    const before = world.calls;
    expect((await world.shown(etag, { reached: reached() })).text).toBe("unchanged");
    expect(world.calls).toBe(before);
    world.put("notReady");
    expect((await world.shown(etag, { reached: reached() })).text).toBe("changes, web");
    expect(world.calls).toBe(before + 1);
  });

  it("polls that come together: share a pass; one that comes during it gets what was written before", async () => {
    const world = new World();
    const { etag } = await world.shown();
    const { passes } = world.view.counters;
    world.put("notReady");
    const reached = { services: world.stores.services.cursor, slices: world.stores.slices.cursor };
    const told = Array.from({ length: 50 }, () => world.shown(etag, { reached }));
    const asked = Array.from({ length: 50 }, () => world.shown(etag));
    world.put("ready", "ready");
    expect(new Set((await Promise.all(asked)).map(({ text }) => text))).toEqual(new Set(["changes, web 10.1.0.1:8080 10.1.0.2:8080"]));
    expect((await Promise.all(told)).every(({ text }) => text.startsWith("changes, web"))).toBe(true);
    expect(world.view.counters.passes).toBe(passes + 2);
  });

  it("a store that is away: 503 with Retry-After, and what the view has read is no answer", async () => {
    const world = new World();
    const { etag } = await world.shown();
    world.stores.slices.isAway = true;
    expect(await world.poll(etag)).toMatchObject({ ok: false, error: { code: 503, details: { retryAfterSeconds: 1 } } });
    expect(
      await world.poll(etag, { reached: { services: world.stores.services.cursor, slices: world.stores.slices.cursor } }),
    ).toMatchObject({ ok: false, error: { code: 503 } });
    expect(world.logged).toContain("warn a controller could not read");
    world.stores.slices.isAway = false;
    world.put("notReady");
    expect((await world.shown(etag)).text).toBe("changes, web");
  });

  it("lists longer than a pass: 503, and the next pass goes on with them", async () => {
    const world = new World();
    world.stores.services.page = 1;
    const { objectsAfter } = world.stores.services;
    world.stores.services.objectsAfter = function (...args) {
      world.now += 4_000;
      return objectsAfter.apply(this, args);
    };
    expect((await world.shown()).text).toBe("503");
    expect((await world.shown()).text).toBe(WHOLE);
    expect(world.stores.services.calls.after).toBe(2);
  });

  it("a page beyond the bound: refused with its size", async () => {
    const message = /^Internal error occurred: the page of the node "n1" has \d{3,4} bytes, more than 100$/;
    expect(await new World(100).poll()).toMatchObject({
      ok: false,
      error: { code: 500, message: expect.stringMatching(message) as string },
    });
  });

  it("a Worker of the release before, which lets the view wait: is told to come again when nothing has changed", async () => {
    const world = new World();
    const { etag } = await world.shown();
    expect((await world.shown(etag, { waitMs: 20_000 })).text).toBe("503");
    world.put("notReady");
    expect((await world.shown(etag, { waitMs: 20_000 })).text).toBe("changes, web");
  });
});
