import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../src/api/meta/kubernetes";
import { serviceUnavailable, type Status } from "../../../../src/api/meta/status";
import type { Result } from "../../../../src/core/base/result";
import type { LeaseCalls } from "../../../../src/leases/identity/identity-keeper";
import { IdentityKeeper } from "../../../../src/leases/identity/identity-keeper";
import { hasRunOut } from "../../../../src/leases/identity/identity-lease";
import { fakeDigest } from "../../../support/sim/platform/fake-digest";
import { StoreWorld } from "../../../support/worlds/store-world";

const SECOND = 1_000;
const NAMESPACE = "kube-system";
const SETTING = { hostname: "node-1", durationSeconds: 3600, renewSeconds: 10 };

/** A store of Leases, and instances that share it. */
class Place {
  readonly world = new StoreWorld();
  readonly calls: string[] = [];
  readonly logged: string[] = [];
  isAway = false;
  #starts = 0;

  /** `aheadMs`: of its clock */
  start(setting: Partial<typeof SETTING> = {}, aheadMs = 0): IdentityKeeper {
    const start = ++this.#starts;
    const { scheduler } = this.world;
    return new IdentityKeeper(
      {
        clock: { now: () => scheduler.now + aheadMs },
        random: { next: () => 0, uuid: () => `start-${start}` },
        // The name has the first half of it.
        digest: async (bytes) => [...(await fakeDigest(bytes))].reverse().join(""),
        recorder: { log: (level, event) => void this.logged.push(`${level} ${event}`) },
        calls: this.#calls(),
      },
      { ...SETTING, ...setting },
    );
  }

  /** A request that the instance has answered. */
  async request(keeper: IdentityKeeper): Promise<void> {
    if (keeper.isDue("c")) await this.world.scheduler.run(keeper.renew("c"));
  }

  /** Requests once a second. */
  async serve(keeper: IdentityKeeper, seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.request(keeper);
      await this.world.scheduler.pass(SECOND);
    }
  }

  get lease(): Lease | undefined {
    const [key] = this.world.storage.objectScan("", "").map((row) => row.key);
    return key === undefined ? undefined : this.world.stored<Lease>(key.split("/").at(-1) ?? "", NAMESPACE);
  }

  get holder(): string {
    return this.lease?.spec?.holderIdentity?.split("_").at(-1) ?? "";
  }

  #calls(): LeaseCalls {
    const away: Result<string, Status> = { ok: false, error: serviceUnavailable("away", 1) };
    return {
      get: (_, key) => {
        this.calls.push("get");
        const found = this.world.store.get(key, "");
        return Promise.resolve(this.isAway ? away : found.ok ? { ok: true, value: found.object } : { ok: false, error: found.status });
      },
      write: async (_, request) => {
        this.calls.push(request.verb);
        if (this.isAway) return away;
        const written = await this.world.store.write(request);
        return written.ok ? { ok: true, value: written.object } : { ok: false, error: written.status };
      },
    };
  }
}

describe("one instance", () => {
  it("requests for a minute: one read and one write in each interval, without another read", async () => {
    const place = new Place();
    await place.serve(place.start(), 60);
    expect(place.calls).toEqual(["get", "create", "update", "update", "update", "update", "update"]);
    expect(place.lease?.spec).toMatchObject({ leaseTransitions: 0, leaseDurationSeconds: 3600 });
    expect(place.lease?.metadata?.managedFields?.map(({ manager }) => manager)).toEqual(["kube-apiserver"]);
  });

  it("no requests: nothing is written; the next request renews", async () => {
    const place = new Place();
    const keeper = place.start();
    await place.request(keeper);
    await place.world.scheduler.pass(600 * SECOND);
    expect(place.calls).toEqual(["get", "create"]);
    await place.request(keeper);
    expect(place.calls).toEqual(["get", "create", "update"]);
  });

  it("many requests at once: one renewal", async () => {
    const place = new Place();
    const keeper = place.start();
    const renewed = Array.from({ length: 50 }, () => (keeper.isDue("c") ? keeper.renew("c") : Promise.resolve()));
    await place.world.scheduler.run(Promise.all(renewed));
    expect(place.calls).toEqual(["get", "create"]);
  });

  it("Lease that somebody edits, deletes, or breaks: comes back at the next renewal", async () => {
    const place = new Place();
    const keeper = place.start();
    await place.request(keeper);
    const name = place.lease?.metadata?.name ?? "";
    for (const damage of [
      () => place.world.patch(name, "merge", { metadata: { labels: null } }, {}, NAMESPACE),
      () => place.world.delete(name, {}, NAMESPACE),
      () => place.world.patch(name, "merge", { spec: { renewTime: null, leaseDurationSeconds: 5 } }, {}, NAMESPACE),
    ]) {
      expect(await damage()).toMatchObject({ ok: true });
      await place.world.scheduler.pass(11 * SECOND);
      await place.request(keeper);
      expect([place.holder, place.lease?.spec?.leaseDurationSeconds]).toEqual(["start-1", 3600]);
      expect(place.lease?.metadata?.labels).toMatchObject({ "apiserver.kubernetes.io/identity": "kube-apiserver" });
    }
    expect(place.logged).toEqual([]);
  });

  it("Lease that somebody takes, with a time far ahead: taken back after three renewals, and counted", async () => {
    const place = new Place();
    const keeper = place.start();
    await place.request(keeper);
    const theirs = { spec: { holderIdentity: "x", renewTime: "2099-01-01T00:00:00.000000Z" } };
    await place.world.patch(place.lease?.metadata?.name ?? "", "merge", theirs, {}, NAMESPACE);
    await place.serve(keeper, 35);
    expect(place.holder).toBe("x");
    await place.serve(keeper, 15);
    expect([place.holder, place.lease?.spec?.leaseTransitions]).toEqual(["start-1", 1]);
  });

  it("clock that is set back by an hour: renews on", async () => {
    const place = new Place();
    const keeper = place.start();
    await place.serve(keeper, 5);
    place.world.scheduler.now -= 3_600 * SECOND;
    await place.serve(keeper, 15);
    expect(place.calls).toEqual(["get", "create", "update", "update"]);
  });

  it("store that is away: logged, and tried again after an interval", async () => {
    const place = new Place();
    const keeper = place.start();
    place.isAway = true;
    await place.serve(keeper, 25);
    expect([place.calls, place.logged]).toEqual([["get", "get", "get"], Array(3).fill("warn identity lease was not renewed")]);
    place.isAway = false;
    await place.serve(keeper, 10);
    expect(place.holder).toBe("start-1");
  });
});

describe("several starts at one place", () => {
  it("two isolates with requests: the Lease stays with one, and the other only looks", async () => {
    const place = new Place();
    const [one, two] = [place.start(), place.start()];
    for (let second = 0; second < 300; second++) {
      await place.request(one);
      await place.request(two);
      await place.world.scheduler.pass(SECOND);
    }
    expect([place.holder, place.lease?.spec?.leaseTransitions]).toEqual(["start-1", 0]);
    expect(place.calls.filter((call) => call === "update").length).toBeLessThanOrEqual(30);
    expect(place.calls.filter((call) => call === "get").length).toBeLessThanOrEqual(20);
  });

  it("three isolates of a deployment, of which the holder ends: one write in ten minutes, and the Lease never runs out", async () => {
    const place = new Place();
    const setting = { renewSeconds: 600 };
    let isolates = [place.start(setting), place.start(setting), place.start(setting)];
    for (let second = 0; second < 4 * 3600; second += 10) {
      if (second === 3600) isolates = isolates.slice(1);
      for (const isolate of isolates) await place.request(isolate);
      await place.world.scheduler.pass(10 * SECOND);
      expect(place.lease && hasRunOut(place.lease, place.world.scheduler.now)).toBe(false);
    }
    expect(place.lease?.spec?.leaseTransitions).toBe(1);
    const written = place.calls.filter((call) => call === "update" || call === "create").length;
    // Half an hour is that of three missed renewals. One write more: two isolates take the Lease over at once, and the later one is refused.
    expect([written > 18, written <= 24]).toEqual([true, true]);
    expect(place.calls.length - written).toBeLessThanOrEqual(24);
  });

  it.each([
    ["behind", "ahead"],
    ["ahead", "behind"],
  ])(
    "two isolates at odds by ten minutes, the first one %s: the Lease never runs out by any clock, and changes hands at most once",
    async (first) => {
      const place = new Place();
      const apartMs = 600 * SECOND * (first === "ahead" ? -1 : 1);
      const [one, two] = [place.start({}, -apartMs / 2), place.start({}, apartMs / 2)];
      for (let second = 0; second < 1_200; second++) {
        for (const keeper of [one, two]) await place.request(keeper);
        const { now } = place.world.scheduler;
        for (const clock of [now, now - 300 * SECOND, now + 300 * SECOND]) expect(hasRunOut(place.lease ?? {}, clock)).toBe(false);
        await place.world.scheduler.pass(SECOND);
      }
      expect(place.lease?.spec?.leaseTransitions).toBeLessThanOrEqual(1);
      expect(place.calls.filter((call) => call !== "get").length).toBeLessThanOrEqual(130);
    },
  );

  it("restart: takes the same Lease back after three missed renewals, with a new holder and a transition more", async () => {
    const place = new Place();
    await place.serve(place.start(), 15);
    const uid = place.lease?.metadata?.uid;
    const again = place.start();
    await place.serve(again, 20);
    expect(place.holder).toBe("start-1");
    await place.serve(again, 15);
    expect([place.holder, place.lease?.spec?.leaseTransitions, place.lease?.metadata?.uid]).toEqual(["start-2", 1, uid]);
  });

  it("other places: Leases of their own", async () => {
    const place = new Place();
    await place.request(place.start());
    await place.request(place.start({ hostname: "node-2" }));
    expect(place.world.storage.objectScan("", "")).toHaveLength(2);
  });
});
