/** Columns of events (upstream pkg/printers/internalversion/printers.go). */
import { ageSince } from "../../meta/age";
import type { CoreEvent } from "../../meta/kubernetes";
import { column } from "../common-columns";
import type { Cell, ColumnDefinition } from "../resource";

export const EVENT_COLUMNS: readonly ColumnDefinition[] = [
  column("Last Seen", "Time since the event was last reported."),
  column("Type", "Normal or Warning."),
  column("Reason", "Why it happened, in one word."),
  column("Object", "The object that the event is about."),
  column("Subobject", "The part of the object that the event is about.", "wide"),
  column("Source", "Who reported the event.", "wide"),
  column("Message", "What happened."),
  column("First Seen", "Time since the event was first reported.", "wide"),
  { ...column("Count", "How often it happened.", "wide"), type: "integer" },
  { ...column("Name", "Name of the event.", "wide"), format: "name" },
];

export function sourceOf(event: CoreEvent): string {
  return event.source?.component || event.reportingComponent || "";
}

/** A series overrides the time last seen and the count. */
export function eventCells(event: CoreEvent, now: number): Cell[] {
  const first = event.firstTimestamp || event.eventTime;
  const last = event.series ? event.series.lastObservedTime : event.lastTimestamp || event.eventTime || first;
  const count = (event.series ? event.series.count : event.count) || 1;
  const { kind = "", name = "", fieldPath = "" } = event.involvedObject ?? {};
  const source = [sourceOf(event), event.source?.host].filter(Boolean).join(", ");
  return [
    ageSince(last, now),
    event.type ?? "",
    event.reason ?? "",
    name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase(),
    fieldPath,
    source,
    (event.message ?? "").trim(),
    ageSince(first, now),
    count,
    event.metadata?.name ?? "",
  ];
}
