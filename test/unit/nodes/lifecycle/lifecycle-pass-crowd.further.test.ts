/** Many Nodes behind an outage: each has a Pod behind one Service. */
import { describe, expect, it } from "vitest";
import { NodeWorld } from "../../../support/worlds/node-world";

const SEC = 1_000;

describe("outages", () => {
  it("a server that was dead for 2 minutes, with 500 Nodes: none becomes Unknown, no slice changes", async () => {
    const world = new NodeWorld();
    const names = await world.crowd(500);
    expect(world.slices).toHaveLength(5);
    world.stopLifecycle();
    world.sleep();
    await world.settle(120 * SEC);
    world.takeWrites();
    world.startLifecycle();
    world.wake();
    // The last ones come back shortly before the grace is over.
    await world.settle(45 * SEC);
    await world.passRenewing(60 * SEC, ...names);
    expect(names.filter((name) => world.ready(name) !== "True")).toEqual([]);
    expect(world.takeWrites()).toEqual([]);
  }, 60_000);
});
