import { describe, expect, it } from "vitest";
import { RENDER_MAX_BYTES } from "../../../../../src/worker/http/limits";
import { rerendered } from "../../../../../src/worker/http/answer/rerender";

describe("rerendered", () => {
  it("a list in another form: keeps code and headers", async () => {
    const store = new Response('{"items":[]}', { status: 200, headers: { "Content-Type": "application/json", "X-Kept": "yes" } });
    const pretty = await rerendered(store, "pretty");
    expect(await pretty.text()).toBe('{\n  "items": []\n}\n');
    expect(pretty.headers.get("X-Kept")).toBe("yes");
  });

  describe("a list that is too large for another form", () => {
    const PIECE = 64 * 1024;
    const encoder = new TextEncoder();

    /** A list of at least this many bytes, in pieces; `asked` hears of each that is asked for, `left` of its end before its time. */
    function streamed(bytes: number, asked: () => void = () => undefined, left: (reason: unknown) => void = () => undefined): Response {
      const item = `"${"x".repeat(PIECE)}"`;
      let rows = Math.ceil(bytes / PIECE);
      const body = new ReadableStream<Uint8Array>(
        {
          start: (controller) => controller.enqueue(encoder.encode('{"items":[')),
          pull(controller) {
            asked();
            controller.enqueue(encoder.encode(rows-- > 0 ? `${item},` : "0]}"));
            if (rows < 0) controller.close();
          },
          cancel: left,
        },
        { highWaterMark: 0 },
      );
      return new Response(body, { headers: { "Content-Type": "application/json", "Content-Length": "7" } });
    }

    it.each(["pretty", "yaml"] as const)("%s: stays compact, and no more than the limit is held", async (rendering) => {
      let pieces = 0;
      const max = RENDER_MAX_BYTES[rendering];
      const answer = await rerendered(
        streamed(4 * max, () => pieces++),
        rendering,
      );
      expect(pieces * PIECE).toBeLessThan(max + 4 * PIECE);
      const text = await answer.text();
      expect(text).toBe(await streamed(4 * max).text());
      // JSON is YAML, too.
      expect(answer.headers.get("Content-Type")).toBe(rendering === "yaml" ? "application/yaml" : "application/json");
      expect(answer.headers.has("Content-Length")).toBe(false);
    });

    it("a list that just fits: the asked form", async () => {
      expect(await (await rerendered(streamed(RENDER_MAX_BYTES.pretty - 2 * PIECE), "pretty")).text()).toMatch(
        /^{\n {2}"items": \[\n {4}"xxx/,
      );
    });

    it("a client that leaves: the store's stream ends", async () => {
      const left: unknown[] = [];
      const answer = await rerendered(
        streamed(
          2 * RENDER_MAX_BYTES.yaml,
          () => undefined,
          (reason) => left.push(reason),
        ),
        "yaml",
      );
      await answer.body?.cancel("gone");
      expect(left).toEqual(["gone"]);
    });
  });

  it("compact: unchanged", async () => {
    const store = new Response("{}", { headers: { "Content-Type": "application/json" } });
    expect(await rerendered(store, "compact")).toBe(store);
  });
});
