/** The lines of the log: what each has besides its event. */
import { env, withEnv } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import { log } from "../../../../src/worker/http/log";

const line = (): unknown => {
  const print = vi.spyOn(console, "log").mockReturnValue(undefined);
  log("info", "something", { cluster: "a" });
  return JSON.parse(String(print.mock.lastCall?.[0]));
};

afterEach(() => void vi.restoreAllMocks());

it("a deployment: the version that writes the line", () => {
  const { CF_VERSION_METADATA: metadata } = env as unknown as Env;
  expect(metadata?.id).toMatch(/./);
  expect(line()).toEqual({
    time: expect.any(String),
    level: "info",
    event: "something",
    version: metadata?.id,
    object: "Worker",
    cluster: "a",
  });
});

it("a server without versions, as a local one: no member", () => {
  const { CF_VERSION_METADATA: _, ...others } = env as unknown as Env;
  expect(withEnv(others, line)).toEqual({ time: expect.any(String), level: "info", event: "something", object: "Worker", cluster: "a" });
});
