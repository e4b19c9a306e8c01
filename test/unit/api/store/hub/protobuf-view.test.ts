import { describe, expect, it } from "vitest";
import { decodeBase64 } from "../../../../../src/core/encoding/base64";
import { definitionOf, definitions } from "../../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../../src/api/registry/resource";
import type { CollectionRequest, AnswerForm } from "../../../../../src/api/rpc/store";
import { listPage } from "../../../../../src/api/store/list/list-page";
import { FrameBuffer } from "../../../../../src/api/store/hub/frame-buffer";
import { WATCH_BOOKMARK_INTERVAL_MS } from "../../../../../src/api/store/state/limits";
import { decodeJson } from "../../../../../src/api/schema/json/decode-json";
import { errorEvent, viewOf } from "../../../../../src/api/store/hub/view-of";
import { expired } from "../../../../../src/api/meta/status";
import { readList } from "../../../../support/values/list-body";
import { type ProtobufEvent, readFrames, readProtobuf } from "../../../../support/values/protobuf-answers";
import { aLease, collectionRequest, StoreWorld, type Watched } from "../../../../support/worlds/store-world";
import { RandomHistory, SELECTIONS } from "../../../../support/worlds/random-store-history";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../../support/sim/platform/seeds";
import { RandomValues } from "../../schema/random-values";

const OBJECT: AnswerForm = { as: "object" };
const PARTIAL: AnswerForm = { as: "partial", version: "v1" };
const protobuf = { encoding: "protobuf" } as const;

function eventsOf(watch: Watched): ProtobufEvent[] {
  const buffer = new FrameBuffer();
  for (const chunk of watch.chunks) buffer.add(chunk);
  const { events, rest } = readFrames(buffer.take());
  expect(rest.length).toBe(0);
  return events;
}

interface Metadata {
  name?: string;
  resourceVersion?: string;
  annotations?: Record<string, string>;
}

const metadataOf = ({ object }: ProtobufEvent): Metadata => object["metadata"] as Metadata;
const brief = (event: ProtobufEvent): string => `${event.type} ${metadataOf(event).name ?? ""}@${metadataOf(event).resourceVersion ?? ""}`;

async function worldOf(...created: string[]): Promise<StoreWorld> {
  const world = new StoreWorld();
  for (const name of created) await world.create(aLease(name, { holderIdentity: `holder of ${name}` }, { labels: { color: "red" } }));
  return world;
}

describe("lists in protobuf", () => {
  const lists = (world: StoreWorld, request: Partial<CollectionRequest>) =>
    [{}, protobuf].map((encoding) => {
      const page = listPage(world.store, collectionRequest(world.definition, { ...request, ...encoding }), world.definition);
      return page.ok ? readList(page.value) : page.error;
    });

  it.each([
    ["objects", { representation: OBJECT }],
    ["metadata alone", { representation: PARTIAL }],
    ["a page", { representation: OBJECT, limit: 2 }],
    ["a page of metadata", { representation: PARTIAL, limit: 2 }],
    ["nothing", { representation: OBJECT, namespace: "empty" }],
    ["a selector", { representation: OBJECT, labelSelector: "color=red" }],
    ["a selector that cannot be read", { representation: OBJECT, labelSelector: "a b" }],
  ])("%s: the same as in JSON", async (_, request) => {
    const [json, decoded] = lists(await worldOf("a", "b", "c"), request);
    const items = (json as { items?: Record<string, unknown>[] }).items;
    // items of a list carry no type in protobuf
    if (items) for (const item of items) for (const name of ["kind", "apiVersion"]) delete item[name];
    expect(decoded).toEqual(json);
  });

  it.each(definitions.flatMap((definition) => definition.versions.map((version) => [definition.kind, version, definition] as const)))(
    "%s %s: random objects come back",
    (_, version, definition: ResourceDefinition) => {
      const values = new RandomValues(seededRandom(11));
      const stored = Array.from({ length: 20 }, () => JSON.stringify(values.message(storedSchemaOf(definition))));
      const [json, decoded] = [{}, protobuf].map((encoding) => {
        const view = viewOf(definition, { version, representation: OBJECT, ...encoding }, () => 0);
        return readList({ form: view.list({ resourceVersion: "1" }), begun: { rows: stored, keys: [], revisions: [] } });
      });
      const items = (json?.["items"] as object[]).map((item) => normal(item, definition.schema));
      expect(decoded).toEqual({ ...json, items });
    },
  );

  it("a Table: stays JSON", async () => {
    const world = await worldOf("a");
    const table = { representation: { as: "table", includeObject: "None", version: "v1" }, ...protobuf } as const;
    const page = listPage(world.store, collectionRequest(world.definition, table), world.definition);
    expect(page.ok && page.value.form.encoding).toBe("json");
  });
});

/** Without members that say nothing, which the conversion of random events leaves. */
function normal(item: object, schema: ResourceDefinition["schema"]): unknown {
  const decoded = decodeJson(JSON.stringify(item), schema);
  return decoded.ok ? decoded.value.value : decoded.error;
}

/** Of events in two groups, and of claims in two versions, one form is stored. */
function storedSchemaOf({ representationOf, schema }: ResourceDefinition): ResourceDefinition["schema"] {
  return representationOf ? (definitionOf(representationOf.group, representationOf.resource)?.schema ?? schema) : schema;
}

describe("watches in protobuf", () => {
  const initial = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true } as const;

  it.each<[string, AnswerForm, string, string]>([
    ["objects", OBJECT, "Lease", "coordination.k8s.io/v1"],
    ["metadata alone", PARTIAL, "PartialObjectMetadata", "meta.k8s.io/v1"],
  ])("%s: initial events, their bookmark with an empty list, then changes", async (_, representation, kind, apiVersion) => {
    const world = await worldOf("a");
    const watch = world.watch({ ...initial, ...protobuf, representation });
    await world.create(aLease("b"));
    await world.delete("a");
    await world.scheduler.pass(0);
    const events = eventsOf(watch);
    expect(events.map(brief)).toEqual(["ADDED a@2", "BOOKMARK @2", "ADDED b@3", "DELETED a@4"]);
    for (const { object } of events) expect(object).toMatchObject({ kind, apiVersion });
    expect("spec" in (events[0]?.object ?? {})).toBe(representation.as === "object");
    const annotations = events[1] && metadataOf(events[1]).annotations;
    expect(annotations?.["k8s.io/initial-events-end"]).toBe("true");
    const blueprint = decodeBase64(annotations?.["kubernetes.io/initial-events-list-blueprint"] ?? "");
    expect(blueprint && readProtobuf(blueprint)).toEqual({ kind: `${kind}List`, apiVersion, metadata: {}, items: [] });
  });

  it("bookmarks: come as frames", async () => {
    const world = await worldOf("a");
    const watch = world.watch({ allowWatchBookmarks: true, resourceVersion: "2", ...protobuf });
    await world.scheduler.pass(WATCH_BOOKMARK_INTERVAL_MS + 1_000);
    expect(eventsOf(watch)).toEqual([
      { type: "BOOKMARK", object: { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: { resourceVersion: "2" }, spec: {} } },
    ]);
  });

  it("a revision before the history: the ERROR event has a Status", () => {
    const status = expired("too old resource version: 1 (5)");
    const { events } = readFrames(errorEvent(status, "protobuf") as Uint8Array);
    expect(events).toEqual([{ type: "ERROR", object: status }]);
  });

  it("watchers of one cohort: share the bytes of a change; those of another encoding have their own", async () => {
    const world = await worldOf();
    const [first, second] = [0, 1].map(() => world.watch({ resourceVersion: "1", ...protobuf }));
    const json = world.watch({ resourceVersion: "1" });
    const partial = world.watch({ resourceVersion: "1", representation: PARTIAL, ...protobuf });
    await world.create(aLease("a"));
    await world.scheduler.pass(0);
    expect(first?.chunks).toHaveLength(1);
    expect(second?.chunks[0]).toBe(first?.chunks[0]);
    expect(json.brief).toEqual(["ADDED a@2"]);
    expect(eventsOf(partial).map(brief)).toEqual(["ADDED a@2"]);
  });

  it("random histories: the watch in protobuf tells what the watch in JSON tells", () =>
    playEach(seedsOf(histories(20)), async (seed) => {
      const history = new RandomHistory(seed);
      const { world } = history;
      await history.steps(20);
      const pairs = SELECTIONS.map(({ request }) => [world.watch(request), world.watch({ ...request, ...protobuf })] as const);
      await history.steps(20);
      await world.scheduler.pass(0);
      for (const [json, decoded] of pairs) expect(eventsOf(decoded).map(brief)).toEqual(json.brief);
    }));
});
