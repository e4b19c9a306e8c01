/**
 * events.k8s.io/v1 Event: core events in their newer form (k8s.io/api events/v1, v0.36).
 */
import { EventSource } from "./core-events";
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "../meta";
import { always, int32, kind, message, microTime, plain, pointer, ref, required, string, time } from "../dsl";
import type { MessageSchema } from "../types";

const EventsEventSeries: MessageSchema = message(
  "io.k8s.api.events.v1.EventSeries",
  {
    count: required(1, int32, "How often the event has happened up to lastObservedTime."),
    lastObservedTime: required(2, microTime, "When the event was last seen."),
  },
  { description: "Repetitions of one event." },
);

export const EventsEventSchema: MessageSchema = kind("io.k8s.api.events.v1.Event", "A report of something that happened to an object.", {
  metadata: always(1, ref(ObjectMeta), "Metadata; the namespace agrees with that of the object that the event is about."),
  eventTime: required(2, microTime, "When the event was first seen; an event that has it follows the rules of events.k8s.io."),
  series: pointer(3, ref(EventsEventSeries), "Repetitions of the event; absent for one that happened once."),
  reportingController: plain(4, string, "Name of the controller that reported the event, for example kubernetes.io/kubelet."),
  reportingInstance: plain(5, string, "Which instance of the controller reported it."),
  action: plain(6, string, "What the reporter did, or what failed."),
  reason: plain(7, string, "Why it happened, one word in CamelCase."),
  regarding: plain(8, ref(ObjectReference), "The object that the event is about."),
  related: pointer(9, ref(ObjectReference), "A second object that the event has to do with."),
  note: plain(10, string, "What happened, for a human reader; at most 1,024 bytes."),
  type: plain(11, string, "Normal or Warning."),
  deprecatedSource: plain(12, ref(EventSource), "The source of the core form of the event."),
  deprecatedFirstTimestamp: plain(13, time, "The firstTimestamp of the core form of the event."),
  deprecatedLastTimestamp: plain(14, time, "The lastTimestamp of the core form of the event."),
  deprecatedCount: plain(15, int32, "The count of the core form of the event."),
});
