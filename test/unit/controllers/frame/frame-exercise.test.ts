import { expect, it } from "vitest";
import { configMapsDefinition } from "../../../../src/api/registry/config-maps/definition";
import { DELETE_AT, expiringConfigMaps } from "../../../support/examples/expiring-config-maps";
import { ControllerWorld } from "../../../support/worlds/controller-world";

/** `a` is to go after a minute, `b` stays. */
async function life(dieAt = 0): Promise<ControllerWorld<"configMaps">> {
  const definitions = { configMaps: configMapsDefinition };
  const world = new ControllerWorld({ definitions, dieAt, make: ({ stores, ...ports }) => expiringConfigMaps({ ...ports, ...stores }) });
  const annotations = { [DELETE_AT]: new Date(world.now + 60_000).toISOString() };
  await world.put("configMaps", { metadata: { name: "a", annotations } });
  await world.put("configMaps", { metadata: { name: "b" } });
  await world.pass(59_000);
  expect(world.names("configMaps")).toEqual(["a", "b"]);
  await world.pass(10_000);
  return world;
}

it("wherever the object dies, or if it does not: a ConfigMap goes at its time, and others stay", async () => {
  const { points } = await life();
  for (let at = 0; at <= points; at++) expect((await life(at)).names("configMaps"), `death ${at}`).toEqual(["b"]);
});

it("one more pass: only reads", async () => {
  const world = await life();
  world.takeCalls();
  world.poke();
  await world.pass(1_000);
  expect(world.takeCalls()).toEqual(["configMaps objectsSince"]);
});
