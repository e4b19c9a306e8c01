import { describe, expect, it } from "vitest";
import { ClusterNames } from "../../../src/tenancy/cluster-names";
import { memoryNameStorage } from "../../support/memory/name-storage";

const HOUR_MS = 3_600_000;

/** The list of a deployment whose directory has `ids`. */
class World {
  readonly storage = memoryNameStorage();
  ids: string[] = [];
  reads = 0;
  now = 1_000;
  directory = (): Promise<string[]> => Promise.resolve(this.ids);
  names = this.start();

  start(): ClusterNames {
    return new ClusterNames({
      storage: this.storage,
      clock: { now: () => this.now, after: () => () => undefined },
      recorder: { log: () => undefined },
      readDirectory: () => {
        this.reads++;
        return this.directory();
      },
    });
  }
}

describe("the list of clusters", () => {
  it("a name that was made: is there after a restart, and no directory is read for it", async () => {
    const world = new World();
    await world.names.add("blue");
    world.names = world.start();
    expect([await world.names.areMade(["blue", "blue"]), world.reads]).toEqual([[true, true], 0]);
  });

  it("a life that was told: answers who asks for lives, until it ends; who does not ask hears as before", async () => {
    const world = new World();
    await world.names.add("blue");
    await world.names.add("red");
    await world.names.noteLife("blue", "blue~2");
    world.names = world.start();
    expect(await world.names.areMade(["blue", "red", "none"], true)).toEqual(["blue~2", true, false]);
    expect(await world.names.areMade(["blue"])).toEqual([true]);
    await world.names.noteLife("blue", null);
    expect(await world.names.areMade(["blue"], true)).toEqual([true]);
  });

  it("names that nobody made: are not there, however many are asked for, and the directory is read once an hour", async () => {
    const world = new World();
    for (let i = 0; i < 50; i++) expect(await world.names.areMade([`made-up-${String(i)}`])).toEqual([false]);
    expect(world.reads).toBe(1);
    world.now += HOUR_MS;
    await world.names.areMade(["a", "b"]);
    expect(world.reads).toBe(2);
    expect(world.storage.has("a")).toBe(false);
  });

  it("clusters that are older than the list, of later lives too: come in by the directory", async () => {
    const world = new World();
    world.ids = ["old", "again~3"];
    expect(await world.names.areMade(["again", "again~3", "old", "none"])).toEqual([true, false, true, false]);
  });

  it("a list that was brought back from a backup: has what it lost as soon as the object has started again", async () => {
    const world = new World();
    await world.names.areMade(["x"]);
    world.ids = ["blue"];
    expect(await world.names.areMade(["blue"]), "the directory was read a moment ago").toEqual([false]);
    world.names = world.start();
    expect(await world.names.areMade(["blue"])).toEqual([true]);
  });

  it("while the directory does not answer: what is in the list is there, everything else is in doubt, and it is asked again after 30 s", async () => {
    const world = new World();
    await world.names.add("blue");
    world.directory = () => Promise.reject(new Error("KV GET failed"));
    expect(await world.names.areMade(["blue", "red"])).toEqual([true, null]);
    expect(await world.names.areMade(["red"])).toEqual([null]);
    expect(world.reads).toBe(1);
    world.directory = () => Promise.resolve(["red"]);
    world.now += 30_000;
    expect(await world.names.areMade(["red", "green"])).toEqual([true, false]);
    expect(world.reads).toBe(2);
  });

  it("a directory that stops to answer later: what it said before goes on to count", async () => {
    const world = new World();
    await world.names.areMade(["red"]);
    world.directory = () => Promise.reject(new Error("KV GET failed"));
    world.now += HOUR_MS;
    expect(await world.names.areMade(["red"])).toEqual([false]);
  });

  it("questions during a reading: wait for the same one", async () => {
    const world = new World();
    let answer: (ids: string[]) => void = () => undefined;
    world.directory = () => new Promise((resolve) => (answer = resolve));
    const asked = [world.names.areMade(["red"]), world.names.areMade(["green"])];
    answer(["green"]);
    expect([await Promise.all(asked), world.reads]).toEqual([[[false], [true]], 1]);
  });
});
