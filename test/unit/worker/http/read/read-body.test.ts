import { afterEach, describe, expect, it, vi } from "vitest";
import { FairQueue, type HeldSeats } from "../../../../../src/access/fairness/fair-queue";
import { RESTING_MAX } from "../../../../../src/access/fairness/queue-limits";
import { type BodyRequest, readBody, readText } from "../../../../../src/worker/http/read/read-body";
import {
  BODY_BYTES_PER_REQUEST,
  BODY_MAX_BYTES,
  BODY_REST_MS,
  BODY_TIMEOUT_MS,
  DRAIN_SILENCE_MS,
} from "../../../../../src/worker/http/limits";
import { fakeTimersOf } from "../../../../support/runtime/own-timers";

/** A body of unknown length; `onPull` hears of each chunk that is asked for. */
function inChunks(bytes: Uint8Array, length: number, onPull: () => void = () => undefined): RequestInit {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      onPull();
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += length)));
    },
  });
  return { body, duplex: "half" } as RequestInit;
}

describe("readBody", () => {
  const over = { ok: false, error: { code: 413, message: "Request entity too large: limit is 3145728" } };

  const posted = (init: RequestInit, grow: HeldSeats["grow"] = () => true, end: HeldSeats["end"] = () => undefined): BodyRequest => ({
    request: new Request("http://h/", { method: "POST", ...init }),
    place: { rest: () => true, grow, end },
  });

  it("a body of exactly the limit: read; one byte more: 413", async () => {
    const fits = await readBody(posted({ body: new Uint8Array(BODY_MAX_BYTES) }));
    expect(fits.ok && fits.value.length).toBe(BODY_MAX_BYTES);
    expect(await readBody(posted({ body: new Uint8Array(BODY_MAX_BYTES + 1) }))).toMatchObject(over);
  });

  it("an announced length above the limit: 413", async () => {
    const request = posted({ body: "{}", headers: { "Content-Length": String(BODY_MAX_BYTES + 1) } });
    expect(await readBody(request)).toMatchObject(over);
  });

  it("a body of unknown length: read as it came, its weight taken before its bytes are held", async () => {
    const whole = Uint8Array.from({ length: 200_000 }, (_, i) => i % 251);
    const weights: number[] = [];
    const read = await readBody(posted(inChunks(whole, 7_001), (weight) => weights.push(weight) > 0));
    expect(read.ok && Buffer.from(read.value).equals(whole)).toBe(true);
    expect([...new Set(weights)]).toEqual([1, 2, 3, 4]);
  });

  it.each([
    { what: "for which there is no room", code: 429, bytes: 1_000_000, places: 3 },
    { what: "above the limit", code: 413, bytes: BODY_MAX_BYTES + 1_000_000, places: 1_000 },
  ])("a body $what: $code, its place is free before the rest is read, and the rest is dropped", async ({ code, bytes, places }) => {
    const seats = new FairQueue({ now: () => 0, after: () => () => undefined }, 1_000);
    const one = { kind: "writes", cluster: "", user: "", seats: 1, max: 0, least: 0, waitMs: 0, isExempt: true } as const;
    const place = await seats.begin(one);
    let sent = 0;
    const taken: number[] = [];
    const init = inChunks(new Uint8Array(bytes), 10_000, () => {
      sent++;
      taken.push(seats.counts("writes").taken);
    });
    const grow: HeldSeats["grow"] = (weight, nowMs) => weight < places && place?.grow(weight, nowMs) === true;
    const read = await readBody(posted(init, grow, () => place?.end()));
    expect(read).toMatchObject({ ok: false, error: { code } });
    expect(sent).toBeGreaterThanOrEqual(bytes / 10_000);
    expect([taken.some((weight) => weight > 1), taken.at(-1), seats.counts("writes").taken]).toEqual([true, 0, 0]);
  });

  it.each([
    { what: "of a known length", headers: { "Content-Length": "130000" } },
    { what: "of unknown length", headers: {} },
  ])("a body $what that is late, and comes after all: 504, its place is free at once, and its rest is dropped", async ({ headers }) => {
    const timers = fakeTimersOf("src/worker/http/read");
    try {
      let [ended, drained] = [false, false];
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          controller.enqueue(new Uint8Array(10_000));
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          if (!ended) return;
          controller.enqueue(new Uint8Array(120_000));
          controller.close();
          drained = true;
        },
      });
      const late = posted(
        { body, headers, duplex: "half" } as RequestInit,
        () => !ended,
        () => (ended = true),
      );
      let code = 0;
      void readBody({ ...late, timeoutMs: 500 }).then((read) => (code = read.ok ? 200 : read.error.code));
      await vi.advanceTimersByTimeAsync(500);
      expect([ended, drained, code]).toEqual([true, false, 0]);
      await vi.advanceTimersByTimeAsync(500);
      expect([drained, code, timers()]).toEqual([true, 504, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("a small body that is late: its place is taken until the request ends, because it is kept whole", async () => {
    const timers = fakeTimersOf("src/worker/http/read");
    try {
      let [ended, code] = [false, 0];
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          controller.enqueue(new Uint8Array(BODY_BYTES_PER_REQUEST));
          controller.close();
        },
      });
      const headers = { "Content-Length": String(BODY_BYTES_PER_REQUEST) };
      const late = posted({ body, headers, duplex: "half" } as RequestInit, undefined, () => (ended = true));
      void readBody({ ...late, timeoutMs: 500 }).then((read) => (code = read.ok ? 200 : read.error.code));
      await vi.advanceTimersByTimeAsync(999);
      expect([code, ended]).toEqual([0, false]);
      await vi.advanceTimersByTimeAsync(1);
      expect([code, ended, timers()]).toEqual([504, false, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([1, BODY_BYTES_PER_REQUEST, BODY_BYTES_PER_REQUEST + 1, BODY_MAX_BYTES])(
    "a body of %d announced bytes: read as it came",
    async (length) => {
      const whole = Uint8Array.from({ length }, (_, i) => i % 251);
      const headers = { "Content-Length": String(length) };
      const read = await readBody(posted({ ...inChunks(whole, 70_001), headers }));
      expect(read.ok && Buffer.from(read.value).equals(whole)).toBe(true);
    },
  );

  it.each([
    { what: "of a small known length", headers: { "Content-Length": "100" }, isCancelled: false },
    { what: "of a large known length", headers: { "Content-Length": "100000" }, isCancelled: true },
    { what: "of unknown length", headers: {}, isCancelled: true },
  ])(
    "a body $what that stops coming: 504 after the request's time, a minute at most, and the time of a drain",
    async ({ headers, isCancelled }) => {
      const timers = fakeTimersOf("src/worker/http/read");
      try {
        for (const [timeoutMs, afterMs] of [
          [undefined, BODY_TIMEOUT_MS],
          [0, BODY_TIMEOUT_MS],
          [2_000, 2_000],
          [10 * BODY_TIMEOUT_MS, BODY_TIMEOUT_MS],
        ] as const) {
          let cancelled = false;
          const body = new ReadableStream<Uint8Array>({
            start: (controller) => controller.enqueue(new Uint8Array(10)),
            cancel: () => void (cancelled = true),
          });
          const stalled = posted({ body, headers, duplex: "half" } as RequestInit);
          let read: Awaited<ReturnType<typeof readBody>> | undefined;
          void readBody({ ...stalled, ...(timeoutMs === undefined ? {} : { timeoutMs }) }).then((result) => (read = result));
          await vi.advanceTimersByTimeAsync(afterMs + DRAIN_SILENCE_MS - 1);
          expect(read).toBeUndefined();
          await vi.advanceTimersByTimeAsync(1);
          expect(read).toEqual({
            ok: false,
            error: {
              kind: "Status",
              apiVersion: "v1",
              metadata: {},
              status: "Failure",
              message: "Timeout: request did not complete within the allotted timeout",
              reason: "Timeout",
              details: {},
              code: 504,
            },
          });
          expect([cancelled, timers()]).toEqual([isCancelled, 0]);
        }
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it("a body in time: leaves no timer behind", async () => {
    const timers = fakeTimersOf("src/worker/http/read");
    try {
      expect(await readBody(posted(inChunks(new Uint8Array(5_000), 1_000)))).toMatchObject({ ok: true });
      expect(await readBody(posted({ body: new Uint8Array(5), headers: { "Content-Length": "5" } }))).toMatchObject({ ok: true });
      expect(timers()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  describe("a body that stops coming", () => {
    const stalled = (
      bytes: number,
      announced: number | undefined,
      place: HeldSeats,
    ): { request: BodyRequest; goOn(more: number): void } => {
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller;
          controller.enqueue(new Uint8Array(bytes));
        },
      });
      const headers: Record<string, string> = announced === undefined ? {} : { "Content-Length": String(announced) };
      const { request } = posted({ body, headers, duplex: "half" } as RequestInit);
      return {
        request: { request, place },
        goOn(more) {
          stream?.enqueue(new Uint8Array(more));
          stream?.close();
        },
      };
    };
    const wanted = { kind: "writes", cluster: "a", user: "u", seats: 1, max: 100, least: 4, waitMs: 0, isExempt: false } as const;
    const setting = () => {
      const timers = fakeTimersOf("src/worker/http/read");
      const seats = new FairQueue({ now: () => Date.now(), after: () => () => undefined }, 1_000_000);
      const begin = (): HeldSeats => {
        const place = seats.begin(wanted);
        if (!place || place instanceof Promise) throw new Error("it does not begin at once");
        return place;
      };
      return { begin, taken: () => seats.counts("writes").taken, timers };
    };
    afterEach(() => vi.useRealTimers());

    it.each<[string, number, number | undefined, number]>([
      ["of a small announced length", 1, 60_000, 0],
      ["of a large announced length", 1, 3_000_000, 0],
      ["of unknown length", 1, undefined, 0],
      ["of which 200,000 bytes came", 200_000, 3_000_000, 3],
    ])("%s: holds the seats of what came but one, and is read when it comes on", async (_, bytes, announced, held) => {
      const { begin, taken, timers } = setting();
      const { request, goOn } = stalled(bytes, announced, begin());
      const read = readBody(request);
      await vi.advanceTimersByTimeAsync(2 * BODY_REST_MS);
      expect(taken()).toBe(held);
      expect(timers()).toBeGreaterThanOrEqual(1);
      goOn(10);
      expect(await read).toMatchObject({ ok: true, value: { length: bytes + 10 } });
      expect(taken()).toBeGreaterThanOrEqual(1);
      request.place.end();
      expect([taken(), timers()]).toEqual([0, 0]);
    });

    it.each([60_000, 3_000_000])("of %d bytes, beyond the number of one user: 429 after the time of a drain", async (announced) => {
      const { begin } = setting();
      const codes: number[] = [];
      for (let i = 0; i <= RESTING_MAX; i++) {
        void readBody(stalled(1, announced, begin()).request).then((read) => codes.push(read.ok ? 200 : read.error.code));
      }
      await vi.advanceTimersByTimeAsync(2 * BODY_REST_MS + DRAIN_SILENCE_MS);
      expect(codes).toEqual([429]);
      await vi.advanceTimersByTimeAsync(BODY_TIMEOUT_MS);
      expect(codes).toEqual([429, ...Array<number>(RESTING_MAX).fill(504)]);
    });
  });

  it("no body: empty bytes", async () => {
    const empty = await readBody(posted({ method: "DELETE" }));
    expect(empty.ok && empty.value.length).toBe(0);
  });
});

describe("readText", () => {
  const place: HeldSeats = { rest: () => true, grow: () => true, end: () => undefined };
  const textOf = (body: BodyInit, headers: Record<string, string> = {}) =>
    readText({ request: new Request("http://h/", { method: "PATCH", body, headers }), place });

  it("UTF-8: the text", async () => {
    expect(await textOf("ä")).toEqual({ ok: true, value: "ä" });
  });

  it("other bytes: 400", async () => {
    expect(await textOf(new Uint8Array([0x22, 0xff, 0x22]))).toMatchObject({
      ok: false,
      error: { code: 400, message: expect.stringMatching(/^error decoding patch: /) as string },
    });
  });

  it("a body that is too large: 413", async () => {
    expect(await textOf("{}", { "Content-Length": String(BODY_MAX_BYTES + 1) })).toMatchObject({ ok: false, error: { code: 413 } });
  });
});
