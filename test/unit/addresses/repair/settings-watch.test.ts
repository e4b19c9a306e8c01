import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../../src/core/config/config";
import { type Settings, settingsOf } from "../../../../src/core/config/settings";
import { differingSettings, noteSettings, SettingsWatch } from "../../../../src/addresses/repair/settings-watch";
import { MemorySettingsStorage } from "../../../support/memory/settings-storage";
import type { EventReport } from "../../../../src/api/events/event-recorder";

const OFF = "MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false";

function settings(vars: Record<string, string>): Settings {
  const config = parseConfig(vars);
  if (!config.ok) throw new Error(config.error.join());
  return settingsOf(config.value);
}

/** What survives the controller's object, and what it reported. */
class World {
  readonly storage = new MemorySettingsStorage();
  told: string[] = [];
  logged: string[] = [];
  sweeps = 0;
  hasSubject = true;

  start(own: Settings): SettingsWatch {
    return new SettingsWatch(own, {
      storage: this.storage,
      recorder: { log: (_, event, fields) => void this.logged.push(`${event}: ${JSON.stringify(fields)}`) },
      events: { report: ({ type, reason, note }: EventReport) => void this.told.push(`${type} ${reason} ${note}`) },
      subject: () => Promise.resolve(this.hasSubject ? { kind: "Service", name: "kubernetes" } : undefined),
      lookAtEverything: () => void this.sweeps++,
    });
  }
}

describe("cluster opened under other settings than before", () => {
  it.each([
    ["the first time", {}, {}, true, []],
    ["the same, in another spelling", { SERVICE_CLUSTER_IP_RANGE: "FD00::/112" }, { SERVICE_CLUSTER_IP_RANGE: " fd00::/112" }, false, []],
    ["the same, with defaults written out", { FEATURE_GATES: "" }, { FEATURE_GATES: "APIServerIdentity=true" }, false, []],
    [
      "another range",
      { SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/16" },
      { SERVICE_CLUSTER_IP_RANGE: "10.97.0.0/16" },
      false,
      ["Normal ConfigurationChanged SERVICE_CLUSTER_IP_RANGE was 10.96.0.0/16 and is 10.97.0.0/16; all Services are looked at"],
    ],
    [
      "other gates",
      { FEATURE_GATES: OFF },
      {},
      false,
      [
        "Normal ConfigurationChanged DisableAllocatorDualWrite was false and is true; all Services are looked at",
        "Normal ConfigurationChanged MultiCIDRServiceAllocator was false and is true; all Services are looked at",
      ],
    ],
  ])("%s: one event for each change, and everything is looked at once", async (_, before, now, isFirst, told) => {
    const world = new World();
    if (!isFirst) await world.start(settings(before)).run();
    expect([world.told, world.sweeps]).toEqual([[], 0]);
    const watch = world.start(settings(now));
    await watch.run();
    await watch.run();
    expect([world.told, world.logged.length, world.sweeps]).toEqual([told, told.length, told.length > 0 ? 1 : 0]);
    await world.start(settings(now)).run();
    expect(world.told).toEqual(told);
  });

  it("another release: reported with the old one, and everything is looked at", async () => {
    const world = new World();
    const own = settings({});
    await world.start({ ...own, version: "v1.36.2-servicenet.0" }).run();
    await world.start(own).run();
    expect([world.sweeps, world.told]).toEqual([
      1,
      [`Normal ConfigurationChanged version was v1.36.2-servicenet.0 and is ${own.version ?? ""}; all Services are looked at`],
    ]);
  });
});

describe("Worker under other settings than the cluster's", () => {
  const own = settings({ SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/16" });
  const theirs = settings({ SERVICE_CLUSTER_IP_RANGE: "10.97.0.0/16", FEATURE_GATES: "ServiceIPStaticSubrange=false" });
  const NOTES = [
    "Warning ConfigurationDiffers A Worker runs with SERVICE_CLUSTER_IP_RANGE 10.97.0.0/16, the cluster with 10.96.0.0/16: addresses are given out by the cluster's",
    "Warning ConfigurationDiffers A Worker runs with ServiceIPStaticSubrange false, the cluster with true: addresses are given out by the cluster's",
  ];

  it("next pass: reported once for each poke, even when the object restarts in between", async () => {
    const world = new World();
    await world.start(own).run();
    noteSettings(world.storage, own, own, 1_000);
    noteSettings(world.storage, own, theirs, 2_000);
    noteSettings(world.storage, own, own, 3_000);
    const watch = world.start(own);
    await watch.run();
    await watch.run();
    expect([world.told, world.sweeps]).toEqual([NOTES, 0]);
    noteSettings(world.storage, own, theirs, 62_000);
    await watch.run();
    expect(world.told).toEqual([...NOTES, ...NOTES]);
  });

  it("not seen for five minutes: no longer counted", () => {
    const world = new World();
    noteSettings(world.storage, own, theirs, 1_000);
    expect(differingSettings(world.storage, 300_000)).toEqual(["SERVICE_CLUSTER_IP_RANGE", "ServiceIPStaticSubrange"]);
    expect(differingSettings(world.storage, 301_000)).toEqual([]);
    noteSettings(world.storage, own, { ...own, version: "other" }, 400_000);
    expect(world.storage.differencesLoad().map(({ name }) => name)).toEqual(["version"]);
  });

  it("no object for an event yet: logged", async () => {
    const world = new World();
    world.hasSubject = false;
    noteSettings(world.storage, own, theirs, 1_000);
    await world.start(own).run();
    expect([world.told, world.logged.length]).toEqual([[], 2]);
  });
});
