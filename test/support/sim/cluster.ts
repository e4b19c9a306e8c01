/**
 * One cluster in virtual time: the real classes of the stores, the Coordinator, the owners and the controllers, on memory tables, behind a network
 * and with crashes that one seed decides. What is simulated is the platform; nothing of the product is.
 */
import { SimControllers } from "./controllers";
import { SimNamespaces } from "./namespaces";
import { type Brains, type SimOptions, SimPlatform } from "./platform/platform";
import { RepairWatch } from "./watches/repair-watch";
import { makeCoordinator, makeIPAddresses, makeLeases, makeServices } from "./stores";

export class SimCluster extends SimPlatform {
  readonly namespaces: SimNamespaces;
  readonly repairWatch: RepairWatch;
  readonly controllers: SimControllers;
  protected readonly brains: Brains;

  constructor(options: SimOptions) {
    super(options);
    this.namespaces = new SimNamespaces(this);
    this.repairWatch = new RepairWatch(this);
    this.controllers = new SimControllers(this, this.repairWatch);
    this.brains = {
      services: (life) => makeServices(this, life),
      ipAddresses: (life) => makeIPAddresses(this, life),
      coordinator: (life) => makeCoordinator(this, life),
      plain: (name, life) => (name === "namespaces" ? this.namespaces.made(life) : makeLeases(this, life)),
      controller: (name, life) => this.controllers.made(name, life),
    };
  }
}
