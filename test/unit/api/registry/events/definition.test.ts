import { describe, expect, it } from "vitest";
import type { CoreEvent, EventsEvent } from "../../../../../src/api/meta/kubernetes";
import { eventsDefinition, eventsGroupEventsDefinition } from "../../../../../src/api/registry/events/definition";
import { validateEvent, validateStrictCreate } from "../../../../../src/api/registry/events/validate";
import { CONTEXT, create, update } from "../outcomes";

const core: CoreEvent = {
  metadata: { name: "e", namespace: "ns" },
  involvedObject: { kind: "Service", namespace: "ns", name: "foo", uid: "u" },
  reason: "R",
  message: "something",
  type: "Normal",
  source: { component: "me", host: "h" },
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:05:00Z",
  count: 3,
};

const newer: EventsEvent = {
  metadata: { name: "e", namespace: "ns" },
  regarding: { kind: "Service", namespace: "ns", name: "foo" },
  eventTime: "2026-01-01T00:00:00.000000Z",
  reportingController: "example.com/me",
  reportingInstance: "me-1",
  action: "Do",
  reason: "R",
  note: "something",
  type: "Normal",
};

describe("core events", () => {
  it.each<[string, Partial<CoreEvent>, (string | RegExp)[]]>([
    ["good", {}, []],
    [
      "another namespace",
      { involvedObject: { namespace: "other" } },
      ['involvedObject.namespace: Invalid value: "other": does not match event.namespace'],
    ],
    [
      "a cluster-scoped object outside default",
      { involvedObject: { name: "n" } },
      ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    ],
    [
      "an eventTime without the new fields",
      { eventTime: "2026-01-01T00:00:00.000000Z", reason: "" },
      [
        "reportingComponent: Required value",
        /^reportingComponent: Invalid value: "": name part must be non-empty/,
        /^reportingComponent: Invalid value: "": name part must consist/,
        "reportingInstance: Required value",
        "action: Required value",
        "reason: Required value",
      ],
    ],
    [
      "an eventTime and new fields that are too long",
      {
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingComponent: "a/b",
        reportingInstance: "i",
        action: "x".repeat(129),
        message: "x".repeat(1025),
      },
      ['action: Invalid value: "": can have at most 128 characters', 'message: Invalid value: "": can have at most 1024 characters'],
    ],
  ])("create, %s: upstream's errors", (_, changes, want) => {
    const got = create(eventsDefinition, { ...core, ...changes }).errors;
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });

  it.each<[string, string, string[]]>([
    ["upper case", "Foo.17A", []],
    ["colons", "a:b", []],
    ["blanks", "a b", []],
    ["letters beyond ASCII", "Änderung", []],
    ["more than 253 characters", "x".repeat(300), []],
    ["a slash", "a/b", ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]],
    ["a percent sign", "a%b", ["metadata.name: Invalid value: \"a%b\": may not contain '%'"]],
    ["two dots", "..", ["metadata.name: Invalid value: \"..\": may not be '..'"]],
  ])("create, a name with %s: only the rule of path segments", (_, name, want) => {
    expect(create(eventsDefinition, { ...core, metadata: { name, namespace: "ns" } }).errors).toEqual(want);
  });

  it("an event of a cluster-scoped object: in default", () => {
    const event: CoreEvent = { ...core, metadata: { name: "e", namespace: "default" }, involvedObject: { kind: "Node", name: "n" } };
    expect(create(eventsDefinition, event, "default").errors).toEqual([]);
  });

  it("the members that upstream always has: present", () => {
    const { source, firstTimestamp, lastTimestamp, ...bare } = core;
    expect([source, firstTimestamp, lastTimestamp].every(Boolean)).toBe(true);
    expect(create(eventsDefinition, bare as CoreEvent).object).toMatchObject({
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: "",
      reportingInstance: "",
    });
    expect(create(eventsDefinition, core).object).toMatchObject(core);
  });

  it("selectable field source: the component, else the reporting controller", () => {
    expect(eventsDefinition.selectableFields(core)).toMatchObject({
      source: "me",
      "involvedObject.kind": "Service",
      "involvedObject.uid": "u",
      type: "Normal",
    });
    expect(eventsDefinition.selectableFields({ ...core, source: {}, reportingComponent: "r" } as CoreEvent)).toMatchObject({
      source: "r",
      reportingComponent: "r",
    });
  });
});

describe("events.k8s.io", () => {
  const { representationOf } = eventsGroupEventsDefinition;
  if (!representationOf) throw new Error("events.k8s.io events are core events");

  it("a new event: stored as a core event", () => {
    expect(representationOf.toStored({ ...newer, deprecatedCount: 2, deprecatedSource: { component: "c" } } as EventsEvent)).toEqual({
      metadata: newer.metadata,
      involvedObject: newer.regarding,
      eventTime: newer.eventTime,
      reportingComponent: "example.com/me",
      reportingInstance: "me-1",
      action: "Do",
      reason: "R",
      message: "something",
      type: "Normal",
      count: 2,
      source: { component: "c" },
      firstTimestamp: null,
      lastTimestamp: null,
    });
  });

  it("a core event: served with the new names, and converted back without loss", () => {
    const served = representationOf.fromStored(core);
    expect(served).toEqual({
      metadata: core.metadata,
      regarding: core.involvedObject,
      note: "something",
      reason: "R",
      type: "Normal",
      deprecatedSource: core.source,
      deprecatedFirstTimestamp: core.firstTimestamp,
      deprecatedLastTimestamp: core.lastTimestamp,
      deprecatedCount: 3,
      eventTime: null,
    });
    expect(representationOf.toStored(served)).toMatchObject(core);
  });

  it("a core event without a reporter: served without one", () => {
    const silent: CoreEvent = { ...core, reportingComponent: "", reportingInstance: "" };
    const served = representationOf.fromStored(silent);
    expect(Object.keys(served)).not.toContain("reportingController");
    expect(Object.keys(served)).not.toContain("reportingInstance");
  });

  it.each([
    { series: {}, shown: { count: 0, lastObservedTime: null } },
    { series: { lastObservedTime: "2026-01-01T00:00:00.000000Z" }, shown: { count: 0, lastObservedTime: "2026-01-01T00:00:00.000000Z" } },
    { series: { count: 3 }, shown: { count: 3, lastObservedTime: null } },
  ])("a core event with the series $series: it has both of its required members", ({ series, shown }) => {
    expect(representationOf.fromStored({ ...core, series } as CoreEvent)).toMatchObject({ series: shown });
  });

  const context = { ...CONTEXT, requestGroup: "events.k8s.io" };
  const stored = (event: EventsEvent): CoreEvent => representationOf.toStored(event) as CoreEvent;
  const series = { count: 2, lastObservedTime: "2026-01-01T00:05:30.000000Z" };

  it.each<[string, Partial<EventsEvent>, string[]]>([
    ["good", {}, []],
    ["with a series", { series }, []],
    ["without an eventTime", { eventTime: undefined }, ["eventTime: Required value"]],
    ["of a third type", { type: "x" }, ['type: Invalid value: "": has invalid value: x']],
    ["without a type", { type: undefined }, ['type: Invalid value: "": has invalid value: ']],
    ["without an action", { action: undefined }, ["action: Required value"]],
    ["without a reason", { reason: "" }, ["reason: Required value"]],
    ["without an instance", { reportingInstance: undefined }, ["reportingInstance: Required value"]],
    [
      "about an object without a namespace",
      { regarding: {} },
      ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    ],
    ["with a long note", { note: "x".repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
    ["with a series of one", { series: { ...series, count: 1 } }, ['series.count: Invalid value: "": should be at least 2']],
    [
      "with a series that says nothing",
      { series: {} as EventsEvent["series"] },
      ['series.count: Invalid value: "": should be at least 2', "series.lastObservedTime: Required value"],
    ],
    ["with a series without a time", { series: { count: 2 } as EventsEvent["series"] }, ["series.lastObservedTime: Required value"]],
    [
      "with the old fields",
      {
        deprecatedFirstTimestamp: "2026-01-01T00:00:00Z",
        deprecatedLastTimestamp: "2026-01-01T00:00:00Z",
        deprecatedCount: 1,
        deprecatedSource: { component: "c" },
      },
      [
        'firstTimestamp: Invalid value: "": needs to be unset',
        'lastTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
  ])("create, %s: upstream's errors", (_, changes, want) => {
    expect(create(eventsDefinition, stored({ ...newer, ...changes } as EventsEvent), "ns", context).errors).toEqual(want);
  });

  const notDNS = (field: string, value: string) =>
    `${field}: Invalid value: "${value}": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`;

  it.each<[string, EventsEvent["metadata"], string[]]>([
    ["upper case in the name", { name: "Foo" }, [notDNS("metadata.name", "Foo")]],
    ["a colon in the name", { name: "a:b" }, [notDNS("metadata.name", "a:b")]],
    ["a prefix that ends with a dash", { name: "a-x1", generateName: "a-" }, []],
    ["upper case in the prefix", { name: "a", generateName: "Abc-" }, [notDNS("metadata.generateName", "Abc-")]],
    ["a name that is no path segment either", { name: "a/b" }, ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]],
  ])("create, %s: a DNS name is needed here", (_, metadata, want) => {
    const event = stored({ ...newer, metadata: { ...metadata, namespace: "ns" } });
    expect(create(eventsDefinition, event, "ns", context).errors.slice(0, want.length || undefined)).toEqual(want);
  });

  it("an event with a name that is none of DNS: its series can be updated", () => {
    const event = { ...newer, metadata: { name: "a:b", namespace: "ns" } };
    expect(update(eventsDefinition, { after: stored({ ...event, series }), before: stored(event) }, context).errors).toEqual([]);
  });

  it.each<[string, Partial<EventsEvent>, string[]]>([
    ["nothing", {}, []],
    ["labels", { metadata: { ...newer.metadata, labels: { a: "b" } } }, []],
    ["the series", { series: { ...series, count: 3 } }, []],
    ["the series to one", { series: { ...series, count: 1 } }, ['series.count: Invalid value: "": should be at least 2']],
    ["the note", { note: "other" }, ['message: Invalid value: "other": field is immutable']],
    ["the type", { type: "Warning" }, ['type: Invalid value: "Warning": field is immutable']],
    [
      "the reporter",
      { reportingController: "example.com/other" },
      ['reportingController: Invalid value: "example.com/other": field is immutable'],
    ],
    ["the old count", { deprecatedCount: 5 }, ["count: Invalid value: 5: field is immutable"]],
    [
      "the object",
      { regarding: { kind: "Service", namespace: "ns", name: "bar" } },
      ['involvedObject: Invalid value: {"kind":"Service","namespace":"ns","name":"bar"}: field is immutable'],
    ],
  ])("update of %s: upstream's errors", (_, changes, want) => {
    const before = stored({ ...newer, metadata: { ...newer.metadata, uid: "uid", resourceVersion: "1" }, series });
    const after = stored({
      ...newer,
      metadata: { ...newer.metadata, uid: "uid", resourceVersion: "1" },
      series,
      ...changes,
    } as EventsEvent);
    if (changes.metadata) after.metadata = { ...before.metadata, ...changes.metadata };
    expect(update(eventsDefinition, { after, before }, context).errors).toEqual(want);
    // the core group keeps its older rules
    expect(update(eventsDefinition, { after, before }).errors).toEqual([]);
  });

  it("selectable fields: the names of events.k8s.io", () => {
    expect(eventsGroupEventsDefinition.selectableFields(newer)).toMatchObject({
      reportingController: "example.com/me",
      "regarding.name": "foo",
    });
  });
});

describe("cells", () => {
  const now = Date.UTC(2026, 0, 1, 0, 6);

  it("a core event: upstream's columns in their order", () => {
    expect(eventsDefinition.cells(core, now)).toEqual(["60s", "Normal", "R", "service/foo", "", "me, h", "something", "6m", 3, "e"]);
  });

  it("a series: its time and count replace those of the event", () => {
    const series = { count: 9, lastObservedTime: "2026-01-01T00:05:30.000000Z" };
    expect(eventsDefinition.cells({ ...core, series } as CoreEvent, now)).toEqual([
      "30s",
      "Normal",
      "R",
      "service/foo",
      "",
      "me, h",
      "something",
      "6m",
      9,
      "e",
    ]);
  });

  it.each<[string, Partial<CoreEvent>, string]>([
    ["component and host", { reportingComponent: "r", reportingInstance: "i" }, "me, h"],
    ["component alone", { source: { component: "me" } }, "me"],
    ["component and instance", { source: { component: "me" }, reportingInstance: "i" }, "me, i"],
    ["controller and instance", { source: {}, reportingComponent: "r", reportingInstance: "i" }, "r, i"],
    ["controller alone", { source: {}, reportingComponent: "r" }, "r"],
    ["nothing", { source: {} }, ""],
  ])("Source of an event with %s: as upstream", (_, changes, want) => {
    expect(eventsDefinition.cells({ ...core, ...changes } as CoreEvent, now)[5]).toBe(want);
  });

  it("Last Seen: the lastTimestamp, else what First Seen says", () => {
    const seen = (changes: Partial<CoreEvent>) => {
      const cells = eventsDefinition.cells({ ...core, ...changes } as CoreEvent, now);
      return [cells[0], cells[7]];
    };
    const eventTime = "2026-01-01T00:03:00.000000Z";
    expect(seen({ eventTime })).toEqual(["60s", "6m"]);
    expect(seen({ eventTime, lastTimestamp: undefined })).toEqual(["6m", "6m"]);
    expect(seen({ eventTime, lastTimestamp: undefined, firstTimestamp: undefined })).toEqual(["3m", "3m"]);
  });

  it("Count: that of the series, even 0; an event without a count happened once", () => {
    const count = (changes: Partial<CoreEvent>) => eventsDefinition.cells({ ...core, ...changes } as CoreEvent, now)[8];
    expect([count({ series: { count: 0 } }), count({ count: 0 }), count({})]).toEqual([0, 1, 3]);
  });

  it("a new event: seen once, at its eventTime", () => {
    expect(eventsGroupEventsDefinition.cells(newer, now)).toEqual([
      "6m",
      "Normal",
      "R",
      "service/foo",
      "",
      "example.com/me, me-1",
      "something",
      "6m",
      1,
      "e",
    ]);
  });
});

it("the rules of an event that says nothing: the name, the time and the type are asked for", () => {
  const empty: CoreEvent = { metadata: {}, involvedObject: {} };
  expect(validateEvent({ ...empty, eventTime: newer.eventTime }, "reportingController").map(({ field }) => field)).toEqual([
    "involvedObject.namespace",
    ...["reportingController", "reportingController", "reportingController"],
    ...["reportingInstance", "action", "reason"],
  ]);
  expect(new Set(validateStrictCreate(empty).map(({ field }) => field))).toEqual(new Set(["metadata.name", "eventTime", "type"]));
});
