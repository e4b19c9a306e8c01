/**
 * Reports to operators what a controller saw and did. The Events have the stored (core) form and the meaning of events.k8s.io/v1;
 * `kubectl events` and `kubectl describe` show them.
 *
 *   const events = new EventRecorder(
 *     { controller: "ipallocator-repair-controller", instance: "ipallocator-repair-controller-default" },
 *     { clock, recorder, events: () => eventsStore(env, cluster) },
 *   );
 *   events.report({ regarding: referenceTo(servicesDefinition, service), type: "Warning", reason: "ClusterIPNotAllocated",
 *     action: "ClusterIPAllocation", note: "Cluster IP [IPv4]: 10.96.0.9 is not allocated; repairing" });
 *   await events.flush();   // at the end of a pass, where the object would otherwise sleep; optional
 *
 * - `report` notes the event and returns; it neither throws nor waits. An event that cannot be written is logged and given up: nothing
 *   depends on it.
 * - Reports with equal object, controller, type, reason, action, note and related object are one event. Its series has their number and
 *   the time of the last one. The name comes from exactly these members, so the next report finds the event, also after a restart.
 * - Retries change nothing: the time of a report, which strictly grows in one recorder, shows whether it has been written.
 * - The event lives in the namespace of the object, `default` where it has none, as upstream.
 */
import { parseJson } from "../../core/encoding/exact-json";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { CoreEvent, KubeObject } from "../meta/kubernetes";
import { utf8Length } from "../../core/encoding/utf8-length";
import type { Status } from "../meta/status";
import type { GetResult, ObjectKey, WriteOptions, WriteRequest, WriteResult } from "../rpc/store";
import { eventName } from "./event-name";

export interface EventReporter {
  /** a qualified name; what `kubectl describe` shows under From */
  controller: string;
  /** the instance of the controller; at most 128 characters */
  instance: string;
}

/** A reference to an object; `referenceTo` makes it from a stored one. */
export type EventSubject = Partial<CoreEvent["involvedObject"]>;

export interface EventReport {
  /** what the event is about; shown by `kubectl describe` of exactly this uid */
  regarding: EventSubject;
  related?: EventSubject;
  type: "Normal" | "Warning";
  /** why, in CamelCase */
  reason: string;
  /** what was done or failed, in CamelCase */
  action: string;
  /** for a human reader; cut off at 1,024 bytes */
  note: string;
}

export interface EventRecorderPorts {
  clock: Clock;
  recorder: Recorder;
  /** the events store, asked for once per call */
  events(): { write(request: WriteRequest): Promise<WriteResult>; get(key: ObjectKey, resourceVersion: string): Promise<GetResult> };
}

interface Pending {
  event: CoreEvent;
  /** micro-times of the first and the newest report that have not been written */
  first: string;
  last: string;
  times: number;
}

/** Distinct events that wait to be written; beyond it new ones are dropped, and that is logged. */
const EVENTS_PENDING_MAX = 1_000;
const WRITTEN_TOGETHER = 32;
/** Attempts to write one event: another writer can be faster, and the store's object can be reset. */
const ATTEMPTS_MAX = 4;
const NOTE_LENGTH_MAX = 1024;
const NAMESPACE_OF_CLUSTER_SCOPED = "default";

export class EventRecorder {
  readonly #pending = new Map<string, Pending>();
  #writing: Promise<void> | undefined;
  #lastMicros = 0;
  #dropped = 0;

  constructor(
    private readonly reporter: EventReporter,
    private readonly ports: EventRecorderPorts,
  ) {}

  /** Notes an event that happens now; it is written soon. */
  report(report: EventReport): void {
    const at = this.#microTime();
    const event = this.#eventOf(report, at);
    const key = `${event.metadata.namespace ?? ""}/${event.metadata.name ?? ""}`;
    const pending = this.#pending.get(key);
    if (pending) {
      pending.times++;
      pending.last = at;
    } else if (this.#pending.size < EVENTS_PENDING_MAX) this.#pending.set(key, { event, first: at, last: at, times: 1 });
    else this.#dropped++;
    this.#writing ??= Promise.resolve()
      .then(() => this.#writeAll())
      .finally(() => {
        this.#writing = undefined;
      });
  }

  /** Resolves when everything reported so far has been written or given up; never rejects. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Rounds run one after another, so this recorder never writes one event twice at the same time. */
  async #writeAll(): Promise<void> {
    while (this.#pending.size > 0) {
      const round = [...this.#pending].slice(0, WRITTEN_TOGETHER);
      for (const [key] of round) this.#pending.delete(key);
      await Promise.all(round.map(([, pending]) => this.#write(pending)));
    }
    if (this.#dropped > 0) this.ports.recorder.log("warn", "events were dropped", { events: this.#dropped });
    this.#dropped = 0;
  }

  async #write(pending: Pending): Promise<void> {
    const { clock, recorder } = this.ports;
    const { reason } = pending.event;
    let why = "";
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        const refusal = await this.#attempt(pending, (call) => withTimeout(clock, RPC_TIMEOUT_MS, call));
        if (!refusal) return;
        why = refusal.message ?? "";
        // Only a conflict with another writer can end differently the next time.
        if (refusal.code !== 409 && refusal.code !== 404) break;
      } catch (error) {
        why = String(error);
      }
    }
    recorder.log("warn", "an event could not be written", { reason: reason ?? "", error: why });
  }

  /** Creates the event, or adds to the series of the one that exists; undefined = written. */
  async #attempt(pending: Pending, answered: <T>(call: Promise<T>) => Promise<T>): Promise<Status | undefined> {
    const { events } = this.ports;
    const key = { namespace: pending.event.metadata.namespace ?? "", name: pending.event.metadata.name ?? "" };
    const object = JSON.stringify(firstEvent(pending));
    const created = await answered(events().write({ verb: "create", namespace: key.namespace, object, options: this.#options() }));
    if (created.ok) return undefined;
    if (created.status.reason !== "AlreadyExists") return created.status;
    const found = await answered(events().get(key, ""));
    if (!found.ok) return found.status;
    const next = countedOn(parseJson(found.object) as CoreEvent, pending);
    if (!next) return undefined;
    const options = this.#options();
    const updated = await answered(events().write({ verb: "update", key, subresource: "", object: JSON.stringify(next), options }));
    return updated.ok ? undefined : updated.status;
  }

  #options(): WriteOptions {
    return {
      dryRun: false,
      fieldManager: this.reporter.controller,
      fieldValidation: "Ignore",
      force: false,
      group: "",
      version: "v1",
    };
  }

  #eventOf({ regarding, related, type, reason, action, note }: EventReport, at: string): CoreEvent {
    const { controller, instance } = this.reporter;
    const message = cutOff(note);
    const identity = [controller, instance, type, reason, action, message, ...identityOf(regarding), ...identityOf(related ?? {})];
    return {
      metadata: {
        name: eventName(regarding.name ?? "", identity),
        namespace: regarding.namespace || NAMESPACE_OF_CLUSTER_SCOPED,
      },
      involvedObject: regarding,
      ...(related ? { related } : {}),
      reason,
      message,
      type,
      action,
      eventTime: at,
      reportingComponent: controller,
      reportingInstance: instance,
    };
  }

  /** Now in RFC 3339 with microseconds, later than any before it. */
  #microTime(): string {
    this.#lastMicros = Math.max(this.ports.clock.now() * 1000, this.#lastMicros + 1);
    const micros = String(this.#lastMicros % 1000).padStart(3, "0");
    return `${new Date(Math.floor(this.#lastMicros / 1000)).toISOString().slice(0, -1)}${micros}Z`;
  }
}

/** The subject of a report about a stored object, which carries neither kind nor apiVersion. */
export function referenceTo(
  { group, versions, kind }: { group: string; versions: readonly string[]; kind: string },
  object: KubeObject,
): EventSubject {
  const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
  const apiVersion = [group, versions[0]].filter(Boolean).join("/");
  return {
    apiVersion,
    kind,
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
}

/** Leaves out the resourceVersion: a problem stays the same problem when its object changes. */
function identityOf({ apiVersion = "", kind = "", namespace = "", name = "", uid = "", fieldPath = "" }: EventSubject): string[] {
  return [apiVersion, kind, namespace, name, uid, fieldPath];
}

function firstEvent({ event, first, last, times }: Pending): CoreEvent {
  return { ...event, eventTime: first, ...(times > 1 ? { series: { count: times, lastObservedTime: last } } : {}) };
}

/** The stored event with the pending reports added; undefined = they are already in it: the answer of an earlier attempt was lost. */
function countedOn(stored: CoreEvent, { last, times }: Pending): CoreEvent | undefined {
  if ((stored.series?.lastObservedTime ?? stored.eventTime) === last) return undefined;
  return { ...stored, series: { count: (stored.series?.count ?? 1) + times, lastObservedTime: last } };
}

function cutOff(note: string): string {
  let text = note.slice(0, NOTE_LENGTH_MAX);
  while (utf8Length(text) > NOTE_LENGTH_MAX) text = text.slice(0, -1);
  return text;
}
