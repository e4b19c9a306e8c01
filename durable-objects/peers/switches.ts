/** Which controllers of its cluster an object may wake. */
import type { Config } from "../../src/core/config/config";
import type { ControllersSetting } from "../../src/core/config/controllers";
import { ControllerSwitches } from "../../src/tenancy/controller-switches";
import { type DirectoryFacts, directoryFacts } from "./busy";
import { type ControllerName, CONTROLLERS } from "../platform/controllers";

/** The value stands beside the object's tables; a release without it leaves it alone. */
const KEY = "controllers";

export interface ObjectSwitches {
  isOn(name: ControllerName): boolean;
  /** what the cluster's own list says, for cron; undefined = the variable counts */
  readonly facts: DirectoryFacts | undefined;
  set(setting: ControllersSetting): void;
}

export function objectSwitches({ kv }: DurableObjectStorage, config: Config): ObjectSwitches {
  const storage = { load: () => kv.get<ControllersSetting>(KEY), save: (setting: ControllersSetting) => kv.put(KEY, setting) };
  const switches = new ControllerSwitches(storage, config.controllers);
  return {
    isOn: (name) => CONTROLLERS.isOn(name, switches.list, config),
    get facts() {
      return switches.isOwn ? directoryFacts(switches.list) : undefined;
    },
    set: (setting) => switches.set(setting),
  };
}
