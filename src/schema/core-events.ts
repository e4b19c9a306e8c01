/**
 * core/v1 Event (k8s.io/api core/v1, v0.36).
 */
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "./meta";
import { always, int32, kind, message, microTime, plain, pointer, ref, required, string, time } from "./dsl";
import type { MessageSchema } from "./types";

export const EventSource: MessageSchema = message("io.k8s.api.core.v1.EventSource", {
  component: plain(1, string),
  host: plain(2, string),
});

const EventSeries: MessageSchema = message("io.k8s.api.core.v1.EventSeries", {
  count: plain(1, int32),
  lastObservedTime: plain(2, microTime),
});

export const CoreEventSchema: MessageSchema = kind("io.k8s.api.core.v1.Event", "A report of something that happened to an object.", {
  metadata: required(1, ref(ObjectMeta)),
  involvedObject: required(2, ref(ObjectReference)),
  reason: plain(3, string),
  message: plain(4, string),
  source: plain(5, ref(EventSource)),
  firstTimestamp: plain(6, time),
  lastTimestamp: plain(7, time),
  count: plain(8, int32),
  type: plain(9, string),
  eventTime: plain(10, microTime),
  series: pointer(11, ref(EventSeries)),
  action: plain(12, string),
  related: pointer(13, ref(ObjectReference)),
  reportingComponent: always(14, string),
  reportingInstance: always(15, string),
});
