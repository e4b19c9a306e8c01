import { beforeEach, describe, expect, it, vi } from "vitest";
import { CRON_CLUSTERS_MAX } from "../../../src/worker/limits";
import { runScheduled } from "../../../src/worker/scheduled";
import { type FakeEnv, fakeEnv } from "./fake-env";

const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
beforeEach(() => {
  log.mockClear();
  warn.mockClear();
});

function withClusters(fake: FakeEnv, ...names: string[]): FakeEnv {
  for (const name of names) fake.directory.set(`cluster/${name}`, "");
  return fake;
}

function called({ calls }: FakeEnv): string[] {
  return calls.map(({ object, method }) => `${object} ${method}`);
}

describe("runScheduled", () => {
  it("every minute: each cluster's stores that may have something left to do", async () => {
    const fake = withClusters(fakeEnv(), "a", "b");
    await runScheduled("* * * * *", fake.env);
    expect(called(fake).sort()).toEqual(
      ["a", "b"]
        .flatMap((cluster) => [
          `CONTROLLER ${cluster}/controllers/garbage-collection poke`,
          `CONTROLLER ${cluster}/controllers/namespaces poke`,
          `CONTROLLER ${cluster}/controllers/repair poke`,
          `COORDINATOR ${cluster}/coordinator maintain`,
          `IP_ADDRESSES_STORE ${cluster}/ipaddresses.networking.k8s.io maintain`,
          `SERVICES_STORE ${cluster}/services maintain`,
        ])
        .sort(),
    );
    expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toMatchObject({
      event: "cron job finished",
      job: "maintain",
      clusters: 2,
      errors: 0,
    });
  });

  it("every five minutes: the Coordinator", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("*/5 * * * *", fake.env);
    expect(called(fake)).toEqual(["COORDINATOR a/coordinator maintain"]);
  });

  it("hourly: events expire, every store is compacted once", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("0 * * * *", fake.env);
    const calls = called(fake);
    expect(calls[0]).toBe("RESOURCE_STORE a/events expire");
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls).toContain("SERVICES_STORE a/services compact");
    expect(calls).toContain("RESOURCE_STORE a/events compact");
    expect(calls).toContain("COORDINATOR a/coordinator compact");
    expect(calls.some((call) => call.includes("events.k8s.io"))).toBe(false);
  });

  it("goes on where it stopped, and starts over at the end", async () => {
    const names = Array.from({ length: CRON_CLUSTERS_MAX + 5 }, (_, i) => `c${String(i).padStart(3, "0")}`);
    const fake = withClusters(fakeEnv(), ...names);
    await runScheduled("*/5 * * * *", fake.env);
    expect(fake.calls).toHaveLength(CRON_CLUSTERS_MAX);
    await runScheduled("*/5 * * * *", fake.env);
    expect(new Set(called(fake)).size).toBe(names.length);
    await runScheduled("*/5 * * * *", fake.env);
    expect(fake.calls).toHaveLength(names.length + CRON_CLUSTERS_MAX);
  });

  it("a failed task stops no other", async () => {
    const failing = {
      other: (_: string, object: string) => (object.startsWith("SERVICES") ? Promise.reject(new Error("no")) : undefined),
    };
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fake = withClusters(fakeEnv(failing), "a", "b");
    await runScheduled("* * * * *", fake.env);
    expect(fake.calls).toHaveLength(12);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ job: "maintain", errors: 2 });
    expect(error).toHaveBeenCalledTimes(2);
  });

  it("a directory that cannot be read is an error of the job, and its cursor is dropped", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const fake = withClusters(fakeEnv(), "a");
    fake.directory.set("cron/cursor/* * * * *", "lost");
    fake.env.DIRECTORY.list = () => Promise.reject(new Error("bad cursor"));
    await runScheduled("* * * * *", fake.env);
    expect(fake.directory.has("cron/cursor/* * * * *")).toBe(false);
    expect(JSON.parse(String(warn.mock.calls.at(-1)?.[0]))).toMatchObject({ clusters: 0, errors: 1 });
  });

  it("an unknown cron does nothing", async () => {
    const fake = withClusters(fakeEnv(), "a");
    await runScheduled("1 2 3 4 5", fake.env);
    expect(fake.calls).toEqual([]);
  });
});
