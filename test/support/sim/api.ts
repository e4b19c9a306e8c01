/** Writes of one client against a simulated cluster, each awaited in virtual time. */
import type { IPAddress, KubeObject, Service } from "../../../src/api/meta/kubernetes";
import type { Status } from "../../../src/api/meta/status";
import type { WriteOptions, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { ipAddressesOf } from "./watches/checks";
import { SimCluster } from "./cluster";
import type { SimOptions } from "./platform/platform";
import { DELETE } from "../worlds/store-world";

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "test",
  fieldValidation: "Strict",
  force: false,
  group: "",
  version: "v1",
};
const NETWORKING: WriteOptions = { ...OPTIONS, group: "networking.k8s.io" };
const PORTS = [{ port: 80 }];

export class SimApi {
  readonly cluster: SimCluster;

  constructor(options: Partial<SimOptions> = {}) {
    this.cluster = new SimCluster({ seed: 1, ranges: ["10.0.0.0/28"], families: ["IPv4"], ...options });
  }

  static dualStack(options: Partial<SimOptions> = {}): SimApi {
    return new SimApi({ ranges: ["10.0.0.0/28", "fd00::/124"], families: ["IPv4", "IPv6"], ...options });
  }

  /** Until the default ServiceCIDR gives out addresses. */
  async ready(): Promise<this> {
    await this.run(this.cluster.services.brain.ensureBootstrapped());
    await this.run(this.cluster.services.brain.maintain());
    return this;
  }

  run<T>(promise: Promise<T>): Promise<T> {
    return this.cluster.scheduler.run(promise);
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.run(this.start(request));
  }

  /** The same without waiting for it. */
  start(request: WriteRequest): Promise<WriteResult> {
    return this.cluster.services.brain.write(request);
  }

  creation(name: string, spec: object = {}, options: Partial<WriteOptions> = {}): WriteRequest {
    const object = JSON.stringify({ metadata: { ...(name ? { name } : {}), namespace: "default" }, spec: { ports: PORTS, ...spec } });
    return { verb: "create", namespace: "default", object, options: { ...OPTIONS, ...options } };
  }

  change(name: string, patch: object): WriteRequest {
    return {
      verb: "patch",
      key: { namespace: "default", name },
      subresource: "",
      patchType: "merge",
      patch: JSON.stringify(patch),
      options: OPTIONS,
    };
  }

  removal(name: string): WriteRequest {
    return { verb: "delete", key: { namespace: "default", name }, options: DELETE };
  }

  create(name: string, spec: object = {}, options: Partial<WriteOptions> = {}): Promise<WriteResult> {
    return this.write(this.creation(name, spec, options));
  }

  patch(name: string, patch: object): Promise<WriteResult> {
    return this.write(this.change(name, patch));
  }

  remove(name: string): Promise<WriteResult> {
    return this.write(this.removal(name));
  }

  /** ClusterIPs of the stored Service; undefined = there is none. */
  addressesOf(name: string): string[] | undefined {
    const stored = this.cluster.tables.services.store.objectGet(`default/${name}`);
    return stored && ((JSON.parse(stored.data) as Service).spec?.clusterIPs ?? []);
  }

  createIPAddress(name: string, labels: Record<string, string> = {}): Promise<WriteResult> {
    return this.run(this.startIPAddress(name, labels));
  }

  /** The same without waiting for it. */
  startIPAddress(name: string, labels: Record<string, string> = {}): Promise<WriteResult> {
    const parentRef = { group: "example.com", resource: "gateways", namespace: "default", name: "mine" };
    const object = JSON.stringify({ metadata: { name, labels }, spec: { parentRef } });
    return this.cluster.ipAddresses.brain.write({ verb: "create", namespace: "", object, options: NETWORKING });
  }

  removeIPAddress(name: string): Promise<WriteResult> {
    return this.run(this.cluster.ipAddresses.brain.write({ verb: "delete", key: { namespace: "", name }, options: DELETE }));
  }

  createServiceCIDR(name: string, cidrs: string[]): Promise<WriteResult> {
    const object = JSON.stringify({ metadata: { name }, spec: { cidrs } });
    return this.run(this.cluster.coordinator.brain.write({ verb: "create", namespace: "", object, options: NETWORKING }));
  }

  removeServiceCIDR(name: string): Promise<WriteResult> {
    return this.run(this.cluster.coordinator.brain.write({ verb: "delete", key: { namespace: "", name }, options: DELETE }));
  }

  /** The parents of all IPAddress objects by address, as `namespace/name`. */
  get parents(): Record<string, string> {
    return Object.fromEntries(ipAddressesOf(this.cluster).map((object) => [nameOf(object), parentOf(object)]));
  }

  /** Addresses that owners hold rows for, with the kind of their holder. */
  async rows(): Promise<Record<string, string>> {
    const rows: [string, string][] = [];
    for (const { node } of this.cluster.owners.values()) {
      const answer = await node.brain.rowsSince(0, 10_000);
      rows.push(...answer.rows.map(({ address, holder }): [string, string] => [address, `${holder.kind} ${holder.name}`]));
    }
    return Object.fromEntries(rows);
  }
}

export function objectOf(result: WriteResult): KubeObject & Service & IPAddress {
  if (!result.ok) throw new Error(result.status.message ?? "refused");
  return JSON.parse(result.object) as KubeObject & Service & IPAddress;
}

export function statusOf(result: WriteResult): Status {
  if (result.ok) throw new Error("not refused");
  return result.status;
}

function nameOf(object: IPAddress): string {
  return object.metadata?.name ?? "";
}

function parentOf(object: IPAddress): string {
  const parent = object.spec?.parentRef;
  return `${parent?.namespace ?? ""}/${parent?.name ?? ""}`;
}
