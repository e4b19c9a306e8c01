/** A pass as a whole. */
import { describe, expect, it } from "vitest";
import { anIPAddress, RepairWorld } from "../../../support/worlds/repair-world";

const RANGE = ["10.0.0.0/24"];

describe("suspect", () => {
  it("pass that a crash ends: the suspect is looked at again", async () => {
    const world = await RepairWorld.of(RANGE);
    await world.create("ipaddresses", anIPAddress("10.0.0.9", "default/web", world.now));
    await world.pass();
    expect([...world.storage.suspects.keys()]).toEqual(["ipaddresses/10.0.0.9"]);
    await world.cluster.scheduler.pass(61_000);
    // The controller's object dies while it asks: its memory is gone, and nothing of the pass runs to its end.
    let calls = 0;
    world.fails = (call) => call === "services.objectsNamed" && ++calls > 0;
    const put = world.storage.suspectPut.bind(world.storage);
    world.storage.suspectPut = () => undefined;
    await expect(world.pass()).rejects.toThrow();
    world.storage.suspectPut = put;
    world.fails = () => false;
    expect([calls > 0, [...world.storage.suspects.keys()], Object.keys(world.parents())]).toEqual([
      true,
      ["ipaddresses/10.0.0.9"],
      ["10.0.0.9"],
    ]);
    await world.wait(10 * 60_000);
    expect(world.parents()).toEqual({});
  });
});
