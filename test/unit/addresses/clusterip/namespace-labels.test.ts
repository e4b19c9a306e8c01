import { describe, expect, it } from "vitest";
import { NamespaceLabels } from "../../../../src/addresses/clusterip/namespace-labels";
import type { GetResult } from "../../../../src/api/rpc/store";

type Labels = Record<string, string>;

function answer(revision: number, labels?: Labels): GetResult {
  return { ok: true, object: JSON.stringify({ metadata: { name: "ns", resourceVersion: String(revision), labels } }) };
}

class World {
  asked = 0;
  read = 0;
  isWanted = true;
  tell: () => Promise<void> = () => Promise.resolve();
  now: () => Promise<GetResult> = () => Promise.resolve(answer(5, { tenant: "a" }));
  readonly labels = new NamespaceLabels({
    // Nothing times out.
    clock: { now: () => 0, sleep: () => Promise.resolve(), after: () => () => undefined, nextTurn: () => Promise.resolve() },
    source: () => ({ tellNamespaceLabels: () => (this.asked++, this.tell()) }),
    namespace: () => (this.read++, this.now()),
    isWanted: () => this.isWanted,
  });
}

function told(revision: number, labels: Labels | null, name = "ns") {
  return [{ name, revision, labels }];
}

describe("labels of a namespace", () => {
  it("are read once, after the other store agreed to tell; changes are told", async () => {
    const world = new World();
    expect(await Promise.all([world.labels.labelsOf("ns"), world.labels.labelsOf("ns")])).toEqual([{ tenant: "a" }, { tenant: "a" }]);
    expect([world.asked, world.read]).toEqual([1, 1]);
    expect(world.labels.labelsOf("ns")).toEqual({ tenant: "a" });
    expect(world.labels.take(told(6, { tenant: "b" }))).toBe(true);
    expect(world.labels.labelsOf("ns")).toEqual({ tenant: "b" });
    expect(world.labels.take(told(5, { tenant: "a" })), "late").toBe(true);
    expect(world.labels.labelsOf("ns")).toEqual({ tenant: "b" });
    expect([world.asked, world.read]).toEqual([1, 1]);
  });

  it("a message that overtakes the answer to the question: counts", async () => {
    const world = new World();
    let letGo = (_: GetResult): void => undefined;
    world.now = () => new Promise((resolve) => (letGo = resolve));
    const asking = world.labels.labelsOf("ns");
    while (world.read === 0) await Promise.resolve();
    expect(world.labels.take(told(6, { tenant: "b" }))).toBe(true);
    letGo(answer(5, { tenant: "a" }));
    expect(await asking).toEqual({ tenant: "b" });
    expect(world.labels.known("ns")).toEqual({ tenant: "b" });
  });

  it("a message that says that all is lost, while a question is on its way: it is asked anew", async () => {
    const world = new World();
    let letGo = (_: GetResult): void => undefined;
    world.now = () => new Promise((resolve) => (letGo = resolve));
    const asking = world.labels.labelsOf("ns");
    while (world.read === 0) await Promise.resolve();
    expect(world.labels.take(null)).toBe(false);
    world.now = () => Promise.resolve(answer(9, { tenant: "c" }));
    letGo(answer(5, { tenant: "a" }));
    expect(await asking).toEqual({ tenant: "c" });
    expect(world.asked).toBe(2);
  });

  it("nobody wants them any more: says so, and asks again when they are wanted", async () => {
    const world = new World();
    await world.labels.labelsOf("ns");
    world.isWanted = false;
    expect(world.labels.take(told(6, { tenant: "b" }))).toBe(false);
    expect(world.labels.known("ns")).toBeUndefined();
    world.isWanted = true;
    expect(world.labels.take(told(7, { tenant: "c" })), "a new life of the object").toBe(false);
    world.now = () => Promise.resolve(answer(7, { tenant: "c" }));
    expect(await world.labels.labelsOf("ns")).toEqual({ tenant: "c" });
    expect(world.asked).toBe(2);
  });

  it("a namespace that is made anew with other labels: is not taken for the former one", async () => {
    const world = new World();
    await world.labels.labelsOf("ns");
    world.labels.take(told(6, null));
    expect(world.labels.known("ns")).toBeUndefined();
    world.now = () => Promise.resolve(answer(8));
    expect(await world.labels.labelsOf("ns")).toEqual({});
  });

  it("a store that does not answer: rejects, and the next question asks again", async () => {
    const world = new World();
    world.tell = () => Promise.reject(new Error("no answer"));
    await expect(world.labels.labelsOf("ns")).rejects.toThrow("no answer");
    world.tell = () => Promise.resolve();
    expect(await world.labels.labelsOf("ns")).toEqual({ tenant: "a" });
  });

  it("what a create reads of its namespace: is not asked for again", async () => {
    const world = new World();
    await world.labels.labelsOf("other");
    world.labels.read("ns", answer(3, { tenant: "x" }));
    expect(world.labels.labelsOf("ns")).toEqual({ tenant: "x" });
    expect(world.read).toBe(1);
  });
});
