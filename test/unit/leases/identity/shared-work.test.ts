import { expect, it } from "vitest";
import { shareOf } from "../../../../src/leases/identity/shared-work";

const KEYS = Array.from({ length: 1_000 }, (_, i) => `cluster-${String(i)}`);
const [A, B, C] = ["apiserver-a", "apiserver-b", "apiserver-c"];
const share = (instances: readonly string[], self: string, keys: readonly string[] = KEYS): string[] =>
  shareOf(keys, (key) => key, instances, self);

it.each([[[A]], [[A, B]], [[A, B, C]]])("instances %j: each key belongs to one, and all have about as many keys", (instances) => {
  const shares = instances.map((self) => share(instances, self));
  expect(shares.flat().sort()).toEqual([...KEYS].sort());
  for (const { length } of shares) expect(Math.abs(length - KEYS.length / instances.length)).toBeLessThan(80);
});

it("another order of the instances: the same shares", () => {
  expect(share([C, A, B], B)).toEqual(share([A, B, C], B));
});

it("keys of one character: several instances have some", () => {
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  for (const self of [A, B]) expect(share([A, B], self, letters).length).toBeGreaterThan(5);
});

it("an instance that goes: the others keep their keys and take over its keys", () => {
  for (const self of [A, B]) expect(share([A, B], self)).toEqual(expect.arrayContaining(share([A, B, C], self)));
  expect([...share([A, B], A), ...share([A, B], B)].sort()).toEqual([...KEYS].sort());
});

it.each([
  ["empty", []],
  ["without this instance", [B, C]],
])("a list that is %s: this instance has every key", (_, instances) => {
  expect(share(instances, A)).toEqual(KEYS);
});
