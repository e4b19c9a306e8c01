import { describe, expect, it, vi } from "vitest";
import { PairingCatchUp } from "../../../../src/addresses/clusterip/pairing-catch-up";
import type { HistoryEntry } from "../../../../src/api/store/state/store-storage";
import { MemoryLedgerStorage } from "../../../support/memory/ledger-storage";

/** A store at revision 0, and its mark. */
class MarkWorld {
  readonly at = { head: 0, floor: 0, unpaired: Infinity };
  readonly history: HistoryEntry[] = [];
  writes = 0;
  readonly #storage = new MemoryLedgerStorage();
  #catchUp = this.#made();

  constructor() {
    this.begin();
  }

  get mark(): number {
    return this.#storage.numberGet("paired");
  }

  /** A turn with these changes; answers the mark. */
  turn(changes = 1, at: Partial<typeof this.at> = {}): number {
    for (let i = 0; i < changes; i++) {
      this.history.push({ revision: ++this.at.head, type: "DELETED", key: "default/web", data: "{}", before: "{}" });
      this.#catchUp.changed();
    }
    Object.assign(this.at, at);
    this.#catchUp.saveMark();
    return this.mark;
  }

  lose(): void {
    this.#catchUp.turnLost();
  }

  /** Revisions go on above a block. */
  restart(): void {
    this.sleep();
    this.begin();
  }

  /** A start that has not begun to send again. */
  sleep(): void {
    this.at.head += 256;
    this.#catchUp = this.#made();
  }

  begin(): void {
    const historySince = (after: number, limit: number) => this.history.filter(({ revision }) => revision > after).slice(0, limit);
    this.#catchUp.begin({ historySince, objectScan: () => [] });
  }

  #made(): PairingCatchUp {
    const storage = this.#storage;
    return new PairingCatchUp({
      storage: {
        allocationGet: () => undefined,
        numberGet: (name) => storage.numberGet(name),
        numberSet: (name, value) => {
          this.writes++;
          storage.numberSet(name, value);
        },
      },
      pairing: {
        committed: () => undefined,
        pairedThrough: (head) => Math.min(head, this.at.unpaired - 1),
        write: () => Promise.resolve(true),
      },
      head: () => this.at.head,
      floor: () => this.at.floor,
    });
  }
}

describe("the mark of what is paired", () => {
  it("one change after the other: moves with each 51st", () => {
    const world = new MarkWorld();
    const marks = new Set(Array.from({ length: 200 }, () => world.turn()));
    expect([...marks]).toEqual([0, 51, 102, 153]);
  });

  it("a start before each change: the mark moves no more often, although revisions are left out", () => {
    const world = new MarkWorld();
    for (let i = 0; i < 200; i++) {
      world.turn();
      world.restart();
    }
    expect(world.writes).toBe(3);
  });

  it("a change whose IPAddress is not stored: the mark stays before it, however far others go on", () => {
    const world = new MarkWorld();
    expect(world.turn(500, { unpaired: 120 })).toBe(119);
    expect(world.turn(400)).toBe(119);
    expect(world.turn(1, { unpaired: Infinity })).toBe(901);
  });

  it("a history that is trimmed past the mark: it moves, and a start need not look at all objects", () => {
    const world = new MarkWorld();
    expect(world.turn(60)).toBe(60);
    expect(world.turn(2, { floor: 59 })).toBe(60);
    expect(world.turn(1, { floor: 61 })).toBe(63);
    expect(world.turn(0, { floor: 63 })).toBe(63);
  });

  it("a start that has sent nothing again yet: the mark stays where it is, whatever the turn", () => {
    const world = new MarkWorld();
    expect(world.turn(60)).toBe(60);
    world.sleep();
    expect(world.turn(60)).toBe(60);
    world.begin();
    expect(world.turn()).toBe(world.at.head);
  });

  it("a history that cannot be read at the start: the mark stays until another try has sent everything", () => {
    const world = new MarkWorld();
    expect(world.turn(60)).toBe(60);
    world.sleep();
    const { history } = world;
    const read = vi.spyOn(history, "filter").mockImplementation(() => {
      throw new Error("the disk does not answer");
    });
    expect(() => {
      world.begin();
    }).toThrow("the disk does not answer");
    read.mockRestore();
    expect(world.turn(60)).toBe(60);
    world.begin();
    expect(world.turn()).toBe(world.at.head);
  });

  it("a lost turn: the next one moves the mark", () => {
    const world = new MarkWorld();
    expect(world.turn(60)).toBe(60);
    world.lose();
    expect(world.turn()).toBe(61);
    expect(world.turn()).toBe(61);
  });
});
