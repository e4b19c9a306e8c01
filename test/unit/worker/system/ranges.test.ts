import { describe, expect, it, vi } from "vitest";
import { get } from "../client";
import type { Answers } from "../fake-env";

const READING = {
  revision: 12,
  epoch: 3,
  sources: [
    { cidrs: ["10.96.0.0/24", "fd00::/112"], ready: true },
    { cidrs: ["10.96.1.0/24"], ready: false },
  ],
  claims: ["10.96.0.0/24", "10.97.0.0/16", "fd00::/112"],
};
const answers: Answers = {
  other: (method, object) => (method === "ranges" && object === "COORDINATOR east/coordinator" ? READING : undefined),
};

describe("/ranges", () => {
  it.each(["/clusters/east/ranges", "/clusters/east/ranges/", "/clusters/east/ranges?timeout=30s"])(
    "%s: the ranges as JSON",
    async (path) => {
      const response = await get(path, {}, answers);
      expect(response.status).toBe(200);
      expect(response.headers.get("Content-Type")).toBe("application/json");
      expect(await response.json()).toEqual({
        resourceVersion: "12",
        epoch: 3,
        ready: {
          IPv4: { prefixes: ["10.96.0.0/24"], zones: ["0.96.10.in-addr.arpa"] },
          IPv6: { prefixes: ["fd00::/112"], zones: [`${"0.".repeat(24)}0.0.d.f.ip6.arpa`] },
        },
        serving: {
          IPv4: {
            prefixes: ["10.96.0.0/23", "10.97.0.0/16"],
            zones: ["0.96.10.in-addr.arpa", "1.96.10.in-addr.arpa", "97.10.in-addr.arpa"],
          },
          IPv6: { prefixes: ["fd00::/112"], zones: [`${"0.".repeat(24)}0.0.d.f.ip6.arpa`] },
        },
        orphaned: ["10.97.0.0/16"],
      });
    },
  );

  it("YAML and pretty JSON: for clients that ask", async () => {
    expect(await (await get("/clusters/east/ranges", { Accept: "application/yaml" }, answers)).text()).toMatch(/^resourceVersion: "12"\n/);
    expect(await (await get("/clusters/east/ranges?pretty=1", {}, answers)).text()).toMatch(/^\{\n {2}"resourceVersion": "12",\n/);
  });

  it.each([
    ["a form that does not exist", { Accept: "text/html" }, answers, 406, "NotAcceptable"],
    ["no answer of the Coordinator", {}, { other: () => Promise.reject(new Error("Network connection lost.")) }, 503, "ServiceUnavailable"],
  ])("%s: a Status", async (_, headers, broken, code, reason) => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const response = await get("/clusters/east/ranges", headers as Record<string, string>, broken);
    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject({ kind: "Status", reason, code });
  });
});
