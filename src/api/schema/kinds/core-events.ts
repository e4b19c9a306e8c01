/**
 * core/v1 Event (k8s.io/api core/v1, v0.36).
 */
import { ObjectReference } from "./core-references";
import { ObjectMeta } from "../meta";
import { always, int32, kind, message, microTime, plain, pointer, ref, required, string, time } from "../dsl";
import type { MessageSchema } from "../types";

export const EventSource: MessageSchema = message(
  "io.k8s.api.core.v1.EventSource",
  {
    component: plain(1, string, "Component that reported the event."),
    host: plain(2, string, "Node on which the component runs."),
  },
  { description: "Who reported an event, in the older form." },
);

const EventSeries: MessageSchema = message(
  "io.k8s.api.core.v1.EventSeries",
  {
    count: plain(1, int32, "How often the event has happened up to lastObservedTime."),
    lastObservedTime: plain(2, microTime, "When the event was last seen."),
  },
  { description: "Repetitions of one event." },
);

export const CoreEventSchema: MessageSchema = kind("io.k8s.api.core.v1.Event", "A report of something that happened to an object.", {
  metadata: required(1, ref(ObjectMeta), "Metadata; the namespace agrees with that of the object that the event is about."),
  involvedObject: required(2, ref(ObjectReference), "The object that the event is about."),
  reason: plain(3, string, "Why it happened, one word in CamelCase."),
  message: plain(4, string, "What happened, for a human reader."),
  source: plain(5, ref(EventSource), "Component that reported the event."),
  firstTimestamp: plain(6, time, "When the event was first recorded."),
  lastTimestamp: plain(7, time, "When the event was last recorded."),
  count: plain(8, int32, "How often the event has happened."),
  type: plain(9, string, "Normal or Warning."),
  eventTime: plain(10, microTime, "When the event was first seen; an event that has it follows the rules of events.k8s.io."),
  series: pointer(11, ref(EventSeries), "Repetitions of the event; absent for one that happened once."),
  action: plain(12, string, "What the reporter did, or what failed."),
  related: pointer(13, ref(ObjectReference), "A second object that the event has to do with."),
  reportingComponent: always(14, string, "Name of the controller that reported the event, for example kubernetes.io/kubelet."),
  reportingInstance: always(15, string, "Which instance of the controller reported it."),
});
