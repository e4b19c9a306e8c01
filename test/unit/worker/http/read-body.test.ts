import { describe, expect, it, vi } from "vitest";
import { type BodyRequest, readBody } from "../../../../src/worker/http/read-body";
import { BODY_MAX_BYTES, BODY_TIMEOUT_MS } from "../../../../src/worker/http/limits";

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

  const posted = (init: RequestInit, grow: BodyRequest["place"]["grow"] = () => true): BodyRequest => ({
    request: new Request("http://h/", { method: "POST", ...init }),
    place: { grow },
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

  it("a body for which there is no room: 429, and the rest is read and dropped", async () => {
    let sent = 0;
    const init = inChunks(new Uint8Array(1_000_000), 1_000, () => sent++);
    expect(await readBody(posted(init, (weight) => weight < 3))).toMatchObject({
      ok: false,
      error: { code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } },
    });
    expect(sent).toBeGreaterThanOrEqual(1_000);
  });

  it.each([
    { what: "of a known length", headers: { "Content-Length": "100" } },
    { what: "of unknown length", headers: {} },
  ])("a body $what that stops coming is a 504 when the request's time is over, a minute at most", async ({ headers }) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
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
        await vi.advanceTimersByTimeAsync(afterMs - 1);
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
        expect([cancelled, vi.getTimerCount()]).toEqual([!("Content-Length" in headers), 0]);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it("a body in time: leaves no timer behind", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      expect(await readBody(posted(inChunks(new Uint8Array(5_000), 1_000)))).toMatchObject({ ok: true });
      expect(await readBody(posted({ body: new Uint8Array(5), headers: { "Content-Length": "5" } }))).toMatchObject({ ok: true });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("no body: empty bytes", async () => {
    const empty = await readBody(posted({ method: "DELETE" }));
    expect(empty.ok && empty.value.length).toBe(0);
  });
});
