/**
 * Which controllers run in a cluster, as one of its objects knows it. The cluster's record tells every object a list of the cluster's own. Without one
 * the variable CONTROLLERS counts. Nobody has to be asked before a controller is woken, or left asleep.
 */
import type { ControllerList, ControllersSetting } from "../core/config/controllers";

/** What the object keeps; both are synchronous, and durable with the writes of the turn. */
export interface SwitchStorage {
  load(): ControllersSetting | undefined;
  save(setting: ControllersSetting): void;
}

export class ControllerSwitches {
  #setting: ControllersSetting;

  /** `byVariable`: the list of the variable. */
  constructor(
    private readonly storage: SwitchStorage,
    private readonly byVariable: ControllerList,
  ) {
    this.#setting = storage.load() ?? { version: 0, list: null };
  }

  /** The list that counts. */
  get list(): ControllerList {
    return this.#setting.list ?? this.byVariable;
  }

  /** Whether the cluster has a list of its own. */
  get isOwn(): boolean {
    return this.#setting.list !== null;
  }

  /** Takes what the record says, unless something newer is known. */
  set(setting: ControllersSetting): void {
    if (setting.version <= this.#setting.version) return;
    this.storage.save(setting);
    this.#setting = setting;
  }
}
