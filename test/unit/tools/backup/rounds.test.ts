/** Rounds through all clusters: who is backed up when, and what a refusal, a silence and a second run change. */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { type RoundCounts, type RoundOptions, runRound } from "../../../../src/tools/backup/rounds";
import { MemoryBucket } from "../../../support/memory/backup-bucket";

const HOUR_MS = 3_600_000;
const BEGAN = Date.UTC(2026, 10, 30);
const OPTIONS: RoundOptions = { intervalMs: 24 * HOUR_MS, kept: 2, runMs: 10_000, pagesMax: 1_000, serverVersion: "v1" };
const TYPE = { group: "", version: "v1", resource: "configmaps", kind: "ConfigMap", namespaced: true, hasStatus: false };
const SERVICES = { ...TYPE, resource: "services", kind: "Service" };
const ADDRESSES = { ...TYPE, group: "networking.k8s.io", resource: "ipaddresses", kind: "IPAddress" };
const SERVICE = {
  metadata: { name: "web", namespace: "default" },
  spec: { clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7"] },
} as KubeObject;
/** Of somebody else, for the address of the Service. */
const ADDRESS = {
  metadata: { name: "10.96.0.7" },
  spec: { parentRef: { resource: "gateways", namespace: "default", name: "g" } },
} as KubeObject;

let bucket: MemoryBucket;
let nowMs: number;
/** in pages of two */
let clusters: string[];
/** clusters that do not answer */
let silent: Set<string>;
/** in ms, of each page */
let pageMs: number;
let read: string[];
let lines: string[];
let listFails: number;
/** clusters of which runs die: they never end */
let deadly: Set<string>;
/** Services and IPAddresses contradict each other. */
let contradicts: boolean;

beforeEach(() => {
  bucket = new MemoryBucket();
  nowMs = BEGAN + HOUR_MS;
  clusters = ["a", "b", "c"];
  silent = new Set();
  pageMs = 0;
  read = [];
  lines = [];
  listFails = 0;
  deadly = new Set();
  contradicts = false;
});

function run(more: Partial<RoundOptions> = {}): Promise<RoundCounts> {
  return runRound(
    {
      bucket: bucket.port,
      clusters: (cursor) => {
        if (listFails-- > 0) return Promise.reject(new Error("no list"));
        const from = Number(cursor);
        return Promise.resolve({
          ids: clusters.slice(from, from + 2),
          cursor: from + 2 < clusters.length ? String(from + 2) : undefined,
        });
      },
      nameOf: (id) => id.replace(/~.*/, ""),
      source: (id) => ({
        types: contradicts ? [SERVICES, ADDRESSES] : [TYPE],
        page: (type, token) => {
          nowMs += pageMs;
          read.push(`${id}${token}`);
          if (deadly.has(id)) return new Promise(() => died());
          if (silent.has(id)) return Promise.reject(new Error("no answer"));
          if (type === SERVICES) return Promise.resolve({ objects: [SERVICE], resourceVersion: "7", next: "" });
          if (type === ADDRESSES) return Promise.resolve({ objects: [ADDRESS], resourceVersion: "7", next: "" });
          const object: KubeObject = { metadata: { name: `of-${id}` } };
          return Promise.resolve({ objects: [object], resourceVersion: "7", next: token === "" ? "1" : "" });
        },
        newestRevision: () => Promise.resolve("7"),
      }),
      clock: { now: () => nowMs },
      digest: (bytes) => Promise.resolve(createHash("sha256").update(bytes).digest("hex")),
      recorder: { log: (level, event) => void lines.push(`${level} ${event}`) },
    },
    { ...OPTIONS, ...more },
  );
}

let died: () => void = () => undefined;

/** A run that may die. */
async function lethal(more: Partial<RoundOptions> = {}): Promise<RoundCounts | "dead"> {
  const dead = new Promise<"dead">((resolve) => (died = () => resolve("dead")));
  return await Promise.race([run(more), dead]);
}

const files = (): string[] => [...bucket.files.keys()];

it("each cluster once in an interval, and the newest files are kept", async () => {
  expect(await run()).toEqual({ backedUp: 3, failed: 0, refused: 0 });
  expect(files()).toEqual(["a", "b", "c"].map((id) => `${id}/2026-11-30T00-00Z.jsonl`));
  nowMs = BEGAN + 24 * HOUR_MS - 1;
  expect(await run()).toEqual({ backedUp: 0, failed: 0, refused: 0 });
  expect(read).toHaveLength(6);
  for (let day = 1; day < 4; day++) {
    nowMs = BEGAN + day * 24 * HOUR_MS;
    expect(await run()).toMatchObject({ backedUp: 3 });
  }
  expect(files().filter((key) => key.startsWith("a/"))).toEqual(["a/2026-12-02T00-00Z.jsonl", "a/2026-12-03T00-00Z.jsonl"]);
});

it("a later life of a name: its files stand beside those of the life before, and count with them", async () => {
  clusters = ["a"];
  await run();
  clusters = ["a~2000000001"];
  for (let day = 1; day < 3; day++) {
    nowMs = BEGAN + day * 24 * HOUR_MS;
    await run();
  }
  expect(files()).toEqual(["a/2026-12-01T00-00Z.jsonl", "a/2026-12-02T00-00Z.jsonl"]);
});

it.each<[string, number, Partial<RoundOptions>]>([
  ["time", 4_000, {}],
  ["pages", 0, { pagesMax: 3 }],
])("a run that has no %s left: the next one goes on in the same cluster, and reads no page twice", async (_, slow, options) => {
  pageMs = slow;
  for (let runs = 0; runs < 2; runs++) await run(options);
  expect(read).toEqual(["a", "a1", "b", "b1", "c", "c1"]);
  expect(files()).toHaveLength(3);
});

describe("a bucket that refuses", () => {
  it("everything: each run counts it and ends; then the round begins", async () => {
    bucket.refuses = true;
    for (let runs = 0; runs < 3; runs++) expect(await run()).toEqual({ backedUp: 0, failed: 0, refused: 1 });
    expect(read).toEqual([]);
    expect(lines).toEqual(Array(3).fill("error backups could not go on"));
    bucket.refuses = false;
    expect(await run()).toMatchObject({ backedUp: 3 });
  });

  it.each(["before", "after"] as const)("any one call, %s its effect: a later run has all files, and none comes twice", async (when) => {
    await run();
    const { calls } = bucket;
    for (let at = 1; at <= calls; at++) {
      bucket = new MemoryBucket();
      bucket.fault = { at, when };
      const counts = [await run(), await run(), await run()];
      expect(
        counts.map(({ refused }) => refused),
        `call ${String(at)}`,
      ).toEqual([1, 0, 0]);
      expect(files().sort(), `call ${String(at)}`).toHaveLength(3);
      read = [];
      await run();
      expect(read, "the round is over").toEqual([]);
    }
  });
});

describe("a cluster that does not answer", () => {
  it("the others go on; it has two more turns, in later runs", async () => {
    silent.add("a");
    expect(await run()).toEqual({ backedUp: 2, failed: 1, refused: 0 });
    expect(await run()).toEqual({ backedUp: 0, failed: 1, refused: 0 });
    silent.clear();
    expect(await run()).toEqual({ backedUp: 1, failed: 0, refused: 0 });
    expect(files()).toHaveLength(3);
  });

  it("three times: its backup is given up, and told as an error, until the next interval", async () => {
    silent.add("b");
    for (let runs = 0; runs < 5; runs++) await run();
    expect(read.filter((page) => page === "b")).toHaveLength(3);
    expect(lines.filter((line) => line.startsWith("error"))).toEqual(["error a cluster was not backed up"]);
    silent.clear();
    nowMs += 24 * HOUR_MS;
    expect(await run()).toMatchObject({ backedUp: 3 });
  });

  it("in the middle: its next turn begins anew, and leaves no half file", async () => {
    await run({ pagesMax: 1 });
    silent.add("a");
    await run();
    expect(files()).not.toContain("a/2026-11-30T00-00Z.jsonl");
    silent.clear();
    await run();
    expect(files()).toContain("a/2026-11-30T00-00Z.jsonl");
  });
});

it("a list that does not answer: its page is asked for again, and after three times the first one", async () => {
  listFails = 1;
  expect(await run()).toEqual({ backedUp: 0, failed: 1, refused: 0 });
  expect(await run({ pagesMax: 4 })).toMatchObject({ backedUp: 2 });
  listFails = 3;
  for (let runs = 0; runs < 3; runs++) expect(await run()).toMatchObject({ failed: 1 });
  read = [];
  expect(await run()).toMatchObject({ backedUp: 3 });
  expect(read[0]).toBe("a");
});

describe("runs that die", () => {
  it.each([
    ["at its beginning", 1_000],
    ["in its middle", 1],
  ])("of a cluster, %s: it is begun three times and given up, and the others are backed up", async (_, pagesMax) => {
    if (pagesMax === 1) await run({ pagesMax });
    deadly.add("a");
    for (let runs = 0; runs < 3; runs++) expect(await lethal()).toBe("dead");
    expect(await lethal()).toEqual({ backedUp: 2, failed: 1, refused: 0 });
    expect(lines.filter((line) => line.startsWith("error"))).toEqual(["error a cluster was not backed up"]);
    read = [];
    await run();
    expect(read).toEqual([]);
    deadly.clear();
    nowMs += 24 * HOUR_MS;
    expect(await run()).toMatchObject({ backedUp: 3 });
  });

  it("twice, and a run between them that came further: a long backup is not given up", async () => {
    for (let portions = 0; portions < 2; portions++) {
      deadly.add("a");
      for (let runs = 0; runs < 2; runs++) expect(await lethal()).toBe("dead");
      deadly.clear();
      await run({ pagesMax: 1 });
    }
    expect(files()).toContain("a/2026-11-30T00-00Z.jsonl");
  });
});

it("a backup that contradicts itself: told as an error, counted as failed, and no older file goes for it", async () => {
  clusters = ["a"];
  for (let day = 0; day < 2; day++) {
    nowMs = BEGAN + day * 24 * HOUR_MS;
    await run();
  }
  contradicts = true;
  nowMs += 24 * HOUR_MS;
  expect(await run()).toEqual({ backedUp: 0, failed: 1, refused: 0 });
  expect(files()).toEqual(["a/2026-11-30T00-00Z.jsonl", "a/2026-12-01T00-00Z.jsonl", "a/2026-12-02T00-00Z.jsonl"]);
  expect(lines.filter((line) => line.startsWith("error"))).toEqual(["error a backup contradicts itself: no older one is deleted for it"]);
});

it("a kept round that cannot be read: told, and the round begins anew", async () => {
  bucket.setRound(new TextEncoder().encode("{"));
  expect(await run()).toMatchObject({ backedUp: 3 });
  expect(lines[0]).toBe("error what is kept of a round of backups cannot be read: it begins anew");
  read = [];
  await run();
  expect(read).toEqual([]);
});

it("two runs at once: the progress of one is kept, the other one says so, and the files are whole", async () => {
  await Promise.all([run({ pagesMax: 3 }), run({ pagesMax: 3 })]);
  expect(lines).toContain("warn another run of backups was under way");
  await run();
  expect(files()).toHaveLength(3);
});

it("an interval that was made longer: the round that is over counts on", async () => {
  await run({ intervalMs: HOUR_MS });
  read = [];
  await run({ intervalMs: 24 * HOUR_MS });
  expect(read).toEqual([]);
});
