/**
 * The controllers of a cluster, by the last part of their object's name. A controller is one entry: the resources whose changes ask for a pass, and how
 * it is made of its setting. Objects and the simulation make them from one table.
 */

/** `Setting`: what the controller has of its object. `Brain`: the controller as its object calls it. */
export interface ControllerEntry<Setting, Brain> {
  /** qualified resources: every change of a stored object of them asks for a pass */
  follows: readonly string[];
  make(setting: Setting): Brain;
}

export class ControllerTable<Name extends string, Setting, Brain> {
  readonly names: readonly Name[];

  constructor(private readonly entries: Readonly<Record<Name, ControllerEntry<Setting, Brain>>>) {
    this.names = Object.keys(entries) as Name[];
  }

  /** The controllers that ask for every change of the resource. */
  followersOf(qualifiedResource: string): Name[] {
    return this.names.filter((name) => this.entries[name].follows.includes(qualifiedResource));
  }

  /** The controller of an object's name, as `default/controllers/repair`. Throws for any other name. */
  make(objectName: string, setting: Setting): Brain {
    const name = this.names.find((one) => one === objectName.slice(objectName.lastIndexOf("/") + 1));
    if (!name) throw new Error(`no controller ${objectName}`);
    return this.entries[name].make(setting);
  }
}
