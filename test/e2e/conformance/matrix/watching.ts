/** Conventions of watches. */
import { expect } from "vitest";
import { MERGE_PATCH, brief } from "../../../support/clients/api";
import type { Body, WatchEvent } from "../../../support/clients/api";
import type { Check, Subject } from "./subject";

const INITIAL_END = "k8s.io/initial-events-end";

function relabel(subject: Subject, name: string, labels: Record<string, string | null>): Promise<Body> {
  return subject.api.must("PATCH", subject.path(name), { body: { metadata: { labels } }, headers: { "Content-Type": MERGE_PATCH } });
}

async function newest(subject: Subject): Promise<string> {
  return (await subject.api.must("GET", subject.collection(), { query: { limit: "1" } })).metadata?.resourceVersion ?? "";
}

/** Without repeats: controllers may change an object once more than the test does. */
function turns(events: readonly WatchEvent[]): string[] {
  return brief(events).filter((line, i, all) => line !== all[i - 1]);
}

const fromVersion: Check = async (subject) => {
  const { api, definition } = subject;
  const before = await subject.create({ labels: { suite: "watch" } });
  const resourceVersion = await newest(subject);
  const watch = await api.watch(subject.collection(), { resourceVersion, labelSelector: "suite=watch" });
  try {
    const { name } = (await subject.create({ labels: { suite: "watch" } })).metadata;
    await relabel(subject, name, { more: "1" });
    await api.remove(subject.path(name));
    const events: WatchEvent[] = [];
    while (events.at(-1)?.type !== "DELETED") events.push(...(await watch.take(1)));
    expect(turns(events)).toEqual([`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]);
    expect(new Set(events.map(({ object }) => `${object.kind ?? ""} ${object.apiVersion ?? ""}`))).toEqual(
      new Set([`${definition.kind} ${subject.groupVersion}`]),
    );
    const versions = events.map(({ object }) => BigInt(object.metadata?.resourceVersion ?? 0));
    expect(versions.every((version, i) => version > (versions[i - 1] ?? BigInt(resourceVersion)))).toBe(true);
    // the same again from the past, and what is there when none is named
    const again = await api.watch(subject.collection(), { resourceVersion, labelSelector: "suite=watch" });
    expect(await again.take(events.length)).toEqual(events);
    again.close();
    const fresh = await api.watch(subject.collection(), { labelSelector: "suite=watch" });
    expect(brief(await fresh.take(1))).toEqual([`ADDED ${before.metadata.name}`]);
    fresh.close();
  } finally {
    watch.close();
  }
};

const representations: Check = async (subject) => {
  const { api, definition } = subject;
  const query = { resourceVersion: await newest(subject), labelSelector: "suite=forms" };
  const accept = (kind: string) => ({ Accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` });
  const tables = await api.watch(subject.collection(), query, accept("Table"));
  const partials = await api.watch(subject.collection(), query, accept("PartialObjectMetadata"));
  try {
    const { name } = (await subject.create({ labels: { suite: "forms" } })).metadata;
    await relabel(subject, name, { more: "1" });
    const [first, second] = await tables.take(2);
    expect([first?.object.kind, second?.object.kind]).toEqual(["Table", "Table"]);
    expect((first?.object["columnDefinitions"] as unknown[]).length).toBe(definition.columns.length);
    expect(second?.object["columnDefinitions"]).toBeNull();
    expect((second?.object["rows"] as { cells: unknown[] }[])[0]?.cells.length).toBe(definition.columns.length);
    const [event] = await partials.take(1);
    expect([event?.type, event?.object.kind, event?.object.metadata?.name]).toEqual(["ADDED", "PartialObjectMetadata", name]);
    expect(Object.keys(event?.object ?? {}).sort()).toEqual(["apiVersion", "kind", "metadata"]);
  } finally {
    tables.close();
    partials.close();
  }
};

const bookmarks: Check = async (subject) => {
  const { api, definition } = subject;
  const resourceVersion = await newest(subject);
  const query = { resourceVersion, timeoutSeconds: "3", labelSelector: "suite=bookmarks" };
  const [withThem, without] = await Promise.all([
    api.watch(subject.collection(), { ...query, allowWatchBookmarks: "true" }).then((watch) => watch.rest()),
    api.watch(subject.collection(), query).then((watch) => watch.rest()),
  ]);
  expect(without).toEqual([]);
  expect(withThem.map(({ type }) => type)).toEqual(expect.arrayContaining(["BOOKMARK"]));
  const object = withThem[0]?.object;
  expect(object).toMatchObject({ kind: definition.kind, apiVersion: subject.groupVersion });
  expect(BigInt(object?.metadata?.resourceVersion ?? 0)).toBeGreaterThanOrEqual(BigInt(resourceVersion));
};

/** A clean end of the body: what came before it is whole, and the next watch goes on. */
const timeout: Check = async (subject) => {
  const { api } = subject;
  const { name } = (await subject.create({ labels: { suite: "timeout" } })).metadata;
  const watch = await api.watch(subject.collection(), { timeoutSeconds: "1", labelSelector: "suite=timeout" });
  expect(brief(await watch.rest())).toEqual([`ADDED ${name}`]);
  const refused = await api.get(subject.collection(), { watch: "true", timeoutSeconds: "soon" });
  expect([refused.code, refused.body.message]).toEqual([400, 'strconv.ParseInt: parsing "soon": invalid syntax']);
};

const streamingList: Check = async (subject) => {
  const { api, definition } = subject;
  const made: string[] = [];
  for (let i = 0; i < 3; i++) made.push((await subject.create({ labels: { suite: "streaming" } })).metadata.name);
  const query = { labelSelector: "suite=streaming", allowWatchBookmarks: "true", sendInitialEvents: "true" };
  const watch = await api.watch(subject.collection(), { ...query, resourceVersionMatch: "NotOlderThan" });
  try {
    const initial = await watch.take(3);
    const list = await api.must("GET", subject.collection(), { query: { labelSelector: "suite=streaming" } });
    const bare = initial.map(({ object: { kind: _kind, apiVersion: _apiVersion, ...object } }) => object);
    expect(bare).toEqual(list.items);
    const [end] = await watch.take(1);
    expect([end?.type, end?.object.kind, end?.object.metadata?.annotations?.[INITIAL_END]]).toEqual(["BOOKMARK", definition.kind, "true"]);
    const { name } = (await subject.create({ labels: { suite: "streaming" } })).metadata;
    expect(brief(await watch.take(1))).toEqual([`ADDED ${name}`]);
  } finally {
    watch.close();
  }
  const refused = await api.get(subject.collection(), { watch: "true", ...query });
  expect([refused.code, refused.body.message]).toEqual([
    422,
    expect.stringContaining("resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
  ]);
};

const transitions: Check = async (subject) => {
  const { api } = subject;
  const watch = await api.watch(subject.collection(), { resourceVersion: await newest(subject), labelSelector: "suite=transitions" });
  try {
    const { name } = (await subject.create({ labels: { suite: "transitions", step: "1" } })).metadata;
    await relabel(subject, name, { suite: "elsewhere", step: "2" });
    await relabel(subject, name, { step: "3" });
    await relabel(subject, name, { suite: "transitions", step: "4" });
    const events: WatchEvent[] = [];
    while (events.at(-1)?.object.metadata?.labels?.["step"] !== "4") events.push(...(await watch.take(1)));
    expect(turns(events).map((line) => line.split(" ")[0])).toEqual(
      events.some(({ type }) => type === "MODIFIED") ? ["ADDED", "MODIFIED", "DELETED", "ADDED"] : ["ADDED", "DELETED", "ADDED"],
    );
    const gone = events.find(({ type }) => type === "DELETED");
    expect(gone?.object.metadata?.labels).toEqual(expect.objectContaining({ suite: "transitions", step: "1" }));
  } finally {
    watch.close();
  }
};

const webSocket: Check = async (subject) => {
  const query = new URLSearchParams({ watch: "true", resourceVersion: await newest(subject), labelSelector: "suite=socket" });
  const address = `${subject.api.url().replace("http", "ws")}${subject.collection()}?${query.toString()}`;
  const socket = new WebSocket(address);
  const messages: WatchEvent[] = [];
  const opened = new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no WebSocket at ${address}`));
  });
  socket.onmessage = ({ data }) => messages.push(JSON.parse(data as string) as WatchEvent);
  await opened;
  const { name } = (await subject.create({ labels: { suite: "socket" } })).metadata;
  await subject.api.remove(subject.path(name));
  await subject.api.until(() => Promise.resolve(messages.at(-1)?.type === "DELETED"), "the socket tells of the deletion");
  expect(turns(messages).filter((line) => !line.startsWith("MODIFIED"))).toEqual([`ADDED ${name}`, `DELETED ${name}`]);
  socket.close();
};

export const watching = {
  "watch from a resourceVersion": fromVersion,
  "watch as Table and as PartialObjectMetadata": representations,
  bookmarks,
  "timeoutSeconds ends a watch": timeout,
  "streaming list (sendInitialEvents)": streamingList,
  "watch: the selector stops and starts to match": transitions,
  "watch over WebSocket": webSocket,
} satisfies Record<string, Check>;
