/**
 * The controllers of a cluster, by the last part of their object's name. A controller is one entry: the resources whose changes ask for a pass, and how
 * it is made of its setting. Objects and the simulation make them from one table.
 */
import type { ChangeFilter } from "../api/store/feeds/follower-pokes";
import type { Config } from "../core/config/config";
import { type ControllerList, isControllerEnabled, SERVICE_CIDR_CONTROLLER, type UpstreamController } from "../core/config/controllers";

/** What of the configuration decides whether a controller has work at all. */
export type ControllerConfig = Pick<Config, "authorizationModes" | "rootCertificates">;

/** Whether roles decide what a request may do. Without them nobody reads ServiceAccounts and roles, and clusters stay as empty as they are. */
export function decidesByRoles({ authorizationModes }: Pick<ControllerConfig, "authorizationModes">): boolean {
  return authorizationModes.includes("RBAC");
}

/** `Setting`: what the controller has of its object. `Brain`: the controller as its object calls it. */
export interface ControllerEntry<Setting, Brain> {
  /** qualified resources whose changes ask for a pass */
  follows: readonly string[];
  /** new objects ask for a pass, too; otherwise only changes of stored ones do */
  hearsCreations?: true;
  /** by qualified resource: which of its changes ask for a pass; absent = all of them, as said above */
  filters?: Readonly<Record<string, ChangeFilter>>;
  /** kube-controller-manager's name of it, by which it is switched off; absent = kube-apiserver runs it, so it has no switch */
  upstream?: UpstreamController;
  /** it has work in the cluster `default` alone; others do not have it */
  atRoot?: true;
  /** whether it has work under this configuration; absent = under any */
  runsWith?(config: ControllerConfig): boolean;
  make(setting: Setting): Brain;
}

export class ControllerTable<Name extends string, Setting, Brain> {
  readonly names: readonly Name[];

  constructor(private readonly entries: Readonly<Record<Name, ControllerEntry<Setting, Brain>>>) {
    this.names = Object.keys(entries) as Name[];
  }

  /** Those that a cluster has. `isRoot`: it is `default`. */
  namesIn(isRoot: boolean): Name[] {
    return this.names.filter((name) => isRoot || !this.entries[name].atRoot);
  }

  /** The controllers that ask for changes of the resource. */
  followersOf(qualifiedResource: string): Name[] {
    return this.names.filter((name) => this.entries[name].follows.includes(qualifiedResource));
  }

  /** The filters of those controllers that do not ask for every change of the resource. */
  filtersOf(qualifiedResource: string): ChangeFilter[] {
    return this.followersOf(qualifiedResource).flatMap((name) => this.entries[name].filters?.[qualifiedResource] ?? []);
  }

  /** Whether the controller asks for what happened: creations alone, and the filters that met a change. */
  hears(name: Name, qualifiedResource: string, createdOnly: boolean, met: ReadonlySet<ChangeFilter>): boolean {
    const { filters, hearsCreations = false } = this.entries[name];
    const filter = filters?.[qualifiedResource];
    return filter ? met.has(filter) : !createdOnly || hearsCreations;
  }

  /** Whether a controller has work under this configuration. */
  runsWith(name: Name, config: ControllerConfig): boolean {
    return this.entries[name].runsWith?.(config) ?? true;
  }

  /** Whether a controller runs in a cluster with this list. */
  isOn(name: Name, list: ControllerList, config: ControllerConfig): boolean {
    return this.runsWith(name, config) && this.#isListed(name, list);
  }

  /** The controllers that this list switches off. */
  off(list: ControllerList): Name[] {
    return this.names.filter((name) => !this.#isListed(name, list));
  }

  /** Upstream's names of the controllers with a switch that run in a cluster with this list, in alphabetical order. */
  running(list: ControllerList, config: ControllerConfig): UpstreamController[] {
    const switched = this.names.flatMap((name) => (this.runsWith(name, config) ? (this.entries[name].upstream ?? []) : []));
    return [...switched, SERVICE_CIDR_CONTROLLER].filter((upstream) => isControllerEnabled(list, upstream)).sort();
  }

  #isListed(name: Name, list: ControllerList): boolean {
    const { upstream } = this.entries[name];
    return upstream === undefined || isControllerEnabled(list, upstream);
  }

  /** The controller of an object's name, as `default/controllers/repair`. Throws for any other name. */
  make(objectName: string, setting: Setting): Brain {
    return this.entries[this.named(objectName)].make(setting);
  }

  /** Which controller an object's name stands for. Throws for a name that is none of a controller. */
  named(objectName: string): Name {
    const name = this.names.find((one) => one === objectName.slice(objectName.lastIndexOf("/") + 1));
    if (!name) throw new Error(`no controller ${objectName}`);
    return name;
  }
}
