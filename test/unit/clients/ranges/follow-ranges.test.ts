import { describe, expect, it } from "vitest";
import type { ServiceCIDR } from "../../../../src/api/meta/kubernetes";
import { type RangesView, serviceRanges } from "../../../../src/addresses/ranges/service-ranges";
import type { FetchLike } from "../../../../src/api/client/fetch-like";
import { type FollowedRanges, followRanges } from "../../../../src/clients/ranges/follow-ranges";

const LIST = "/apis/networking.k8s.io/v1/servicecidrs";

function cidr(name: string, cidrs: string[], status = "True", deletionTimestamp?: string): ServiceCIDR {
  const condition = { type: "Ready", status, reason: "", message: "", lastTransitionTime: "" };
  return { metadata: { name, ...(deletionTimestamp ? { deletionTimestamp } : {}) }, spec: { cidrs }, status: { conditions: [condition] } };
}

/** An API server of one resource, with at most one open watch. */
class FakeServer {
  readonly asked: string[] = [];
  readonly objects = new Map<string, ServiceCIDR>();
  revision = 1;
  view: Omit<Partial<RangesView>, "epoch"> & { status: number; text?: string; lost?: boolean; epoch: number; orphaned: string[] } = {
    status: 200,
    epoch: 1,
    orphaned: [],
  };
  listStatus = 200;
  watchStatus = 200;
  form: "iterator" | "reader" | "text" = "iterator";
  #waiting: ((line: string | undefined) => void) | undefined;
  #lines: (string | undefined)[] = [];
  aborted = false;

  readonly fetch: FetchLike = (path, { signal }) => {
    this.asked.push(path);
    if (signal.aborted) return Promise.reject(new Error("aborted"));
    if (path === "/ranges" && this.view.lost) return Promise.reject(new Error("the connection is lost"));
    if (path === "/ranges") return this.#answer(this.view.status, this.view.text ?? JSON.stringify(this.view));
    if (path === LIST) {
      const list = { metadata: { resourceVersion: String(this.revision) }, items: [...this.objects.values()] };
      return this.#answer(this.listStatus, JSON.stringify(list));
    }
    if (this.watchStatus !== 200) return this.#answer(this.watchStatus, "gone");
    (signal as unknown as EventTarget).addEventListener("abort", () => {
      this.aborted = true;
      this.send(undefined);
    });
    const next = () => new Promise<string | undefined>((resolve) => this.#next(resolve));
    const encoder = new TextEncoder();
    if (this.form === "reader") {
      const read = async () => {
        const line = await next();
        return line === undefined ? { done: true } : { done: false, value: encoder.encode(line) };
      };
      return Promise.resolve({
        status: 200,
        text: () => Promise.resolve(""),
        body: { getReader: () => ({ read, cancel: () => Promise.resolve() }) },
      });
    }
    const inBytes = this.form === "iterator";
    async function* body() {
      for (let line = await next(); line !== undefined; line = await next()) yield inBytes ? encoder.encode(line) : line;
    }
    return Promise.resolve({ status: 200, text: () => Promise.resolve(""), body: body() });
  };

  #answer(status: number, text: string) {
    return Promise.resolve({ status, text: () => Promise.resolve(text), body: null });
  }

  #next(resolve: (line: string | undefined) => void): void {
    if (this.#lines.length > 0) resolve(this.#lines.shift());
    else this.#waiting = resolve;
  }

  /** a piece of the open watch's body; undefined ends it */
  send(piece: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(piece);
    else this.#lines.push(piece);
  }

  change(type: "ADDED" | "MODIFIED" | "DELETED", object: ServiceCIDR): string {
    const name = object.metadata?.name ?? "";
    const resourceVersion = String(++this.revision);
    this.view.epoch++;
    const changed = { ...object, metadata: { ...object.metadata, resourceVersion } };
    if (type === "DELETED") this.objects.delete(name);
    else this.objects.set(name, changed);
    return `${JSON.stringify({ type, object: changed })}\n`;
  }

  /** The ranges are those of the server's configuration. */
  configure(prefix: string): void {
    this.view = { ...this.view, ...serviceRanges([{ cidrs: [prefix], ready: true }]), resourceVersion: "1" };
  }

  get watches(): string[] {
    return this.asked.filter((path) => path.includes("watch=true"));
  }
}

/** A follower on a clock that jumps to the next time that it waits for. */
function follow(server: FakeServer, watchMs = 5_000) {
  const told: FollowedRanges[] = [];
  const errors: string[] = [];
  const pauses: number[] = [];
  let now = 0;
  const stop = followRanges({
    fetch: server.fetch,
    clock: {
      now: () => (now += watchMs),
      after: (ms, work) => {
        pauses.push(ms);
        const timer = setTimeout(work, 1);
        return () => clearTimeout(timer);
      },
    },
    onRanges: (ranges) => told.push(ranges),
    onError: (error) => errors.push(error.message),
  });
  return { told, errors, pauses, stop };
}

const IPv4 = (ranges: FollowedRanges | undefined) => [ranges?.ready.IPv4.prefixes.join(" "), ranges?.serving.IPv4.prefixes.join(" ")];

describe("followRanges", () => {
  it.each(["iterator", "reader", "text"] as const)("list, then changes: each is reported (body as %s)", async (form) => {
    const server = new FakeServer();
    server.form = form;
    server.objects.set("kubernetes", cidr("kubernetes", ["10.96.0.0/25"]));
    const { told, errors, stop } = follow(server);
    await expect.poll(() => told.length).toBe(1);
    expect(told[0]).toMatchObject({ resourceVersion: "1", epoch: 1 });
    expect(told[0]?.ready.IPv4).toEqual({ prefixes: ["10.96.0.0/25"], zones: expect.any(Array) as unknown });

    const added = server.change("ADDED", cidr("second", ["10.96.0.128/25"], "False"));
    // Pieces of the body need not end where lines do.
    server.send(added.slice(0, 40));
    server.send(added.slice(40));
    await expect.poll(() => told.length).toBe(2);
    expect(IPv4(told[1])).toEqual(["10.96.0.0/25", "10.96.0.0/24"]);
    expect(told[1]).toMatchObject({ resourceVersion: "2", epoch: 2 });

    server.send(server.change("MODIFIED", cidr("second", ["10.96.0.128/25"])));
    await expect.poll(() => told.length).toBe(3);
    expect(told[2]?.ready.IPv4).toEqual({ prefixes: ["10.96.0.0/24"], zones: ["0.96.10.in-addr.arpa"] });

    server.send(server.change("MODIFIED", cidr("kubernetes", ["10.96.0.0/25"], "True", "2026-01-01T00:00:00Z")));
    await expect.poll(() => told.length).toBe(4);
    expect(IPv4(told[3])).toEqual(["10.96.0.128/25", "10.96.0.0/24"]);

    server.send(server.change("DELETED", cidr("kubernetes", ["10.96.0.0/25"])));
    await expect.poll(() => told.length).toBe(5);
    expect(IPv4(told[4])).toEqual(["10.96.0.128/25", "10.96.0.128/25"]);
    stop();
    await expect.poll(() => server.aborted).toBe(true);
    expect(errors).toEqual([]);
  });

  it("changes that leave the ranges as they are: not reported; changes that come together: reported once", async () => {
    const server = new FakeServer();
    server.objects.set("a", cidr("a", ["10.0.0.0/16"]));
    const { told, stop } = follow(server);
    await expect.poll(() => server.watches.length).toBe(1);
    server.send(server.change("ADDED", cidr("inner", ["10.0.7.0/24"])));
    server.send(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n`);
    server.send(server.change("ADDED", cidr("b", ["10.2.0.0/16"])) + server.change("ADDED", cidr("c", ["10.3.0.0/16"])));
    await expect.poll(() => told.length).toBe(2);
    expect(IPv4(told[1])).toEqual(["10.0.0.0/16 10.2.0.0/15", "10.0.0.0/16 10.2.0.0/15"]);
    stop();
  });

  it("end of a watch: the next one goes on from the last revision, and the view is read again", async () => {
    const server = new FakeServer();
    server.objects.set("a", cidr("a", ["10.0.0.0/24"]));
    const { told, pauses, stop } = follow(server);
    await expect.poll(() => server.watches.length).toBe(1);
    server.send(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n`);
    await expect.poll(() => server.asked.filter((path) => path === "/ranges").length).toBe(2);
    server.view = { status: 200, epoch: 5, orphaned: ["10.0.1.0/24"] };
    server.send(undefined);
    await expect.poll(() => told.length).toBe(2);
    expect(IPv4(told[1])).toEqual(["10.0.0.0/24", "10.0.0.0/23"]);
    expect(told[1]).toMatchObject({ orphaned: ["10.0.1.0/24"], epoch: 5, resourceVersion: "7" });
    await expect.poll(() => server.watches.length).toBe(2);
    expect(server.watches[1]).toContain("resourceVersion=7");
    expect(server.asked.filter((path) => path === LIST)).toHaveLength(1);
    expect(pauses).toEqual([]);
    stop();
  });

  it("range in use that no ServiceCIDR names: the view is read again soon, because the range goes without an event", async () => {
    const server = new FakeServer();
    server.objects.set("a", cidr("a", ["10.0.0.0/24"]));
    server.objects.set("b", cidr("b", ["10.0.1.0/24"]));
    const { told, stop } = follow(server);
    await expect.poll(() => server.watches.length).toBe(1);
    server.view.orphaned = ["10.0.1.0/24"];
    server.send(server.change("DELETED", cidr("b", ["10.0.1.0/24"])));
    await expect.poll(() => server.watches.length).toBe(2);
    expect(IPv4(told[1])).toEqual(["10.0.0.0/24", "10.0.0.0/23"]);
    server.view.orphaned = [];
    server.send(undefined);
    await expect.poll(() => server.watches.length).toBe(3);
    expect(IPv4(told[2])).toEqual(["10.0.0.0/24", "10.0.0.0/24"]);
    expect(server.watches.map((path) => /timeoutSeconds=(\d+)/.exec(path)?.[1])).toEqual(["300", "5", "300"]);
    stop();
  });

  it("API server without the view: no epoch", async () => {
    const server = new FakeServer();
    server.view.status = 404;
    server.objects.set("a", cidr("a", ["10.0.0.0/24"]));
    const { told, stop } = follow(server);
    await expect.poll(() => told.length).toBe(1);
    expect(told[0]).toMatchObject({ epoch: undefined, orphaned: [] });
    expect(IPv4(told[0])).toEqual(["10.0.0.0/24", "10.0.0.0/24"]);
    stop();
  });

  it.each([
    ["is refused", (view: FakeServer["view"]) => (view.status = 503)],
    ["is cut off", (view: FakeServer["view"]) => (view.text = `{"orphaned":[`)],
    ["is another page", (view: FakeServer["view"]) => (view.text = "{}")],
    ["is lost", (view: FakeServer["view"]) => (view.lost = true)],
  ])("view that %s: prefixes in use stay, and it is read again soon", async (_, spoil) => {
    const server = new FakeServer();
    server.objects.set("a", cidr("a", ["10.0.0.0/24"]));
    server.objects.set("b", cidr("b", ["10.0.1.0/24"]));
    server.view.orphaned = ["10.0.2.0/24"];
    const { told, errors, stop } = follow(server);
    await expect.poll(() => server.watches.length).toBe(1);
    const view = { ...server.view };
    spoil(server.view);
    server.send(undefined);
    await expect.poll(() => server.watches.length).toBe(2);
    expect(told).toHaveLength(1);
    expect(errors).toHaveLength(1);
    // Only the view knows whether the ServiceCIDR was removed by force.
    server.send(server.change("DELETED", cidr("b", ["10.0.1.0/24"])));
    await expect.poll(() => told.length).toBe(2);
    expect(IPv4(told[1])).toEqual(["10.0.0.0/24", "10.0.0.0/23 10.0.2.0/24"]);
    expect(told[1]?.orphaned).toEqual(["10.0.1.0/24", "10.0.2.0/24"]);
    expect(told[1]?.epoch).toBeUndefined();
    server.view = view;
    server.send(undefined);
    await expect.poll(() => told.length).toBe(3);
    expect(IPv4(told[2])).toEqual(["10.0.0.0/24", "10.0.0.0/24 10.0.2.0/24"]);
    expect(new Set(server.watches.map((path) => /timeoutSeconds=(\d+)/.exec(path)?.[1]))).toEqual(new Set(["5"]));
    stop();
  });

  it("view that never can be read: asked for less and less often, and the ranges are followed without it", async () => {
    const server = new FakeServer();
    server.view.status = 403;
    server.objects.set("a", cidr("a", ["10.0.0.0/24"]));
    server.objects.set("b", cidr("b", ["10.0.1.0/24"]));
    const { told, errors, stop } = follow(server);
    await expect.poll(() => server.watches.length).toBe(1);
    server.send(server.change("DELETED", cidr("b", ["10.0.1.0/24"])));
    await expect.poll(() => told.length).toBe(2);
    expect(IPv4(told[1])).toEqual(["10.0.0.0/24", "10.0.0.0/24"]);
    for (let watches = 2; watches <= 7; watches++) {
      server.send(undefined);
      await expect.poll(() => server.watches.length).toBe(watches);
    }
    expect(server.watches.map((path) => Number(/timeoutSeconds=(\d+)/.exec(path)?.[1]))).toEqual([5, 20, 40, 80, 160, 300, 300]);
    expect(errors.filter((error) => !error.startsWith("the API server answers 403: "))).toEqual([]);
    stop();
  });

  it.each([
    ["an answer 410", (server: FakeServer) => (server.watchStatus = 410)],
    ["an event ERROR 410", (server: FakeServer) => server.send(`{"type":"ERROR","object":{"code":410,"message":"too old"}}\n`)],
  ])("%s: lists anew, without an error", async (_, expire) => {
    const server = new FakeServer();
    server.objects.set("a", cidr("a", ["10.0.0.0/24"]));
    const { told, errors, stop } = follow(server);
    await expect.poll(() => server.watches.length).toBe(1);
    server.change("ADDED", cidr("missed", ["10.0.1.0/24"]));
    expire(server);
    server.send(undefined);
    await expect.poll(() => told.length).toBe(2);
    server.watchStatus = 200;
    expect(IPv4(told[1])).toEqual(["10.0.0.0/23", "10.0.0.0/23"]);
    expect(errors).toEqual([]);
    stop();
  });

  it("errors: reported, with longer waits each time, until it recovers", async () => {
    const server = new FakeServer();
    server.listStatus = 503;
    const { told, errors, pauses, stop } = follow(server);
    await expect.poll(() => errors.length).toBeGreaterThan(7);
    server.listStatus = 200;
    await expect.poll(() => told.length).toBe(1);
    expect(errors[0]).toMatch(/^the API server answers 503: /);
    expect(pauses.slice(0, 8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    stop();
  });

  it("watches that end at once: asked again with rests", async () => {
    const server = new FakeServer();
    const { pauses, stop } = follow(server, 1);
    for (let i = 1; i <= 3; i++) {
      await expect.poll(() => server.watches.length).toBeGreaterThanOrEqual(i);
      server.send(undefined);
    }
    await expect.poll(() => pauses.length).toBeGreaterThanOrEqual(3);
    expect(pauses.slice(0, 3)).toEqual([500, 1_000, 2_000]);
    stop();
  });

  it("API server without ServiceCIDRs: its page is followed while it serves none", async () => {
    const server = new FakeServer();
    server.listStatus = 404;
    server.configure("10.96.0.0/24");
    const { told, errors, pauses, stop } = follow(server);
    await expect.poll(() => told.length).toBe(1);
    expect(told[0]).toMatchObject({ resourceVersion: "1", epoch: 1 });
    expect(IPv4(told[0])).toEqual(["10.96.0.0/24", "10.96.0.0/24"]);
    server.configure("10.97.0.0/24");
    await expect.poll(() => IPv4(told[1])).toEqual(["10.97.0.0/24", "10.97.0.0/24"]);
    expect(new Set(pauses), "ms between two looks").toEqual(new Set([10_000]));
    expect([errors, server.watches]).toEqual([[], []]);

    server.objects.set("kubernetes", cidr("kubernetes", ["10.98.0.0/24"]));
    server.listStatus = 200;
    await expect.poll(() => IPv4(told[2])).toEqual(["10.98.0.0/24", "10.98.0.0/24"]);
    await expect.poll(() => server.watches.length).toBe(1);
    server.listStatus = 404;
    server.watchStatus = 404;
    server.configure("10.99.0.0/24");
    server.send(undefined);
    await expect.poll(() => IPv4(told[3])).toEqual(["10.99.0.0/24", "10.99.0.0/24"]);
    expect(errors).toEqual([]);
    stop();
  });

  it("API server with neither: reported as an error", async () => {
    const server = new FakeServer();
    server.listStatus = 404;
    server.view.status = 404;
    const { told, errors, stop } = follow(server);
    await expect.poll(() => errors.length).toBeGreaterThan(1);
    expect(errors[0]).toContain("the API server answers 404");
    expect(told).toEqual([]);
    stop();
  });
});
