/**
 * Events about what a controller cannot use, each told once for as long as it holds. What was told is a row, so that a controller that wakes up does not
 * tell it again.
 */
import type { EventReport, EventSubject } from "../../api/events/event-recorder";
import type { ObjectEvent } from "../sources/object-event";
import type { KeptRows } from "../../controllers/followed/kept-rows";

const KIND = "told";
/** Events that are held for one Service at a time. A row holds 2 MB, and nobody reads 20,000 events about Pods whose Nodes are not there. */
const HELD_MAX = 100;

export class ToldEvents {
  /** @param action what the controller does, in CamelCase */
  constructor(
    private readonly rows: Pick<KeptRows, "get" | "put" | "delete">,
    private readonly events: { report(event: EventReport): void },
    private readonly action: string,
  ) {}

  /** All that hold now for the Service of this key: those are told that did not hold at the last look. Only the first HELD_MAX count. */
  tellOnce(key: string, regarding: EventSubject, all: readonly ObjectEvent[]): void {
    const events = all.slice(0, HELD_MAX);
    const before = this.#toldOf(key);
    const textOf = ({ note }: ObjectEvent): string => `${regarding.uid ?? ""} ${note}`;
    const texts = events.map(textOf);
    if (texts.length === before.length && texts.every((text) => before.includes(text))) return;
    this.tell(
      regarding,
      events.filter((event) => !before.includes(textOf(event))),
    );
    if (texts.length === 0) this.rows.delete(KIND, key);
    else this.rows.put(KIND, key, texts);
  }

  tell(regarding: EventSubject, events: readonly ObjectEvent[]): void {
    for (const { type, reason, note } of events) this.events.report({ regarding, type, reason, action: this.action, note });
  }

  forget(key: string): void {
    if (this.#toldOf(key).length > 0) this.rows.delete(KIND, key);
  }

  /** Uid and note of each event, since another object of the name has not had it. */
  #toldOf(key: string): readonly string[] {
    return this.rows.get<readonly string[]>(KIND, key) ?? [];
  }
}
