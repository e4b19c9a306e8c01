/** Protobuf bodies for every served type, as typed client-go sends them: create, update, status, delete, deletecollection. */
import { afterAll, describe, expect, it } from "vitest";
import { definitionOf } from "../../../src/api/registry/all";
import { encodeProtobuf } from "../../../src/api/schema/protobuf/encode-protobuf";
import { DeleteOptionsSchema } from "../../../src/api/schema/meta";
import type { MessageSchema } from "../../../src/api/schema/types";
import { checkState } from "../../support/checks/checkers";
import { observe } from "../../support/server/observe";
import { servedTypes } from "../../support/server/served-types";
import type { ServedType } from "../../support/server/served-types";
import { PROTOBUF, readAnswer } from "../../support/values/protobuf-answers";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();
afterAll(async () => {
  expect(checkState(await observe(cluster.url))).toEqual([]);
});

type JsonObject = Record<string, unknown>;
interface Item extends JsonObject {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
  items?: Item[];
}

/** The calls on one type with bodies as Go encodes them. */
class Wire {
  readonly #schema: MessageSchema;
  readonly #apiVersion: string;
  readonly #kind: string;
  readonly #namespaced: boolean;
  readonly #collection: string;

  constructor({ served, resource }: ServedType) {
    const group = served.includes("/") ? (served.split("/")[0] ?? "") : "";
    const definition = definitionOf(group, resource);
    if (!definition) throw new Error(`no definition of ${served} ${resource}`);
    this.#schema = definition.schema;
    this.#apiVersion = served;
    this.#kind = definition.kind;
    this.#namespaced = definition.namespaced;
    this.#collection = `${group === "" ? "/api" : "/apis"}/${served}${definition.namespaced ? "/namespaces/default" : ""}/${resource}`;
  }

  async send(method: string, path: string, body?: Uint8Array): Promise<{ code: number; object: Item }> {
    const headers = { Accept: `${PROTOBUF},application/json`, ...(body ? { "Content-Type": PROTOBUF } : {}) };
    const response = await fetch(`${cluster.url}${this.#collection}${path}`, { method, headers, ...(body ? { body } : {}) });
    return { code: response.status, object: (await readAnswer(response)) as Item };
  }

  /** `object` as the JSON that Go would have read it from */
  encode(object: object): Uint8Array {
    const value = JSON.parse(JSON.stringify(object)) as JsonObject;
    return encodeProtobuf(value, this.#schema, { apiVersion: this.#apiVersion, kind: this.#kind });
  }

  create(name: string, labels: Record<string, string>, content: object): Promise<{ code: number; object: Item }> {
    const metadata = { name, labels, ...(this.#namespaced ? { namespace: "default" } : {}) };
    return this.send("POST", "", this.encode({ metadata, ...content }));
  }
}

const deleteOptions = (uid?: string) =>
  encodeProtobuf({ ...(uid === undefined ? {} : { preconditions: { uid } }), propagationPolicy: "Background" }, DeleteOptionsSchema, {
    apiVersion: "v1",
    kind: "DeleteOptions",
  });

describe.each(servedTypes)("$served $resource", (type) => {
  const nameOf = type.name ?? ((n: number) => `wire-${type.served.replace(/[./]/g, "-")}-${String(n)}`);
  const eventually = <T>(read: () => Promise<T>) => expect.poll(read, { timeout: 20_000 });

  it("protobuf bodies: create and change the same object as JSON bodies", async () => {
    const wire = new Wire(type);
    const name = nameOf(11);
    const created = await wire.create(name, { test: "wire" }, type.content(11));
    expect(created).toMatchObject({ code: 201, object: { apiVersion: type.served, metadata: { name, labels: { test: "wire" } } } });
    expect(created.object).toMatchObject(withoutTimes(type.content(11)));

    // A controller may write between the two: then the race is run again, as RetryOnConflict does.
    const update = async () => {
      const { object } = await wire.send("GET", `/${name}`);
      object.metadata.labels = { ...object.metadata.labels, updated: "yes" };
      return wire.send("PUT", `/${name}`, wire.encode(object));
    };
    await eventually(async () => (await update()).code).toBe(200);
    const updated = (await wire.send("GET", `/${name}`)).object;
    expect(updated.metadata.labels).toMatchObject({ test: "wire", updated: "yes" });
    expect(updated["spec"]).toEqual(created.object["spec"]);

    if (type.status) {
      const { status } = type;
      const write = async () => {
        const current = (await wire.send("GET", `/${name}/status`)).object;
        return wire.send("PUT", `/${name}/status`, wire.encode({ ...current, status: { ...(current["status"] as object), ...status } }));
      };
      await eventually(async () => (await write()).code).toBe(200);
    }

    const { uid } = created.object.metadata;
    expect((await wire.send("DELETE", `/${name}`, deleteOptions("00000000-0000-4000-8000-000000000000"))).code).toBe(409);
    expect((await wire.send("DELETE", `/${name}`, deleteOptions(uid))).code).toBe(200);
    await eventually(async () => (await wire.send("GET", `/${name}`)).code).toBe(404);
  });

  if (type.collection !== false) {
    it("deletecollection: takes protobuf options", async () => {
      const wire = new Wire(type);
      for (const n of [12, 13]) expect((await wire.create(nameOf(n), { test: "wire-all" }, type.content(n))).code).toBe(201);
      expect((await wire.send("DELETE", "?labelSelector=test%3Dwire-all", deleteOptions())).code).toBe(200);
      await eventually(async () => (await wire.send("GET", "?labelSelector=test%3Dwire-all")).object.items).toEqual([]);
    });
  }
});

/** Times come back in the server's own form. */
function withoutTimes(content: object): JsonObject {
  const value = JSON.parse(JSON.stringify(content)) as JsonObject;
  const isTime = (member: unknown) => typeof member === "string" && /^\d{4}-\d\d-\d\dT/.test(member);
  const strip = (member: unknown): unknown => {
    if (Array.isArray(member)) return member.map(strip);
    if (typeof member !== "object" || member === null) return member;
    return Object.fromEntries(Object.entries(member).flatMap(([name, inner]) => (isTime(inner) ? [] : [[name, strip(inner)]])));
  };
  return strip(value) as JsonObject;
}
