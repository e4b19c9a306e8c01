/** Columns of events (upstream pkg/printers/internalversion/printers.go). */
import { ageSince } from "../age";
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
  column("Count", "How often it happened.", "wide"),
  { ...column("Name", "Name of the event.", "wide"), format: "name" },
];

export function sourceOf(event: CoreEvent): string {
  return event.source?.component || event.reportingComponent || "";
}

/** Controller and instance of the newer fields stand in for a component and a host that are not named. */
function sourceCell(event: CoreEvent): string {
  const instance = event.source?.host || event.reportingInstance;
  return instance ? `${sourceOf(event)}, ${instance}` : sourceOf(event);
}

/** A series overrides the time last seen and the count. */
export function eventCells(event: CoreEvent, now: number): Cell[] {
  const first = event.firstTimestamp || event.eventTime;
  const last = event.series ? event.series.lastObservedTime : event.lastTimestamp || first;
  const count = event.series ? (event.series.count ?? 0) : event.count || 1;
  const { kind = "", name = "", fieldPath = "" } = event.involvedObject ?? {};
  return [
    ageSince(last, now),
    event.type ?? "",
    event.reason ?? "",
    name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase(),
    fieldPath,
    sourceCell(event),
    (event.message ?? "").trim(),
    ageSince(first, now),
    count,
    event.metadata?.name ?? "",
  ];
}
