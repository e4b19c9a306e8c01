/** When the isolate began. Its global code runs before there is a clock, so the first request that reads the clock sets it. */
import type { MetricFamily } from "../../../core/telemetry/metrics";

let startedMs = 0;

/** The time in milliseconds since the epoch. The first call notes it as the start. */
export function nowNoted(): number {
  const nowMs = Date.now();
  startedMs ||= nowMs;
  return nowMs;
}

/** Name and help: upstream component-base metrics/processstarttime.go. */
export function processStartFamily(): MetricFamily {
  nowNoted();
  return {
    name: "process_start_time_seconds",
    type: "gauge",
    help: "[ALPHA] Start time of the process since unix epoch in seconds.",
    samples: [{ labels: {}, value: startedMs / 1000 }],
  };
}
