import { expect, it, vi } from "vitest";
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
