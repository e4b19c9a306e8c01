/** Events about ServiceCIDRs: one that is reported already is not repeated for a while. */
import type { EventRecorder, EventReport } from "../../api/events/event-recorder";
import type { Clock } from "../../core/base/ports";

/** A lasting problem is reported again within the hour that an event lives. */
const REPORT_AGAIN_MS = 30 * 60_000;

type Events = Pick<EventRecorder, "report">;

export class RangeReports {
  /** the reports of the last time, by uid and note, with their times (ms) */
  readonly #reported = new Map<string, number>();

  constructor(private readonly ports: { clock: Clock; events: Events; rangeEvents: Events }) {}

  /** About the default ServiceCIDR. */
  ofDefault(report: EventReport): void {
    this.#report(report, this.ports.events);
  }

  /** About any other. */
  ofRange(report: EventReport): void {
    this.#report(report, this.ports.rangeEvents);
  }

  #report(report: EventReport, events: Events): void {
    const now = this.ports.clock.now();
    for (const [key, at] of this.#reported) if (now - at >= REPORT_AGAIN_MS) this.#reported.delete(key);
    const key = `${report.regarding.uid ?? ""} ${report.note}`;
    if (this.#reported.has(key)) return;
    this.#reported.set(key, now);
    events.report(report);
  }
}
