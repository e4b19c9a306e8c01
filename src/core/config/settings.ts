/** A configuration as texts by the names that operators know: for comparing, storing and reporting. */
import type { Config } from "./config";
import { GIT_VERSION } from "./version";

/** `SERVICE_CLUSTER_IP_RANGE` and the other variables, each gate of FEATURE_GATES by its own name, and the `version` of the software. */
export type Settings = Readonly<Record<string, string>>;

export interface SettingDifference {
  name: string;
  /** "" = that side does not have it */
  here: string;
  there: string;
}

/** Only the settings that the objects of a cluster use: two Workers that differ in one of them would answer differently. */
export function settingsOf(config: Config): Settings {
  return {
    version: GIT_VERSION,
    SERVICE_CLUSTER_IP_RANGE: config.serviceRanges.join(","),
    ADVERTISE_ADDRESSES: config.advertiseAddresses.join(","),
    ...Object.fromEntries(Object.entries(config.featureGates).map(([gate, on]) => [gate, String(on)])),
    APISERVER_LEASE_DURATION_SECONDS: String(config.apiServerLeaseDurationSeconds),
    APISERVER_LEASE_RENEW_SECONDS: String(config.apiServerLeaseRenewSeconds),
    MAX_ENDPOINTS_PER_SLICE: String(config.maxEndpointsPerSlice),
    ENDPOINTSLICE_UPDATES_BATCH_PERIOD: `${config.endpointsBatchMs}ms`,
    CONTROLLERS: config.controllers.join(),
    DRAINING_TAINTS: config.drainingTaints.join(),
    PROXY_SYNC_PERIOD_SECONDS: String(config.proxySyncPeriodSeconds),
  };
}

/** The settings that differ, in the order of their names. */
export function differencesOf(here: Settings, there: Settings): SettingDifference[] {
  const names = [...new Set([...Object.keys(here), ...Object.keys(there)])].sort();
  return names.flatMap((name) => {
    const difference = { name, here: here[name] ?? "", there: there[name] ?? "" };
    return difference.here === difference.there ? [] : [difference];
  });
}
