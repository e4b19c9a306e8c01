/** A configuration as texts by the names that operators know: for comparing, storing and reporting. */
import type { Config } from "./config";
import { type Variable, VARIABLES } from "./variables";
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
  const settings = Object.entries<Variable<unknown>>(VARIABLES as never).flatMap(([member, { name, setting }]) =>
    setting ? [[name, setting(config[member as keyof Config])] as const] : [],
  );
  return {
    version: GIT_VERSION,
    [VARIABLES.servicePrefixes.name]: config.serviceRanges.join(","),
    ...Object.fromEntries(Object.entries(config.featureGates).map(([gate, on]) => [gate, String(on)])),
    ...Object.fromEntries(settings),
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
