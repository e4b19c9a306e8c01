import { describe, expect, it, vi } from "vitest";
import { get } from "../client";
import type { Answers } from "../fake-env";

describe("health", () => {
  it.each(["/healthz", "/livez", "/readyz", "/livez/ping"])("%s: ok", async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(await response.text()).toBe("ok");
  });

  it("verbose: names the checks; exclude: leaves one out; unknown check: 404", async () => {
    expect(await (await get("/readyz?verbose")).text()).toBe("[+]ping ok\n[+]config ok\n[+]coordinator ok\nreadyz check passed\n");
    expect(await (await get("/readyz?verbose&exclude=coordinator")).text()).toContain("[+]coordinator excluded: ok\n");
    expect((await get("/livez/coordinator")).status).toBe(404);
  });

  it("an unreachable Coordinator: live, not ready, no reason in the answer", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const answers: Answers = { other: () => Promise.reject(new Error("secret")) };
    expect((await get("/livez", {}, answers)).status).toBe(200);
    const response = await get("/readyz", {}, answers);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).toBe("[+]ping ok\n[+]config ok\n[-]coordinator failed: reason withheld\nreadyz check failed\n");
  });
});
