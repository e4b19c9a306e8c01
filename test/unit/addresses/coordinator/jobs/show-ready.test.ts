/** Readiness as objects and the topology show it. */
import { describe, expect, it } from "vitest";
import { READY, SERVICE_CIDR_FINALIZER } from "../../../../../src/addresses/coordinator/state/service-cidr-object";
import { startedWorld } from "../../../../support/worlds/coordinator-world";

describe("Ready condition", () => {
  it("one of its owners does not answer: not Ready, and not in the topology", async () => {
    const world = await startedWorld({ ranges: ["10.0.0.0/24"] });
    const inner = await world.created("inner", ["10.0.1.0/28"]);
    world.intercept = (call) => (call === `configure ${inner}` ? Promise.reject(new Error("the call was lost")) : undefined);
    await world.run(world.create("outer", ["10.0.0.0/23"]));
    await world.pass(60_000);
    const listed = async (): Promise<string[]> => (await world.run(world.coordinator.topology())).ranges.map(({ name }) => name);
    expect(world.readyOf("outer")).toBeUndefined();
    expect((await listed()).sort()).toEqual(["inner", "kubernetes"]);
    world.intercept = () => undefined;
    await world.until(() => world.readyOf("outer")?.status === "True");
    expect((await listed()).sort()).toEqual(["inner", "kubernetes", "outer"]);
  });

  it("condition other than False set by a client, and a lost finalizer: both are set right", async () => {
    const world = await startedWorld();
    await world.created("extra", ["10.0.1.0/24"]);
    await world.run(world.setReady("extra", "True"));
    await world.run(world.edit("extra", (object) => ({ ...object, metadata: { ...object.metadata, finalizers: ["example.com/mine"] } })));
    await world.until(() => world.readyOf("extra")?.message === READY.message);
    await world.until(() => world.object("extra")?.metadata?.finalizers?.includes(SERVICE_CIDR_FINALIZER) ?? false);
    expect(world.object("extra")?.metadata?.finalizers).toEqual(["example.com/mine", SERVICE_CIDR_FINALIZER]);
  });
});
