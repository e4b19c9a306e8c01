/** A backup that is written in portions: what the file says, and what a death at any call leaves. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Digest } from "../../../../src/core/base/ports";
import { parseJson } from "../../../../src/core/encoding/exact-json";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { type Backup, BackupReader, type BackupType } from "../../../../src/tools/backup/format";
import {
  type BackupOutcome,
  type BackupProgress,
  type BackupSource,
  beginBackup,
  continueBackup,
} from "../../../../src/tools/backup/in-portions";
import { typeName } from "../../../../src/tools/backup/order";
import { decodeRound, encodeRound } from "../../../../src/tools/backup/rounds";
import { MemoryBucket } from "../../../support/memory/backup-bucket";

const digest: Digest = (bytes) => Promise.resolve(createHash("sha256").update(bytes).digest("hex"));
const type = (resource: string, kind: string, group = ""): BackupType => ({
  group,
  version: "v1",
  resource,
  kind,
  namespaced: true,
  hasStatus: false,
});
const SERVICES = type("services", "Service");
const ADDRESSES = type("ipaddresses", "IPAddress", "networking.k8s.io");
const RANGES = type("servicecidrs", "ServiceCIDR", "networking.k8s.io");
const CONFIG_MAPS = type("configmaps", "ConfigMap");
const LEASES = type("leases", "Lease", "coordination.k8s.io");
const EVENTS = type("events", "Event");
const TYPES = [CONFIG_MAPS, EVENTS, SERVICES, ADDRESSES, RANGES, LEASES];
const KEY = "default/2026-11-30T00-00Z.jsonl";

/** Lists by typeName, in pages of two. */
class Cluster {
  readonly lists = new Map<string, KubeObject[]>();
  revision = 10;
  /** called with each page that is asked for; may change the lists, or say that the history has ended */
  asked: (name: string, token: string) => "expired" | undefined = () => undefined;
  readonly pages: string[] = [];

  readonly source: BackupSource = {
    types: TYPES,
    page: (of, token) => {
      const name = typeName(of);
      this.pages.push(`${name} ${token}`.trim());
      if (this.asked(name, token) === "expired") return Promise.resolve("expired");
      const objects = this.lists.get(name) ?? [];
      const from = token === "" ? 0 : Number(token);
      const next = from + 2 < objects.length ? String(from + 2) : "";
      return Promise.resolve({ objects: objects.slice(from, from + 2), resourceVersion: String(this.revision), next });
    },
    newestRevision: (of) => Promise.resolve(of === EVENTS ? "99" : "12"),
  };
}

function clusterOf(configMapBytes = 10): Cluster {
  const cluster = new Cluster();
  const named = (name: string) => ({ metadata: { name, namespace: "default" } });
  cluster.lists.set(
    "configmaps",
    [1, 2, 3, 4, 5].map((i) => ({ ...named(`m${String(i)}`), data: { text: "ä".repeat(configMapBytes / 2) } }) as KubeObject),
  );
  cluster.lists.set("services", [
    { ...named("web"), spec: { clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7"], ports: [{ port: 80 }] } } as KubeObject,
  ]);
  cluster.lists.set("servicecidrs.networking.k8s.io", [
    { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/16"] } } as KubeObject,
  ]);
  cluster.lists.set("leases.coordination.k8s.io", [
    { metadata: { name: "servicenet-restore", namespace: "kube-system" } },
    { ...(parseJson('{"metadata":{"name":"big","namespace":"default"},"spec":{"leaseTransitions":9007199254740993}}') as KubeObject) },
  ]);
  return cluster;
}

const begun = (cluster: Cluster, bucket: MemoryBucket): Promise<BackupProgress> =>
  beginBackup(
    { source: cluster.source, bucket: bucket.port, digest },
    { key: KEY, id: "default 0", createdAtMs: 0, server: "/clusters/default", serverVersion: "v1" },
  );

/** As programs read a file. */
function read(text: string): Backup {
  const reader = new BackupReader();
  let hash = createHash("sha256");
  for (const line of text.split("\n").slice(0, -1)) {
    const sums = { sha256: () => hash.copy().digest("hex"), link: () => void (hash = createHash("sha256").update(hash.digest("hex"))) };
    const taken = reader.take(line, sums);
    if (!taken.ok) throw new Error(taken.error);
    hash.update(`${line}\n`);
  }
  const backup = reader.end();
  if (!backup.ok) throw new Error(backup.error);
  return backup.value;
}

const namesIn = ({ sections }: Backup): Record<string, unknown[]> =>
  Object.fromEntries(
    sections.map(({ type: of, objects }) => [of.resource, objects.map((text) => (JSON.parse(text) as KubeObject).metadata?.name)]),
  );

const WHOLE = {
  configmaps: ["m1", "m2", "m3", "m4", "m5"],
  services: ["web"],
  ipaddresses: [],
  servicecidrs: ["kubernetes"],
  leases: ["big"],
};

/** What the caller keeps between two runs. */
function kept(progress: BackupProgress): BackupProgress {
  const round = {
    beganMs: 0,
    isOver: false,
    cursor: "",
    silences: 0,
    ids: [],
    again: [],
    current: { id: "default", attempts: 0, progress },
  };
  const { current } = decodeRound(encodeRound(round));
  if (!current?.progress) throw new Error("it was not kept");
  return current.progress;
}

it("a small cluster: one file at once, with heads of all types, each object as it is, and nobody's mark", async () => {
  const [cluster, bucket] = [clusterOf(), new MemoryBucket()];
  expect(await continueBackup(await begun(cluster, bucket), { source: cluster.source, bucket: bucket.port, digest }, () => true)).toBe(
    "whole",
  );
  expect(bucket.calls).toBe(1);
  const backup = read(bucket.text(KEY));
  expect(namesIn(backup)).toEqual(WHOLE);
  expect(backup.header).toEqual({
    createdAt: "1970-01-01T00:00:00.000Z",
    server: "/clusters/default",
    serverVersion: "v1",
    heads: { ...Object.fromEntries(TYPES.map((of) => [typeName(of), "10"])), events: "99" },
  });
  expect(bucket.text(KEY)).toContain(
    '{"metadata":{"name":"big","namespace":"default"},"spec":{"leaseTransitions":9007199254740993},"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}',
  );
});

it("a file that was cut, altered, or put together of other pieces: refused", async () => {
  const [cluster, bucket] = [clusterOf(), new MemoryBucket()];
  await continueBackup(await begun(cluster, bucket), { source: cluster.source, bucket: bucket.port, digest }, () => true);
  const text = bucket.text(KEY);
  const lines = text.split("\n");
  for (let length = 1; length < lines.length - 1; length++)
    expect(() => read(`${lines.slice(0, length).join("\n")}\n`)).toThrow(/is cut short/);
  expect(() => read(text.replace("10.96.0.7", "10.96.0.8"))).toThrow("was altered: its checksum is another one");
  expect(() => read(text.replace('"reading":1', '"reading":2'))).toThrow();
  const second = lines.findIndex((line) => line.includes('"m3"')) - 1;
  const swapped = lines.with(second, lines[second]?.replace('"resourceVersion":"10"', '"resourceVersion":"11"') ?? "");
  expect(() => read(swapped.join("\n"))).toThrow("begins configmaps again");
});

describe("a cluster of several parts", () => {
  /** of a ConfigMap, and of a part */
  const BYTES = 1_000;
  const PART = 2_000;
  const newBucket = (): MemoryBucket => new MemoryBucket(PART);

  /** Runs of one page each, until the file is there. A run that fails begins again with what was kept before. Answers how many there were. */
  async function backedUp(cluster: Cluster, bucket: MemoryBucket): Promise<number> {
    let progress = await begun(cluster, bucket);
    for (let runs = 1; runs < 100; runs++) {
      const own = kept(progress);
      try {
        const ports = { source: cluster.source, bucket: bucket.port, digest, partBytes: PART };
        if ((await continueBackup(own, ports, () => false)) === "whole") return runs;
        progress = own;
      } catch (error) {
        bucket.fault = undefined;
        expect(String(error)).toMatch(/refuses|lost/);
      }
      if (bucket.files.has(KEY)) read(bucket.text(KEY));
    }
    throw new Error("it comes to no end");
  }

  it("in portions of a page: parts of one size, and the same file", async () => {
    const [cluster, bucket] = [clusterOf(BYTES), newBucket()];
    expect(await backedUp(cluster, bucket)).toBeGreaterThan(5);
    expect(bucket.files.get(KEY)?.length).toBeGreaterThan(2 * PART);
    expect(namesIn(read(bucket.text(KEY)))).toEqual(WHOLE);
    expect(bucket.uploads).toBe(0);
  });

  it("an older file of the same name: the upload goes on, and its file takes the place", async () => {
    const [cluster, bucket] = [clusterOf(BYTES), newBucket()];
    const earlier = { key: KEY, id: "default~1 0", createdAtMs: 0, server: "/clusters/default", serverVersion: "v1" };
    const ports = { source: cluster.source, bucket: bucket.port, digest, partBytes: PART };
    await continueBackup(await beginBackup(ports, earlier), ports, () => true);
    expect(bucket.uploads).toBe(0);
    cluster.lists.get("configmaps")?.pop();
    await backedUp(cluster, bucket);
    expect(namesIn(read(bucket.text(KEY)))["configmaps"]).toEqual(["m1", "m2", "m3", "m4"]);
  });

  it.each(["before", "after"] as const)("a death %s any call of the bucket: the next run goes on, and the file is whole", async (when) => {
    const undisturbed = newBucket();
    await backedUp(clusterOf(BYTES), undisturbed);
    for (let at = 1; at <= undisturbed.calls; at++) {
      const [cluster, bucket] = [clusterOf(BYTES), newBucket()];
      bucket.fault = { at, when };
      await backedUp(cluster, bucket);
      expect(bucket.fault, `call ${String(at)} came`).toBeUndefined();
      expect(bucket.text(KEY) === undisturbed.text(KEY), `call ${String(at)}`).toBe(true);
    }
  });
});

describe("a cluster that changes", () => {
  let outcome: BackupOutcome;
  const run = async (cluster: Cluster): Promise<Backup> => {
    const bucket = new MemoryBucket();
    outcome = await continueBackup(await begun(cluster, bucket), { source: cluster.source, bucket: bucket.port, digest }, () => true);
    return read(bucket.text(KEY));
  };

  it("a type that is served no more: one that has begun ends the backup, another one is left out", async () => {
    const [cluster, bucket] = [clusterOf(), new MemoryBucket()];
    const progress = await begun(cluster, bucket);
    const without = (...gone: BackupType[]) => ({ ...cluster.source, types: TYPES.filter((of) => !gone.includes(of)) });
    const whole = { source: cluster.source, bucket: bucket.port, digest };
    while (progress.token === "") expect(await continueBackup(progress, whole, () => false)).toBe("underWay");
    const under = TYPES.find((of) => typeName(of) === progress.waiting[0]) as BackupType;
    const ports = { bucket: bucket.port, digest };
    await expect(continueBackup(kept(progress), { ...ports, source: without(under) }, () => true)).rejects.toThrow(
      `${typeName(under)} is served no more`,
    );
    expect(bucket.files.size).toBe(0);
    expect(progress.waiting.slice(1)).toContain(typeName(ADDRESSES));
    expect(await continueBackup(kept(progress), { ...ports, source: without(ADDRESSES) }, () => true)).toBe("whole");
    expect(Object.keys(namesIn(read(bucket.text(KEY))))).not.toContain(ADDRESSES.resource);
  });

  it("a history that ends between two pages: the type begins again, and only its last reading counts", async () => {
    const cluster = clusterOf();
    cluster.asked = (name, token) => {
      if (name !== "configmaps" || token !== "4" || cluster.revision > 10) return undefined;
      cluster.revision = 20;
      cluster.lists.get(name)?.splice(0, 1);
      return "expired";
    };
    const backup = await run(cluster);
    expect(namesIn(backup)).toEqual({ ...WHOLE, configmaps: ["m2", "m3", "m4", "m5"] });
    expect(backup.sections.find(({ type: of }) => of.resource === "configmaps")?.resourceVersion).toBe("20");
  });

  it("a history that always ends: no file, and an error that names the type", async () => {
    const cluster = clusterOf();
    cluster.asked = (name, token) => (name === "configmaps" && token !== "" ? "expired" : undefined);
    await expect(run(cluster)).rejects.toThrow("configmaps changes faster than it can be read");
  });

  /** Of somebody else than the allocator, for the address of the Service. */
  const taken = {
    metadata: { name: "10.96.0.7" },
    spec: { parentRef: { resource: "gateways", namespace: "default", name: "g" } },
  } as KubeObject;

  it("an address that goes to somebody else meanwhile: what shares addresses is read again, and nothing else", async () => {
    const cluster = clusterOf();
    cluster.asked = (name) => {
      if (name !== "ipaddresses.networking.k8s.io" || cluster.lists.has(name)) return undefined;
      // Services have been read.
      cluster.lists.set(name, [taken]);
      cluster.lists.set("services", []);
      return undefined;
    };
    expect(namesIn(await run(cluster))).toEqual({ ...WHOLE, services: [], ipaddresses: ["10.96.0.7"] });
    expect(outcome).toBe("whole");
    expect(cluster.pages.filter((page) => page.startsWith("services"))).toHaveLength(2);
    expect(cluster.pages.filter((page) => page.startsWith("configmaps"))).toHaveLength(3);
  });

  it("a cluster that contradicts itself: read five times, and the file has it as it is", async () => {
    const cluster = clusterOf();
    cluster.lists.set("ipaddresses.networking.k8s.io", [taken]);
    expect(namesIn(await run(cluster))).toEqual({ ...WHOLE, ipaddresses: ["10.96.0.7"] });
    expect(outcome).toBe("contradictory");
    expect(cluster.pages.filter((page) => page.startsWith("services"))).toHaveLength(5);
  });
});
