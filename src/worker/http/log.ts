import { systemRecorder } from "../../../durable-objects/platform/ports";

/** One structured line per remarkable event of the Worker, as the platform's log search reads it. */
export const log = systemRecorder({ object: "Worker" }).log;
