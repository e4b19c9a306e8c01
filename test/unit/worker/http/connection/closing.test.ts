import { describe, expect, it } from "vitest";
import { closing, CLOSING, wantsClose } from "../../../../../src/worker/http/connection/closing";

it.each<[string, Record<string, string>, boolean]>([
  ["/version", { Host: "a", Connection: "close" }, true],
  ["/version", { Host: "a", Connection: "TE, Close" }, true],
  ["/version", {}, true],
  ["/version", { Host: "a" }, false],
  ["/version", { Connection: "keep-alive" }, false],
  ["/version", { Host: "a", Connection: "closed" }, false],
  ["/api/v1/pods?watch=true", { Host: "a", Connection: "close" }, false],
  ["/api/v1/watch/pods", { Host: "a", Connection: "close" }, false],
])("wantsClose of %s with %j: %s", (url, headers, want) => {
  expect(wantsClose({ url, headers: new Headers(headers) } as Request)).toBe(want);
});

describe("closing", () => {
  /** The text of the body, and the error behind it. */
  async function read(response: Response): Promise<[text: string, error: string]> {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = "";
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return [text, ""];
        text += decoder.decode(value, { stream: true });
      }
    } catch (error) {
      return [text, error instanceof Error ? error.message : String(error)];
    }
  }

  it("an answer: the same status, headers and bytes, and the error behind them", async () => {
    const answer = await closing(Promise.resolve(new Response("abc", { status: 201, headers: { A: "b" } })));
    expect([answer.status, answer.headers.get("A")]).toEqual([201, "b"]);
    expect(await read(answer)).toEqual(["abc", CLOSING]);
  });

  it("a stream: read as a whole first", async () => {
    const parts = ["a", "b", "c"].map((part) => new TextEncoder().encode(part));
    const stream = new ReadableStream({
      pull(controller) {
        const next = parts.shift();
        if (next) controller.enqueue(next);
        else controller.close();
      },
    });
    expect(await read(await closing(new Response(stream)))).toEqual(["abc", CLOSING]);
  });

  it("a long answer: every byte, and no error", async () => {
    const text = "x".repeat(5_000_000);
    expect(await read(await closing(new Response(text)))).toEqual([text, ""]);
  });

  it("an answer without a body: untouched", async () => {
    const answer = new Response(null, { status: 304 });
    expect(await closing(answer)).toBe(answer);
  });

  it("an answer to be compressed: sent as it is, so that the connection can close", async () => {
    const answer = await closing(new Response("abc", { headers: { "Content-Encoding": "gzip", Vary: "Accept-Encoding" } }));
    expect([answer.headers.get("Content-Encoding"), answer.headers.get("Vary")]).toEqual([null, "Accept-Encoding"]);
    expect(await read(answer)).toEqual(["abc", CLOSING]);
  });

  it("a long answer to be compressed: still compressed", async () => {
    const answer = await closing(new Response("x".repeat(5_000_000), { headers: { "Content-Encoding": "gzip" } }));
    expect(answer.headers.get("Content-Encoding")).toBe("gzip");
    await answer.body?.cancel();
  });

  it.each([0, 5_000_000])("a body that breaks after %d bytes and a few: passed on up to there, and breaks", async (length) => {
    const parts = ["x".repeat(length), "abc"].map((part) => new TextEncoder().encode(part));
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = parts.shift();
        if (next) controller.enqueue(next);
        else controller.error(new Error("the store is gone"));
      },
    });
    expect(await read(await closing(new Response(stream)))).toEqual([`${"x".repeat(length)}abc`, "the store is gone"]);
  });
});
