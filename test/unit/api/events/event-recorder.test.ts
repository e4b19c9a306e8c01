import { beforeEach, describe, expect, it } from "vitest";
import { eventName } from "../../../../src/api/events/event-name";
import { EventRecorder, type EventReport, referenceTo } from "../../../../src/api/events/event-recorder";
import type { CoreEvent } from "../../../../src/api/meta/kubernetes";
import { validateDNS1123Subdomain } from "../../../../src/api/meta/names";
import { eventsDefinition } from "../../../../src/api/registry/events/definition";
import { validateStrictCreate } from "../../../../src/api/registry/events/validate";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import { serviceCIDRsDefinition } from "../../../../src/api/registry/service-cidrs/definition";
import type { WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import { StoreWorld } from "../../../support/worlds/store-world";

const web = { metadata: { namespace: "shop", name: "web", uid: "uid-1", resourceVersion: "7" } };
const report: EventReport = {
  regarding: referenceTo(servicesDefinition, web),
  type: "Warning",
  reason: "ClusterIPNotAllocated",
  action: "ClusterIPAllocation",
  note: "Cluster IP [IPv4]: 10.96.0.9 is not allocated; repairing",
};

let world: StoreWorld;
/** the fault of a write: before it, or after it took effect */
let fault: (request: WriteRequest) => "fail" | "loseAnswer" | undefined;
let writes: number;

function recorder(controller = "repair"): EventRecorder {
  const { scheduler, logged } = world;
  return new EventRecorder(
    { controller, instance: `${controller}-default` },
    {
      clock: scheduler.clock(),
      recorder: { log: (level, event) => logged.push({ level, event }) },
      events: () => ({
        get: (key, version) => Promise.resolve(world.store.get(key, version)),
        write: async (request): Promise<WriteResult> => {
          writes++;
          const what = fault(request);
          if (what === "fail") throw new Error("reset");
          const result = await world.store.write(request);
          if (what === "loseAnswer") throw new Error("reset");
          return result;
        },
      }),
    },
  );
}

function stored(): CoreEvent[] {
  return [...world.storage.objectScan("", "")].map(({ data }) => JSON.parse(data) as CoreEvent);
}

beforeEach(() => {
  world = new StoreWorld({ definition: eventsDefinition });
  fault = () => undefined;
  writes = 0;
});

describe("EventRecorder", () => {
  it("a report: an event that is valid for events.k8s.io", async () => {
    const events = recorder();
    events.report({ ...report, related: { kind: "IPAddress", name: "10.96.0.9" } });
    await world.scheduler.run(events.flush());
    expect(stored()).toMatchObject([
      {
        metadata: { namespace: "shop", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) as unknown },
        involvedObject: { kind: "Service", apiVersion: "v1", namespace: "shop", name: "web", uid: "uid-1", resourceVersion: "7" },
        related: { kind: "IPAddress", name: "10.96.0.9" },
        type: "Warning",
        reason: "ClusterIPNotAllocated",
        action: "ClusterIPAllocation",
        message: report.note,
        reportingComponent: "repair",
        reportingInstance: "repair-default",
        eventTime: "2023-11-14T22:13:20.000000Z",
        firstTimestamp: null,
        source: {},
      },
    ]);
    expect(stored().flatMap(validateStrictCreate)).toEqual([]);
    expect(stored()[0]?.series).toBeUndefined();
  });

  it("a thousand reports of one problem: one event and few writes", async () => {
    const events = recorder();
    for (let i = 0; i < 1000; i++) {
      events.report(report);
      if (i % 250 === 0) await world.scheduler.pass(1000);
    }
    await world.scheduler.run(events.flush());
    expect(stored()).toHaveLength(1);
    expect(stored()[0]?.series).toEqual({ count: 1000, lastObservedTime: "2023-11-14T22:13:24.000248Z" });
    expect(writes).toBeLessThan(12);
  });

  it("after a restart and a change of the Service: the same event continues", async () => {
    for (const resourceVersion of ["7", "8", "9"]) {
      const events = recorder();
      events.report({ ...report, regarding: { ...report.regarding, resourceVersion } });
      await world.scheduler.run(events.flush());
      await world.scheduler.pass(1000);
    }
    expect(stored().map(({ series }) => series?.count)).toEqual([3]);
  });

  it.each<[string, Partial<EventReport>]>([
    ["note", { note: "another" }],
    ["reason", { reason: "Other" }],
    ["action", { action: "Other" }],
    ["type", { type: "Normal" }],
    ["object", { regarding: { ...report.regarding, uid: "uid-2" } }],
    ["related object", { related: { kind: "IPAddress", name: "10.96.0.9" } }],
  ])("a report with another %s: another event", async (_, other) => {
    const events = recorder();
    events.report(report);
    events.report({ ...report, ...other });
    await world.scheduler.run(events.flush());
    expect(stored()).toHaveLength(2);
  });

  it("the same report of another controller: another event", async () => {
    for (const events of [recorder("a"), recorder("b")]) {
      events.report(report);
      await world.scheduler.run(events.flush());
    }
    expect(stored()).toHaveLength(2);
  });

  it("a lost answer: the report counts once, at creation and in the series", async () => {
    const events = recorder();
    for (let round = 0; round < 2; round++) {
      const seen = new Set<string>();
      fault = ({ verb }) => {
        if (seen.has(verb)) return undefined;
        seen.add(verb);
        return "loseAnswer";
      };
      events.report(report);
      await world.scheduler.run(events.flush());
    }
    expect(stored().map(({ series }) => series?.count)).toEqual([2]);
  });

  it("an event that cannot be written: logged and given up", async () => {
    fault = () => "fail";
    const events = recorder();
    events.report(report);
    await world.scheduler.run(events.flush());
    expect(stored()).toEqual([]);
    expect(world.logged).toEqual([{ level: "warn", event: "an event could not be written" }]);
    fault = () => undefined;
    events.report(report);
    await world.scheduler.run(events.flush());
    expect(stored()).toHaveLength(1);
  });

  it("more events than may wait: dropped with a log line", async () => {
    const events = recorder();
    for (let i = 0; i < 1500; i++) events.report({ ...report, note: `note ${i}` });
    await world.scheduler.run(events.flush());
    expect(stored()).toHaveLength(1000);
    expect(world.logged).toEqual([{ level: "warn", event: "events were dropped" }]);
  });

  it("an object without a namespace: its event is in default; a long note is cut at 1,024 bytes", async () => {
    const events = recorder();
    const regarding = referenceTo(serviceCIDRsDefinition, { metadata: { name: "kubernetes", uid: "u" } });
    events.report({ ...report, regarding, note: "é".repeat(1000) });
    await world.scheduler.run(events.flush());
    expect(stored()).toMatchObject([
      {
        metadata: { namespace: "default" },
        involvedObject: { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", name: "kubernetes" },
        message: "é".repeat(512),
      },
    ]);
  });
});

describe("eventName", () => {
  it.each(["web", "fd00::1", "::1", "10.96.0.9", "", "a".repeat(300), "x.-.y", `${"a".repeat(235)}.b`])(
    "event name of %s: a valid name",
    (regarding) => {
      expect(validateDNS1123Subdomain(eventName(regarding, ["x"]))).toEqual([]);
    },
  );
});
