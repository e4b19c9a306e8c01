/** A cluster of real Durable Objects, its services store called as the Worker calls it. */
import { env, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { controller, ipAddressesStore, servicesStore } from "../../../durable-objects/peers/peers";
import type { Controller } from "../../../durable-objects/controller";
import type { ServicesStore } from "../../../durable-objects/services-store";
import type { IPAddress, KubeObject, Service } from "../../../src/api/meta/kubernetes";
import type { WriteOptions, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import { checkNodePortsUnique, checkPaired, checkUnique } from "../checks/checkers";
import { ObjectRanges } from "./object-ranges";
import { platformStub } from "./every-object";
import { DELETE } from "../worlds/store-world";

const bindings = env as unknown as Env;
const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "", version: "v1" };

export class ObjectCluster {
  readonly ranges = new ObjectRanges();

  get name(): string {
    return this.ranges.name;
  }

  async ready(): Promise<this> {
    await this.services.ensureBootstrapped();
    return this;
  }

  get services() {
    return servicesStore(bindings, this.name);
  }

  get ipAddresses() {
    return ipAddressesStore(bindings, this.name);
  }

  get servicesObject(): DurableObjectStub {
    return bindings.SERVICES_STORE.getByName(`${this.name}/services`);
  }

  ownerObject(uid: string): DurableObjectStub {
    return bindings.SERVICE_CIDR.getByName(`${this.name}/${uid}`);
  }

  get ipAddressesObject(): DurableObjectStub {
    return bindings.IP_ADDRESSES_STORE.getByName(`${this.name}/ipaddresses.networking.k8s.io`);
  }

  create(name: string, spec: object = {}, namespace = "default"): Promise<WriteResult> {
    return this.services.write(createRequest(name, spec, { namespace }));
  }

  /** All in one turn of the object's event loop. Over RPC the machine would decide the number of turns. */
  createTogether(names: readonly string[]): Promise<WriteResult[]> {
    return runInDurableObject(this.servicesObject, (store) =>
      Promise.all(names.map((name) => (store as unknown as ServicesStore).write(createRequest(name, {})))),
    );
  }

  patch(name: string, patch: object, namespace = "default"): Promise<WriteResult> {
    const key = { namespace, name };
    return this.services.write({ verb: "patch", key, subresource: "", patchType: "merge", patch: JSON.stringify(patch), options: OPTIONS });
  }

  /** A PUT of what `create` sends. */
  put(name: string, spec: object = {}): Promise<WriteResult> {
    const key = { namespace: "default", name };
    return this.services.write({ verb: "update", key, subresource: "", object: serviceText(name, spec), options: OPTIONS });
  }

  remove(name: string): Promise<WriteResult> {
    return this.services.write({ verb: "delete", key: { namespace: "default", name }, options: DELETE });
  }

  /** One ServiceCIDR gives out addresses; the default one stops. */
  async onlyRange(cidr: string): Promise<void> {
    await this.ranges.created("only", cidr);
    await this.ranges.shut("kubernetes");
  }

  /** The work of cron for the objects. An object without an answer is left for the next time. */
  async maintain(): Promise<void> {
    await Promise.allSettled([this.services.maintain(), this.ipAddresses.maintain(), this.ranges.coordinator.maintain()]);
  }

  /** A pass of the repair controller, and the passes that it asks for at once. */
  async repair(): Promise<void> {
    const stub = platformStub(controller(bindings, this.name, "repair"));
    await runInDurableObject(stub, (pass) => (pass as unknown as Controller).alarm());
  }

  async stored(): Promise<{ services: Service[]; ipAddresses: IPAddress[] }> {
    const [services, ipAddresses] = await Promise.all([storedIn(this.servicesObject), storedIn(this.ipAddressesObject)]);
    return { services, ipAddresses };
  }

  async check(): Promise<void> {
    const stored = await this.stored();
    expect([...checkUnique(stored), ...checkNodePortsUnique(stored), ...checkPaired(stored)]).toEqual([]);
  }

  /** `TCP/30080 default/web` of each row, by protocol and port */
  nodePortRows(): Promise<string[]> {
    return runInDurableObject(this.servicesObject, (_, state) => nodePortRows(state));
  }

  async ownerUid(): Promise<string> {
    const { claims } = await this.ranges.coordinator.topology();
    return claims[0]?.ownerUid ?? "";
  }

  /** Commits and items of the owner of the default range since its start, and the addresses of its rows. */
  async owner() {
    const stub = this.ranges.owner(await this.ownerUid());
    const [{ drains, weight }, { rows }] = await Promise.all([stub.counters(), stub.rowsSince(0, 10_000)]);
    return { drains, weight, held: rows.map(({ address }) => address).sort() };
  }
}

function serviceText(name: string, spec: object, { metadata = {}, namespace = "default" } = {}): string {
  return JSON.stringify({ metadata: { name, namespace, ...metadata }, spec: { ports: [{ port: 80 }], ...spec } });
}

export function createRequest(name: string, spec: object, { metadata = {}, dryRun = false, namespace = "default" } = {}): WriteRequest {
  const object = serviceText(name, spec, { metadata, namespace });
  return { verb: "create", namespace, object, options: { ...OPTIONS, dryRun } };
}

/** Puts objects into a store behind the server's back, as an import or an older version would leave them. */
export function plant(stub: DurableObjectStub, ...objects: KubeObject[]): Promise<void> {
  return runInDurableObject(stub, (_, { storage }) => {
    for (const object of objects) {
      const { namespace = "", name = "", uid = "" } = object.metadata ?? {};
      const row = [namespace ? `${namespace}/${name}` : name, uid, 1, JSON.stringify(object)] as const;
      storage.sql.exec("INSERT INTO objects (key, uid, revision, data) VALUES (?, ?, ?, ?)", ...row);
    }
  });
}

/** All objects of a store, read from its tables. */
export function storedIn<T extends KubeObject>(stub: DurableObjectStub): Promise<T[]> {
  return runInDurableObject(stub, (_, state) =>
    state.storage.sql
      .exec<{ data: string }>("SELECT data FROM objects ORDER BY key")
      .toArray()
      .map(({ data }) => JSON.parse(data) as T),
  );
}

export function nodePortRows({ storage }: DurableObjectState): string[] {
  const rows = storage.sql.exec<{ text: string }>(
    "SELECT protocol || '/' || port || ' ' || key AS text FROM node_ports ORDER BY protocol, port",
  );
  return rows.toArray().map(({ text }) => text);
}

export function nodePortsOf(result: WriteResult): number[] {
  if (!result.ok) throw new Error(result.status.message ?? "refused");
  return ((JSON.parse(result.object) as Service).spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
}

export function addressOf(result: WriteResult): string {
  if (!result.ok) throw new Error(result.status.message ?? "refused");
  return (JSON.parse(result.object) as Service).spec?.clusterIP ?? "";
}

export function messageOf(result: WriteResult): string {
  return result.ok ? "" : `${result.status.code ?? 0} ${result.status.message ?? ""}`;
}
