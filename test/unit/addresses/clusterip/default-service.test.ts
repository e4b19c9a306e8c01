import { describe, expect, it } from "vitest";
import { DefaultService } from "../../../../src/addresses/clusterip/default-service";
import { invalid } from "../../../../src/api/meta/status";
import type { WriteRequest, WriteResult } from "../../../../src/api/rpc/store";

const SERVICES = { group: "", resource: "services", kind: "Service" };

class World {
  nowMs = 1_000;
  exists = false;
  readonly writes: WriteRequest[] = [];
  readonly wishes: number[] = [];
  readonly logged: string[] = [];
  /** "" = the write is done */
  refusal = "";
  breaks = false;
  /** reading the stored Services fails */
  unreadable = false;
  readonly service = new DefaultService(
    {
      clock: {
        now: () => this.nowMs,
        sleep: () => Promise.resolve(),
        after: () => () => undefined,
        nextTurn: () => Promise.resolve(),
      },
      recorder: { log: (level, event, fields) => void this.logged.push(`${level} ${event} ${String(fields?.["message"])}`) },
      exists: ({ namespace, name }) => {
        if (this.unreadable) throw new Error("the storage fails");
        return this.exists && namespace === "default" && name === "kubernetes";
      },
      write: (request) => this.#write(request),
      wakeAt: (time) => void this.wishes.push(time - this.nowMs),
    },
    () => "10.96.0.1",
  );

  async #write(request: WriteRequest): Promise<WriteResult> {
    this.writes.push(request);
    await Promise.resolve();
    if (this.breaks) throw new Error("gone");
    if (this.refusal) return { ok: false, status: { ...invalid(SERVICES, "kubernetes", []), message: this.refusal }, warnings: [] };
    this.exists = true;
    return { ok: true, code: 201, object: "{}", warnings: [], gone: false };
  }

  /** The Service is deleted by a client: what happens before the next request. */
  async removed(): Promise<void> {
    this.exists = false;
    this.service.turnCommitted([{ key: "default/kubernetes", type: "DELETED" }]);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  }
}

describe("default/kubernetes", () => {
  it("many calls of ensure: the Service of upstream is made once", async () => {
    const world = new World();
    await Promise.all([world.service.ensure(), world.service.ensure()]);
    await world.service.ensure();
    expect(world.writes).toHaveLength(1);
    const [write] = world.writes;
    expect(write?.verb === "create" && (JSON.parse(write.object) as unknown)).toEqual({
      metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
      spec: {
        type: "ClusterIP",
        clusterIP: "10.96.0.1",
        clusterIPs: ["10.96.0.1"],
        ipFamilyPolicy: "SingleStack",
        sessionAffinity: "None",
        ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: 6443 }],
      },
    });
    expect(world.logged).toEqual([]);
    expect(world.wishes, "before the attempt, for the case of a crash in it").toEqual([10_000]);
  });

  it("a storage that fails: ensure does not reject, and the next call makes the Service", async () => {
    const world = new World();
    world.unreadable = true;
    await world.service.ensure();
    expect(world.logged).toHaveLength(1);
    world.unreadable = false;
    await world.service.ensure();
    expect(world.exists).toBe(true);
  });

  it("committed deletion: made again at once; other Services and other changes: no write", async () => {
    const world = new World();
    await world.removed();
    expect([world.writes.length, world.exists]).toEqual([1, true]);
    world.service.turnCommitted([
      { key: "default/web", type: "DELETED" },
      { key: "default/kubernetes", type: "MODIFIED" },
    ]);
    await Promise.resolve();
    expect(world.writes).toHaveLength(1);
  });

  it("refused create: tried again every 10 s, each reason is logged once", async () => {
    const world = new World();
    world.refusal = "the provided network does not match the current range";
    for (let i = 0; i < 5; i++) await world.service.ensure();
    // Before each attempt, and after it.
    expect(world.wishes).toEqual(Array(10).fill(10_000));
    expect(world.logged).toEqual([`warn the Service default/kubernetes could not be created ${world.refusal}`]);
    world.refusal = "provided IP is already allocated";
    await world.service.ensure();
    expect(world.logged).toHaveLength(2);
    world.refusal = "";
    world.breaks = true;
    await world.service.ensure();
    expect(world.logged[2]).toContain("gone");
    world.breaks = false;
    await world.service.ensure();
    expect(world.exists).toBe(true);
    world.refusal = "provided IP is already allocated";
    await world.removed();
    expect(world.logged, "a new problem after it was there").toHaveLength(4);
  });

  it("Service made by somebody else meanwhile: no error, no log line", async () => {
    const world = new World();
    world.refusal = 'services "kubernetes" already exists';
    const made = world.service.ensure();
    world.exists = true;
    await made;
    expect([world.wishes, world.logged]).toEqual([[10_000], []]);
  });
});
