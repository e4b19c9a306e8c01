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

  it("entries of some names: what each has told; who was not made has none, and is in doubt while the directory does not answer", async () => {
    const world = new World();
    world.directory = () => Promise.reject(new Error("silent"));
    await world.names.add("blue", "s");
    await world.names.add("red", "t");
    const facts = { id: "blue~2", createdAt: 5, deletedAt: 0 };
    await world.names.noteLife("blue", "blue~2", { stamp: "s", facts });
    const known = [
      { name: "blue", stamp: "s", facts },
      { name: "red", stamp: "t" },
    ];
    expect(await world.names.entries(["blue", "red", "none"])).toEqual([...known, null]);
    world.directory = () => Promise.resolve([]);
    world.now += HOUR_MS;
    expect(await world.names.entries(["blue", "red", "none"])).toEqual([...known, false]);
    expect(world.storage.has("none")).toBe(false);
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

  it("pages: every cluster once, in the order of the names, with what its record has told", async () => {
    const world = new World();
    for (const name of ["c", "a", "b"]) await world.names.add(name, `of-${name}`);
    const facts = { id: "b~2", createdAt: 7, deletedAt: 0 };
    await world.names.noteLife("b", "b~2", { stamp: "of-b", facts });
    const first = await world.names.page("", 2);
    expect(first).toEqual({
      clusters: [
        { name: "a", stamp: "of-a" },
        { name: "b", stamp: "of-b", facts },
      ],
      isLast: false,
    });
    expect(await world.names.page("b", 2)).toEqual({ clusters: [{ name: "c", stamp: "of-c" }], isLast: true });
    expect(await world.names.page("", 3)).toMatchObject({ isLast: true });
    expect(await world.names.page("c", 1)).toEqual({ clusters: [], isLast: true });
  });

  it("pages before the directory was read once: it is read, then never again; while it is silent nothing is told", async () => {
    const world = new World();
    await world.names.add("blue", "x");
    world.directory = () => Promise.reject(new Error("KV GET failed"));
    expect(await world.names.page("", 9)).toBeNull();
    world.now += 30_000;
    world.directory = () => Promise.resolve(["old~2"]);
    const want = {
      clusters: [
        { name: "blue", stamp: "x" },
        { name: "old", stamp: "" },
      ],
      isLast: true,
    };
    expect(await world.names.page("", 9)).toEqual(want);
    world.names = world.start();
    expect([await world.names.page("", 9), world.reads]).toEqual([want, 2]);
  });

  it("what is told or taken out under another stamp: changes nothing; the end of a life counts, whichever word comes last", async () => {
    const world = new World();
    await world.names.add("blue", "1");
    const facts = { id: "blue", createdAt: 7, deletedAt: 0 };
    await world.names.noteLife("blue", null, { stamp: "1", facts: { ...facts, deletedAt: 9 } });
    await world.names.noteLife("blue", "blue", { stamp: "1", facts });
    await world.names.noteLife("blue", "blue~9", { stamp: "0", facts: { ...facts, id: "blue~9" } });
    await world.names.drop("blue", "0");
    expect(await world.names.page("", 9)).toMatchObject({ clusters: [{ facts: { id: "blue", deletedAt: 9 } }] });
    await world.names.drop("blue", "1");
    await world.names.noteLife("blue", "blue", { stamp: "1", facts });
    expect([await world.names.page("", 9), world.storage.entryOf("blue")]).toEqual([{ clusters: [], isLast: true }, undefined]);
  });

  it("a record of the release before: its word about the life counts, and the list asks for the rest", async () => {
    const world = new World();
    await world.names.add("blue", "1");
    await world.names.noteLife("blue", "blue", { stamp: "1", facts: { id: "blue", createdAt: 7, deletedAt: 0 } });
    await world.names.noteLife("blue", null);
    await world.names.add("blue");
    expect(await world.names.areMade(["blue"], true)).toEqual([true]);
    await world.names.noteLife("blue", "blue~2");
    expect(await world.names.areMade(["blue"], true)).toEqual(["blue~2"]);
    expect(await world.names.page("", 9)).toEqual({ clusters: [{ name: "blue", stamp: "1" }], isLast: true });
  });
});
