/** What the endpoint controllers need besides the stores that they follow. */
import type { Clock, Recorder } from "../../core/base/ports";
import type { EventReport } from "../../api/events/event-recorder";
import type { RowStorage } from "../../controllers/followed/row-storage";

export interface EndpointControllerPorts {
  clock: Clock;
  recorder: Recorder;
  storage: RowStorage;
  events: { report(event: EventReport): void; flush(): Promise<void> };
  /** how long a change of a Pod, or of an object that the controller writes, waits for others, in milliseconds */
  batchMs: number;
}
