import { beforeEach, describe, expect, it } from "vitest";
import { COPY_ROWS_MAX } from "../../../../src/addresses/rpc/limits";
import { formatAddress } from "../../../../src/core/net/address";
import type { CopyChunk, OwnerConfig } from "../../../../src/addresses/rpc/service-cidr";
import { aConfig, aHolder, OwnerWorld } from "../../../support/worlds/owner-world";

const MOVING = "10.0.0.0/24";
const OTHER = "10.0.1.0/24";
const OWN = "10.1.0.0/24";

let source: OwnerWorld;
let target: OwnerWorld;

beforeEach(async () => {
  source = new OwnerWorld(1);
  target = new OwnerWorld(2);
  await source.owner.configure(aConfig(1, [MOVING, OTHER]));
  await target.owner.configure(aConfig(1, [OWN]));
});

/** Configures both ends for the hand-off `id`. */
async function begin(id: number): Promise<void> {
  expect(await source.owner.configure(aConfig(id, [MOVING, OTHER], { frozen: [MOVING] }))).toEqual({ ok: true });
  expect(await target.owner.configure(receiving(id))).toEqual({ ok: true });
}

function receiving(id: number, epoch = id): OwnerConfig {
  return aConfig(epoch, [OWN], { receiving: [{ handoff: id, prefixes: [MOVING] }] });
}

async function chunk(id: number, after = ""): Promise<CopyChunk> {
  const out = await source.owner.copyOut({ handoff: id, prefixes: [MOVING] }, after);
  if (!out.ok) throw new Error(out.reason);
  return out.chunk;
}

/** Copies all chunks; answers the last result of the target. */
async function copy(id: number): Promise<unknown> {
  for (let after = ""; ;) {
    const answer = await target.owner.receive(id, await chunk(id, after));
    if (!answer.ok || answer.sealed) return answer;
    after = answer.through;
  }
}

async function activate(epoch: number): Promise<void> {
  expect(await target.owner.configure(aConfig(epoch, [OWN, MOVING]))).toEqual({ ok: true });
  expect(await source.owner.configure(aConfig(epoch + 1, [OTHER]))).toEqual({ ok: true });
}

describe("hand-off", () => {
  it("rows: move with their tokens, holders and gens; rows of other segments stay", async () => {
    const held = await source.allocate("10.0.0.9", { token: "nine", holder: aHolder({ name: "moved" }) });
    await source.allocate("10.0.1.9", { token: "stays" });
    await target.allocate("10.1.0.9", { token: "was here" });
    await begin(2);
    expect(await copy(2)).toMatchObject({ ok: true, sealed: true });
    await activate(3);
    expect(await source.held()).toEqual(["10.0.1.9"]);
    const { rows } = await target.owner.rowsSince(1, 10);
    expect(rows).toEqual([
      { address: "10.0.0.9", token: "nine", gen: { epoch: 1, counter: 1 }, holder: aHolder({ name: "moved" }), position: 2 },
    ]);
    expect(await target.allocate("10.0.0.9", { token: "nine" }), "the same token, the same row").toEqual(held);
    expect(await target.allocate("10.0.0.9")).toEqual({ ok: false, reason: "taken" });
    const free = (await target.owner.free()).free.IPv4;
    target.restart();
    expect((await target.owner.free()).free.IPv4, "and so after a restart").toEqual(free);
    expect(target.logged.map(({ event }) => event)).not.toContain("pages of an owner were rebuilt");
  });

  it("hazard 17, meanwhile: neither end gives out or takes back an address", async () => {
    await source.allocate("10.0.0.9", { token: "nine" });
    await begin(2);
    await copy(2);
    expect(await source.allocate("10.0.0.10")).toEqual({ ok: false, reason: "frozen" });
    expect(await target.allocate("10.0.0.10")).toEqual({ ok: false, reason: "stale" });
    expect(await target.allocate("10.0.0.9", { token: "nine" })).toEqual({ ok: false, reason: "frozen" });
    expect([await source.release("10.0.0.9", "nine"), await target.release("10.0.0.9", "nine")]).toEqual(["stale", "stale"]);
    expect(await source.allocate(""), "the open segment goes on").toMatchObject({ ok: true });
    await activate(3);
    expect([await source.release("10.0.0.9", "nine"), await target.release("10.0.0.9", "nine")]).toEqual(["stale", "released"]);
    expect(await target.release("10.0.0.9", "nine"), "a repeat").toBe("released");
  });

  it("hazard 8, gen of an address: grows across the hand-off", async () => {
    for (let i = 0; i < 5; i++) {
      await source.allocate("10.0.0.9", { token: `t${i}` });
      await source.release("10.0.0.9", `t${i}`);
    }
    const before = await source.allocate("10.0.0.9", { token: "last" });
    await begin(2);
    await copy(2);
    await activate(3);
    await target.release("10.0.0.9", "last");
    const after = await target.allocate("10.0.0.9", { token: "next" });
    expect(before).toMatchObject({ ok: true, gen: { epoch: 1, counter: 6 } });
    expect(after).toMatchObject({ ok: true, gen: { epoch: 3 } });
  });

  it("repeated or reordered chunk: changes nothing; after a restart the next chunk is taken", async () => {
    for (let i = 0; i < 3; i++) await source.allocate(`10.0.0.${20 + i}`);
    await begin(2);
    const all = await chunk(2);
    const { seal: _, ...first } = { ...all, rows: all.rows.slice(0, 1), through: "40a000014" };
    const rest = { ...all, rows: all.rows.slice(1), after: "40a000014" };
    expect(await target.owner.receive(2, rest), "not its turn").toEqual({ ok: true, through: "", sealed: false });
    expect(await target.owner.receive(2, first)).toEqual({ ok: true, through: "40a000014", sealed: false });
    expect(await target.owner.receive(2, first), "again").toEqual({ ok: true, through: "40a000014", sealed: false });
    target.restart();
    expect(await target.owner.receive(2, rest)).toMatchObject({ ok: true, sealed: true });
    expect(await target.owner.receive(2, all), "after the end").toMatchObject({ ok: true, sealed: true });
    expect(await target.held()).toHaveLength(3);
  });

  it("lost transaction of a chunk: leaves nothing behind, and the repeat passes", async () => {
    await source.allocate("10.0.0.9", { token: "nine" });
    await begin(2);
    const all = await chunk(2);
    target.storage.crashNext = "beforeCommit";
    await expect(target.owner.receive(2, all)).rejects.toThrow("crash");
    expect(await target.held()).toEqual([]);
    target.storage.crashNext = "afterCommit";
    await expect(target.owner.receive(2, all)).rejects.toThrow("crash");
    expect(await target.owner.receive(2, all)).toMatchObject({ ok: true, sealed: true });
    await activate(3);
    // The first try reserved positions, and its commit was kept.
    expect(await target.allocate("10.0.0.10")).toMatchObject({ ok: true, gen: { epoch: 3, counter: 1_002 } });
  });

  it("more rows than one chunk takes: several chunks", async () => {
    const big = "10.64.0.0/19";
    await source.owner.configure(aConfig(2, [big]));
    const addresses = Array.from({ length: COPY_ROWS_MAX + 10 }, (_, i) => formatAddress("IPv4", 0x0a400000n + BigInt(i)));
    const items = addresses.slice(1).map((address) => source.item(address));
    for (let at = 0; at < items.length; at += 1_000) await source.owner.allocate(items.slice(at, at + 1_000));
    await source.owner.configure(aConfig(3, [big], { frozen: [big] }));
    await target.owner.configure(aConfig(3, [OWN], { receiving: [{ handoff: 3, prefixes: [big] }] }));
    let chunks = 0;
    for (let after = ""; ; chunks++) {
      const out = await source.owner.copyOut({ handoff: 3, prefixes: [big] }, after);
      if (!out.ok) throw new Error(out.reason);
      const answer = await target.owner.receive(3, out.chunk);
      if (!answer.ok) throw new Error(answer.reason);
      if (answer.sealed) break;
      after = answer.through;
    }
    expect(chunks).toBe(1);
    expect(await target.held()).toHaveLength(items.length);
  });
});

describe("abandoned hand-off (hazard 5)", () => {
  it("its chunks: refused by the next hand-off, which begins with an empty segment", async () => {
    await source.allocate("10.0.0.9", { token: "old" });
    await begin(2);
    const late = await chunk(2);
    await target.owner.receive(2, { ...late, through: "40a000009" });
    // Given up: the source thaws and goes on; the target learns of it only with the next attempt.
    await source.owner.configure(aConfig(3, [MOVING, OTHER]));
    await source.release("10.0.0.9", "old");
    await source.allocate("10.0.0.9", { token: "new" });
    await source.owner.configure(aConfig(4, [MOVING, OTHER], { frozen: [MOVING] }));
    await target.owner.configure(receiving(4));
    expect(await target.held()).toEqual([]);
    expect(await target.owner.receive(2, late)).toEqual({ ok: false, reason: "stale" });
    expect(await copy(4)).toMatchObject({ ok: true, sealed: true });
    await activate(5);
    expect((await target.owner.rowsSince(0, 10)).rows).toMatchObject([{ address: "10.0.0.9", token: "new" }]);
    expect(await target.owner.receive(2, late)).toEqual({ ok: false, reason: "stale" });
    expect(await target.owner.receive(4, late)).toEqual({ ok: false, reason: "stale" });
  });

  it("thaw that arrives after the next freeze: superseded", async () => {
    await begin(2);
    await source.owner.configure(aConfig(4, [MOVING, OTHER], { frozen: [MOVING] }));
    expect(await source.owner.configure(aConfig(3, [MOVING, OTHER]))).toEqual({ ok: false, reason: "superseded", epoch: 4 });
    expect(await source.allocate("10.0.0.9")).toEqual({ ok: false, reason: "frozen" });
  });

  it("received rows: deleted when nothing is received any more", async () => {
    await source.allocate("10.0.0.9");
    await begin(2);
    await copy(2);
    await target.owner.configure(aConfig(3, [OWN]));
    expect(await target.held()).toEqual([]);
    await source.owner.configure(aConfig(3, [MOVING, OTHER]));
    expect(await source.allocate("10.0.0.9"), "thawed, with its rows").toEqual({ ok: false, reason: "taken" });
  });

  it("source that is not frozen, or not yet: gives no rows", async () => {
    expect(await source.owner.copyOut({ handoff: 2, prefixes: [MOVING] }, "")).toEqual({ ok: false, reason: "stale" });
    await source.owner.configure(aConfig(2, [MOVING, OTHER], { frozen: [MOVING] }));
    expect(await source.owner.copyOut({ handoff: 3, prefixes: [MOVING] }, ""), "of a later attempt").toMatchObject({ ok: false });
    expect(await source.owner.copyOut({ handoff: 2, prefixes: [MOVING, OTHER] }, ""), "more than is frozen").toMatchObject({ ok: false });
  });
});

describe("seal", () => {
  beforeEach(async () => {
    await source.allocate("10.0.0.9", { token: "nine" });
    await source.allocate("10.0.0.10", { token: "ten" });
    await begin(2);
  });

  it("missing rows: the segment cannot be owned", async () => {
    const activation = aConfig(3, [OWN, MOVING]);
    expect(await target.owner.configure(activation)).toEqual({ ok: false, reason: "unsealed", epoch: 2 });
    await copy(2);
    expect(await target.owner.configure(activation)).toEqual({ ok: true });
  });

  it.each<[string, (chunk: CopyChunk) => CopyChunk]>([
    ["a missing row", (all) => ({ ...all, rows: all.rows.slice(1) })],
    ["a row of another holder", (all) => ({ ...all, rows: all.rows.map((row) => ({ ...row, holder: aHolder({ uid: "other" }) })) })],
    ["another gen", (all) => ({ ...all, rows: all.rows.map((row) => ({ ...row, gen: { epoch: 1, counter: 7 } })) })],
  ])("%s: refused, nothing of the chunk is kept", async (_, damage) => {
    expect(await target.owner.receive(2, damage(await chunk(2)))).toEqual({ ok: false, reason: "conflict" });
    expect(await target.held()).toEqual([]);
    expect(await copy(2)).toMatchObject({ ok: true, sealed: true });
  });

  it("token that has a row at the target: refused until that row is released", async () => {
    await target.allocate("10.1.0.20", { token: "nine" });
    expect(await copy(2)).toEqual({ ok: false, reason: "conflict" });
    await target.release("10.1.0.20", "nine");
    expect(await copy(2)).toMatchObject({ ok: true, sealed: true });
  });
});

describe("partition", () => {
  it.each<[string, string[], string[], number, [string, number][]]>([
    ["few rows", ["10.0.0.9"], [MOVING], 2, [[MOVING, 1]]],
    [
      "many rows",
      ["10.0.0.9", "10.0.0.20", "10.0.0.200"],
      [MOVING],
      2,
      [
        ["10.0.0.0/25", 2],
        ["10.0.0.128/25", 1],
      ],
    ],
    [
      "several segments",
      ["10.0.0.9", "10.0.1.200"],
      [OTHER, MOVING],
      5,
      [
        [MOVING, 1],
        [OTHER, 1],
      ],
    ],
    [
      "a limit of no rows",
      ["10.0.0.2", "10.0.0.3"],
      ["10.0.0.2/31"],
      0,
      [
        ["10.0.0.2/32", 1],
        ["10.0.0.3/32", 1],
      ],
    ],
  ])("%s: pieces in address order, each with few rows", async (_, held, prefixes, rowsMax, pieces) => {
    for (const address of held) await source.allocate(address);
    const answer = await source.owner.partition(prefixes, rowsMax);
    expect(answer).toEqual({ epoch: 1, pieces: pieces.map(([prefix, rows]) => ({ prefix, rows })) });
  });

  it("IPv4-mapped addresses: in no piece", async () => {
    await source.owner.configure(aConfig(2, ["::fffe:0:0/95"]));
    await source.allocate("::fffe:0:9");
    expect((await source.owner.partition(["::fffe:0:0/95"], 0)).pieces.map(({ prefix }) => prefix)).not.toContain("::ffff:0:0/96");
  });
});
