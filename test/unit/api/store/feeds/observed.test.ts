import { describe, expect, it } from "vitest";
import type { StoreExtension } from "../../../../../src/api/store/state/extension";
import { observed } from "../../../../../src/api/store/feeds/observed";
import { aLease, StoreWorld } from "../../../../support/worlds/store-world";

/** An extension with state of its own, so that a lost `this` would show. */
class Inner implements StoreExtension<undefined> {
  readonly heard: string[] = [];
  admit: NonNullable<StoreExtension<undefined>["admit"]> = ({ after }) => {
    this.heard.push("admit");
    const name = after?.metadata?.name;
    return name === "no" ? { kind: "wait", supply: () => Promise.reject(new Error("no")) } : { kind: "go" };
  };
  committed({ type }: { type: string }): void {
    this.heard.push(`committed ${type}`);
  }
  sealTurn(): void {
    this.heard.push("sealTurn");
  }
  turnCommitted(): void {
    this.heard.push("turnCommitted");
  }
  turnLost(): void {
    this.heard.push("turnLost");
  }
  settled(): Promise<void> {
    this.heard.push("settled");
    return Promise.resolve();
  }
  ended(): void {
    this.heard.push("ended");
  }
}

function setting(inner: StoreExtension<undefined>) {
  const seen: string[] = [];
  const extension = observed(inner, {
    committed: ({ type, key }) => void seen.push(`${type} ${key}`),
    turnCommitted: () => void seen.push("turn"),
    turnLost: () => void seen.push("lost"),
  });
  const world = new StoreWorld({ extension });
  return { world, seen };
}

describe("observed", () => {
  it("an extension of the store: works as without the observer, which hears changes and turns", async () => {
    const inner = new Inner();
    const { world, seen } = setting(inner);
    // The first turn of a namespace only asks about it.
    await world.create(aLease("first"));
    inner.heard.length = seen.length = 0;
    await world.create(aLease("a"));
    expect(inner.heard).toEqual(["admit", "committed ADDED", "sealTurn", "turnCommitted", "settled", "ended"]);
    await world.delete("a");
    expect(seen).toEqual(["ADDED ns/a", "turn", "DELETED ns/a", "turn"]);
  });

  it("an empty extension: the observer hears changes, turns and lost turns", async () => {
    const { world, seen } = setting({});
    await world.create(aLease("first"));
    seen.length = 0;
    world.storage.crashNext = "beforeCommit";
    await world.create(aLease("a")).catch(() => undefined);
    expect(seen).toEqual(["ADDED ns/a", "lost"]);
    expect(await world.create(aLease("b"))).toMatchObject({ ok: true });
    expect(seen.slice(2)).toEqual(["ADDED ns/b", "turn"]);
  });
});
