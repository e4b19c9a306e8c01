/** Which stores a pass reads, and which pokes ask for a pass at all. */
import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import { configMapsDefinition } from "../../../../src/api/registry/config-maps/definition";
import { FollowedStore } from "../../../../src/controllers/followed/followed-store";
import { KeptFacts } from "../../../../src/controllers/followed/kept-facts";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { madeOnce } from "../../../../src/controllers/frame/made-once";
import { Frame } from "../../../../src/controllers/frame/frame";
import { ControllerWorld } from "../../../support/worlds/controller-world";

type Kind = "left" | "right";
const BOTH = ["left objectsSince", "right objectsSince"];

/** A controller that follows two stores and does nothing; all of both is read. Nobody pokes but the test. */
async function world(): Promise<ControllerWorld<Kind>> {
  const made = new ControllerWorld<Kind>({
    definitions: { left: configMapsDefinition, right: configMapsDefinition },
    follows: [],
    make: ({ storage, stores, ...ports }) =>
      madeOnce(() => {
        const rows = new KeptRows(storage);
        const followed = (["left", "right"] as const).map((kind) => {
          const facts = new KeptFacts(rows, kind, ({ metadata }: KubeObject) => ({ name: metadata?.name }));
          return { facts, store: new FollowedStore(kind, stores[kind], facts.reader, rows, ports.recorder) };
        });
        return new Frame(ports, { rows, keeps: followed.map(({ facts }) => facts), follows: () => [followed.map(({ store }) => store)] })
          .pass;
      }),
  });
  await made.pass(1_000);
  made.takeCalls();
  return made;
}

async function calls(of: ControllerWorld<Kind>): Promise<string[]> {
  await of.pass(1_000);
  return of.takeCalls().sort();
}

const put = (of: ControllerWorld<Kind>, kind: Kind, name: string): Promise<void> => of.put(kind, { metadata: { name } });

describe("a poke", () => {
  it("of one store: that one is read", async () => {
    const of = await world();
    await put(of, "left", "a");
    of.poke([of.news("left")]);
    expect(await calls(of)).toEqual(["left objectsSince"]);
  });

  it("doubled, late, or of what was read: no call, and no pass", async () => {
    const of = await world();
    await put(of, "left", "a");
    const old = of.news("left");
    await put(of, "left", "b");
    of.poke([of.news("left")]);
    await of.pass(1_000);
    of.takeCalls();
    const passes = (await of.status())?.passes;
    for (const news of [of.news("left"), of.news("left"), old]) of.poke([news]);
    expect(await calls(of)).toEqual([]);
    expect((await of.status())?.passes).toBe(passes);
  });

  it("that is lost: the next one of the store, whatever it tells, brings what it told", async () => {
    const of = await world();
    await put(of, "left", "lost");
    await put(of, "right", "b");
    of.poke([of.news("right")]);
    expect(await calls(of)).toEqual(["right objectsSince"]);
    await put(of, "left", "c");
    of.poke([of.news("left")]);
    expect(await calls(of)).toEqual(["left objectsSince"]);
    expect(
      of.rows
        .facts("left")
        .map(([key]) => key)
        .sort(),
    ).toEqual(["ns/c", "ns/lost"]);
  });

  it("without a name, as cron's and those of the release before: every store is read", async () => {
    const of = await world();
    of.poke();
    expect(await calls(of)).toEqual(BOTH);
  });

  it("of a store that nobody follows here: no pass", async () => {
    const of = await world();
    of.poke([{ store: "other", incarnation: "i", revision: 1_000 }]);
    expect(await calls(of)).toEqual([]);
  });

  it("of a store that died and lost what it told: one pull, and the next poke works", async () => {
    const of = await world();
    of.poke([{ ...of.news("left"), revision: 1_000 }]);
    expect(await calls(of)).toEqual(["left objectsSince"]);
    await put(of, "left", "a");
    of.poke([of.news("left")]);
    expect(await calls(of)).toEqual(["left objectsSince"]);
  });

  it("during a pass, of what that pass reads: no further pass; of more than that: one", async () => {
    const of = await world();
    await put(of, "left", "a");
    of.poke([of.news("left")]);
    of.poke([of.news("left")]);
    await put(of, "right", "b");
    of.poke([of.news("right")]);
    expect(await calls(of)).toEqual(BOTH);
  });

  it("of one store, after a pull of the other failed: both are read", async () => {
    const of = await world();
    of.fault = (call) => (call.startsWith("right") ? new Error("down") : undefined);
    await put(of, "right", "a");
    of.poke([of.news("right")]);
    await of.pass(100);
    of.fault = () => undefined;
    of.takeCalls();
    await put(of, "left", "b");
    of.poke([of.news("left")]);
    // The alarm that repeats the failed pass comes later.
    await of.pass(50);
    expect(of.takeCalls().sort()).toEqual(BOTH);
  });

  it("of one store, to an object that begins anew: both are read", async () => {
    const of = await world();
    of.dieAt = of.points + 1;
    await put(of, "left", "a");
    of.poke([of.news("left")]);
    await of.pass(90);
    of.takeCalls();
    expect(await calls(of)).toEqual(BOTH);
  });
});
