/** A proxy of Services in user space: which ports it listens at, and where each connection goes. */
export { HealthReports, type ProxyReport } from "./health-reports";
export { addressWithin, insteadOfLowPort, type ListenPlaces } from "./listen-place";
export { ProxyHealth } from "./proxy-health";
export { ProxyMetrics } from "./proxy-metrics";
export { type HealthCheck, type Listener, type ListenerChanges, ProxyTable } from "./proxy-table";
export { TriggerTimes } from "./trigger-times";
