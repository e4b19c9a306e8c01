/** A configuration as texts by name, as an operator knows them: to be compared, kept and told. */
import type { Config } from "./config";
import { GIT_VERSION } from "./version";

/** `SERVICE_CLUSTER_IP_RANGE` and the other variables; of FEATURE_GATES each gate by its own name; the `version` of the software. */
export type Settings = Readonly<Record<string, string>>;

export interface SettingDifference {
  name: string;
  /** "" = not known there */
  here: string;
  there: string;
}

/** Only what a cluster's objects go by: two Workers that differ in one of these would not answer alike. */
export function settingsOf(config: Config): Settings {
  return {
    version: GIT_VERSION,
    SERVICE_CLUSTER_IP_RANGE: config.serviceRanges.join(","),
    ...Object.fromEntries(Object.entries(config.featureGates).map(([gate, on]) => [gate, String(on)])),
    APISERVER_LEASE_DURATION_SECONDS: String(config.apiServerLeaseDurationSeconds),
    APISERVER_LEASE_RENEW_SECONDS: String(config.apiServerLeaseRenewSeconds),
    MAX_ENDPOINTS_PER_SLICE: String(config.maxEndpointsPerSlice),
  };
}

/** What is not the same, by name. */
export function differencesOf(here: Settings, there: Settings): SettingDifference[] {
  const names = [...new Set([...Object.keys(here), ...Object.keys(there)])].sort();
  return names.flatMap((name) => {
    const difference = { name, here: here[name] ?? "", there: there[name] ?? "" };
    return difference.here === difference.there ? [] : [difference];
  });
}
