import { expect, it, vi } from "vitest";
import type { ConfigMap } from "../../../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../../../src/api/registry/config-maps/definition";
import { OBJECT_MAX_BYTES, TOO_LARGE } from "../../../../../src/api/schema/decode-limits";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

it.each<["json" | "merge" | "strategic", string]>([
  ["json", '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'],
  ["merge", '{"metadata":{"labels":{"a":"b"}}}'],
  ["strategic", '{"metadata":{"labels":{"a":"b"}}}'],
])("a %s patch that is checked strictly: its body is parsed once", async (type, text) => {
  const world = new StoreWorld();
  await world.create(aLease("a"));
  const parsed = vi.spyOn(JSON, "parse");
  const result = await world.patch("a", type, text, { fieldValidation: "Strict" });
  const bodies = parsed.mock.calls.filter(([given]) => given === text);
  parsed.mockRestore();
  expect([result.ok, bodies.length, world.stored("a")?.metadata?.labels]).toEqual([true, 1, { a: "b" }]);
});

it("an apply that makes the object larger than one may be: 413, and the object stays", async () => {
  const world = new StoreWorld({ definition: configMapsDefinition });
  const text = "x".repeat(OBJECT_MAX_BYTES / 2);
  await world.create({ metadata: { name: "a", namespace: "ns" }, data: { first: text } } as ConfigMap);
  const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { second: text } };
  const options = { group: "", version: "v1", fieldManager: "me" };
  expect(await world.patch("a", "apply", config, options)).toMatchObject({ ok: false, status: { code: 413, message: TOO_LARGE } });
  expect(Object.keys(world.stored<ConfigMap>("a")?.data ?? {})).toEqual(["first"]);
});

it("fields that cannot be stored beside their owners: 413 before they are compared to the end, and what fits is stored", async () => {
  const data = (members: number) => Object.fromEntries(Array.from({ length: members }, (_, i) => [`k${i}`, ""]));
  const world = new StoreWorld({ definition: configMapsDefinition });
  const configMap = (name: string, members: number) => ({ metadata: { name, namespace: "ns" }, data: data(members) }) as ConfigMap;
  const sizeOf = (members: number) =>
    JSON.stringify({ data: data(members), owned: Object.keys(data(members)).map((key) => [`f:${key}`, {}]) }).length;
  expect(sizeOf(80_000)).toBeGreaterThan(OBJECT_MAX_BYTES);
  expect(await world.create(configMap("large", 80_000))).toMatchObject({ ok: false, status: { code: 413, message: TOO_LARGE } });
  expect(await world.create(configMap("a", 1_000))).toMatchObject({ ok: true });
  expect(await world.patch("a", "merge", { data: data(80_000) })).toMatchObject({ ok: false, status: { code: 413, message: TOO_LARGE } });
  expect(await world.patch("a", "merge", { data: data(50_000) })).toMatchObject({ ok: true });
  expect(Object.keys(world.stored<ConfigMap>("a")?.data ?? {})).toHaveLength(50_000);
});
