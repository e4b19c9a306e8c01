import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { drainUnread } from "../../../../../src/worker/http/read/drain";
import { DRAIN_MS, DRAIN_SILENCE_MS, DRAINED_MAX_BYTES } from "../../../../../src/worker/http/limits";
import { fakeTimersOf } from "../../../../support/runtime/own-timers";

/** A request whose body is as long as this, in chunks of 100,000 bytes; Infinity: it never ends. */
function posted(bytes: number): { request: Request; sent: () => number } {
  let left = bytes;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left <= 0) return controller.close();
      const size = Math.min(left, 100_000);
      left -= size;
      sent += size;
      controller.enqueue(new Uint8Array(size));
    },
  });
  return { request: new Request("http://h/", { method: "POST", body, duplex: "half" } as RequestInit), sent: () => sent };
}

/** A request whose body comes when it is told to. */
function piecewise(): { request: Request; send: () => void; end: () => void } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (its) => void (controller = its) });
  return {
    request: new Request("http://h/", { method: "POST", body, duplex: "half" } as RequestInit),
    send: () => controller?.enqueue(new Uint8Array(10)),
    end: () => controller?.close(),
  };
}

let timers: () => number;
beforeEach(() => void (timers = fakeTimersOf("src/worker/http/read")));
afterEach(() => void vi.useRealTimers());

describe("drainUnread", () => {
  it("an unread body: is read to its end", async () => {
    const { request, sent } = posted(4_000_000);
    await drainUnread(request);
    expect([sent(), request.bodyUsed, timers()]).toEqual([4_000_000, true, 0]);
  });

  it("a body without end: is read to the bound", async () => {
    const { request, sent } = posted(Infinity);
    await drainUnread(request);
    expect(sent()).toBeGreaterThan(DRAINED_MAX_BYTES);
    expect(sent()).toBeLessThan(1.1 * DRAINED_MAX_BYTES);
  });

  it("a body that does not come: is waited for until the silence is too long", async () => {
    let drained = false;
    const request = new Request("http://h/", { method: "POST", body: new ReadableStream(), duplex: "half" } as RequestInit);
    void drainUnread(request).then(() => (drained = true));
    await vi.advanceTimersByTimeAsync(DRAIN_SILENCE_MS - 1);
    expect(drained).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(drained).toBe(true);
  });

  it("a body that comes in pieces, with shorter silences: is read to its end", async () => {
    let drained = false;
    const { request, send, end } = piecewise();
    void drainUnread(request).then(() => (drained = true));
    for (let piece = 0; piece < 4; piece++) {
      await vi.advanceTimersByTimeAsync(DRAIN_SILENCE_MS - 1);
      send();
    }
    expect(drained).toBe(false);
    end();
    await vi.advanceTimersByTimeAsync(0);
    expect([drained, timers()]).toEqual([true, 0]);
  });

  it("a body that goes on: is read for as long as the bound says", async () => {
    let drained = false;
    const { request, send } = piecewise();
    void drainUnread(request).then(() => (drained = true));
    for (let ms = 0; ms < DRAIN_MS; ms += 100) {
      expect(drained).toBe(false);
      send();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(drained).toBe(true);
  });

  it("a body that breaks off: ends the drain without an error", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
    await drainUnread(new Request("http://h/", { method: "POST", body, duplex: "half" } as RequestInit));
    expect(timers()).toBe(0);
  });

  it("a body that was read, and no body: no wait", async () => {
    const { request } = posted(10);
    await request.arrayBuffer();
    await drainUnread(request);
    await drainUnread(new Request("http://h/"));
    expect(timers()).toBe(0);
  });
});
