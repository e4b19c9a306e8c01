import { describe, expect, it } from "vitest";
import { COMPRESSIBLE_HEADER } from "../../../../../src/api/store/list/collection-header";
import { compressed } from "../../../../../src/worker/http/answer/compress";

const large = (): Response => new Response("{}", { headers: { [COMPRESSIBLE_HEADER]: "1", "Content-Type": "application/json" } });

describe("compressed", () => {
  it.each([
    ["gzip", "gzip"],
    ["deflate, GZIP;q=0.5", "gzip"],
    ["br,gzip", "gzip"],
    ["gzip;q=0", null],
    ["gzip; q=0.0", null],
    ["br", null],
    ["*", null],
    [null, null],
  ])("Accept-Encoding %s: Content-Encoding %s", (accepted, encoding) => {
    const response = compressed(large(), accepted);
    expect(response.headers.get("Content-Encoding")).toBe(encoding);
    expect(response.headers.get("Vary")).toBe(encoding === null ? null : "Accept-Encoding");
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.has(COMPRESSIBLE_HEADER)).toBe(false);
  });

  it("an answer without the store's mark: unchanged", () => {
    const response = new Response("{}");
    expect(compressed(response, "gzip")).toBe(response);
  });
});
