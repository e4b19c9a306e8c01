/**
 * events.k8s.io/v1 Event: core events in their newer form (k8s.io/api events/v1, v0.36).
 */
import { EventSource } from "./core-events";
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "./meta";
import { always, int32, kind, message, microTime, plain, pointer, ref, required, string, time } from "./dsl";
import type { MessageSchema } from "./types";

const EventsEventSeries: MessageSchema = message("io.k8s.api.events.v1.EventSeries", {
  count: required(1, int32),
  lastObservedTime: required(2, microTime),
});

export const EventsEventSchema: MessageSchema = kind("io.k8s.api.events.v1.Event", "A report of something that happened to an object.", {
  metadata: always(1, ref(ObjectMeta)),
  eventTime: required(2, microTime),
  series: pointer(3, ref(EventsEventSeries)),
  reportingController: plain(4, string),
  reportingInstance: plain(5, string),
  action: plain(6, string),
  reason: plain(7, string),
  regarding: plain(8, ref(ObjectReference)),
  related: pointer(9, ref(ObjectReference)),
  note: plain(10, string),
  type: plain(11, string),
  deprecatedSource: plain(12, ref(EventSource)),
  deprecatedFirstTimestamp: plain(13, time),
  deprecatedLastTimestamp: plain(14, time),
  deprecatedCount: plain(15, int32),
});
