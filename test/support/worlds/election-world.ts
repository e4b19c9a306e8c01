/** Electors and fenced writers against the real stores of Leases and ConfigMaps in virtual time. */
import { configMapsDefinition } from "../../../src/api/registry/config-maps/definition";
import { leasesDefinition } from "../../../src/api/registry/leases/definition";
import { ApiWorld } from "./api-world";

export class ElectionWorld extends ApiWorld {
  readonly leases = this.store("leases");
  readonly configMaps = this.store("configmaps");

  constructor() {
    super([leasesDefinition, configMapsDefinition]);
  }
}
