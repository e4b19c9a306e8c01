/** A client that watches a simulated store through the Worker, comes again where its watch ends, and is judged by the store's history. */
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import type { CollectionRequest } from "../../../../src/api/rpc/store";
import type { HistoryEntry } from "../../../../src/api/store/state/store-storage";
import { SimClient } from "../../relay/relay-world";

interface Seen {
  type: string;
  /** as the store names it */
  key: string;
  revision: number;
  code?: number | undefined;
}

/** One watch of a client, from its first byte to its end. */
export class WatchSession extends SimClient {
  readonly seen: Seen[] = [];
  /** A revision up to which the client has everything; undefined = it has not got all objects yet. */
  place: number | undefined;

  /** `since`: the changes after it are asked for; undefined = the objects first. `over` is called once. */
  constructor(
    readonly since: number | undefined,
    private readonly over: () => void,
  ) {
    super();
    this.place = since;
  }

  override write(bytes: Uint8Array): void {
    if (this.state === "open" && !this.isGone) this.#read(bytes);
    super.write(bytes);
  }

  override end(): void {
    this.#ended("ended");
  }

  override abort(): void {
    this.#ended("aborted");
  }

  #ended(state: "ended" | "aborted"): void {
    if (this.state !== "open") return;
    this.state = state;
    this.over();
  }

  #read(bytes: Uint8Array): void {
    for (const line of new TextDecoder().decode(bytes).split("\n")) {
      if (line === "") continue;
      const { type, object } = JSON.parse(line) as { type: string; object: KubeObject & { code?: number } };
      const { name = "", namespace, resourceVersion } = object.metadata ?? {};
      const revision = Number(resourceVersion ?? 0);
      this.seen.push({ type, key: namespace ? `${namespace}/${name}` : name, revision, code: object.code });
      if (type !== "ERROR" && (this.place !== undefined || type === "BOOKMARK")) this.place = revision;
    }
  }
}

export class SimWatcher {
  readonly sessions: WatchSession[] = [];
  /** it has left, and does not come again */
  isOver = false;

  /** `namespace`: what is there alone; "" = everything */
  constructor(readonly namespace: string) {}

  get session(): WatchSession | undefined {
    return this.sessions.at(-1);
  }

  /** From where the next watch goes on. */
  get place(): number | undefined {
    return this.sessions.at(-1)?.place;
  }

  request(timeoutSeconds: number): Partial<CollectionRequest> {
    const { place, namespace } = this;
    return {
      verb: "watch",
      namespace,
      allowWatchBookmarks: true,
      timeoutSeconds,
      ...(place === undefined ? {} : { resourceVersion: String(place) }),
    };
  }

  /** What does not hold, by every change that the store has ever made. `isAtRest`: whoever watches has all of it. */
  problems(history: readonly HistoryEntry[]): string[] {
    const prefix = this.namespace === "" ? "" : `${this.namespace}/`;
    const wanted = history.filter(({ key }) => key.startsWith(prefix));
    return this.sessions.flatMap((session) => problemsOf(session, wanted, session === this.session && !this.isOver));
  }
}

function problemsOf(session: WatchSession, wanted: readonly HistoryEntry[], isOpen: boolean): string[] {
  const seen = [...session.seen];
  let start = session.since;
  if (start === undefined) {
    const end = seen.findIndex(({ type }) => type === "BOOKMARK");
    if (end < 0) return isOpen ? ["I5: a watch that has not all objects at rest"] : [];
    start = seen[end]?.revision ?? 0;
    const listed = seen.splice(0, end + 1).slice(0, -1);
    const [has, is] = [objectsAt(wanted, start), listed.map(({ key, revision }) => `${key}@${String(revision)}`).sort()];
    if (has.join() !== is.join()) return [`I5: a watch begins at ${String(start)} with ${is.join()}, not ${has.join()}`];
  }
  const after = start;
  const due = wanted.filter(({ revision }) => revision > after);
  let at = 0;
  for (const { type, key, revision, code } of seen) {
    const next = due[at];
    if (type === "ERROR") return [`I5: a watch from ${String(start)} ends with ${String(code)}, and the history reaches back`];
    if (type === "BOOKMARK") {
      if (next && next.revision <= revision) return [`I5: a bookmark at ${String(revision)} before the change of ${String(next.revision)}`];
    } else if (next?.revision !== revision || next.type !== type || next.key !== key) {
      const instead = next ? `${next.type} ${next.key}@${String(next.revision)}` : "nothing";
      return [`I5: a watch from ${String(start)} is told ${type} ${key}@${String(revision)} instead of ${instead}`];
    } else at++;
  }
  const missing = due.length - at;
  return isOpen && missing > 0
    ? [`I5: a watch from ${String(start)} misses ${String(missing)} changes at rest, the first of ${String(due[at]?.revision)}`]
    : [];
}

function objectsAt(history: readonly HistoryEntry[], last: number): string[] {
  const there = new Map<string, number>();
  for (const { revision, type, key } of history) {
    if (revision > last) break;
    if (type === "DELETED") there.delete(key);
    else there.set(key, revision);
  }
  return [...there].map(([key, revision]) => `${key}@${String(revision)}`).sort();
}
