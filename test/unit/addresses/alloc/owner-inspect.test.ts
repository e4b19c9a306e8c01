import { describe, expect, it } from "vitest";
import { aConfig, OwnerWorld } from "../../../support/worlds/owner-world";

async function aWorld(addresses: number): Promise<OwnerWorld> {
  const world = new OwnerWorld();
  await world.owner.configure(aConfig(1, ["10.0.0.0/24"]));
  for (let i = 0; i < addresses; i++) await world.allocate(`10.0.0.${i + 1}`);
  return world;
}

describe("inspect", () => {
  it("healthy owner: the rows page by page, and no difference", async () => {
    const { owner } = await aWorld(5);
    const first = await owner.inspect(0, 3);
    expect(first).toMatchObject({ epoch: 1, differs: "" });
    expect(first.rows.map(({ address }) => address)).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    const second = await owner.inspect(first.rows.at(-1)?.position ?? 0, 3);
    expect(second.rows.map(({ address }) => address)).toEqual(["10.0.0.4", "10.0.0.5"]);
    expect(second.rows[0]?.holder).toMatchObject({ kind: "service", name: "web" });
  });

  it("bitmap that differs from its rows: the difference is named, nothing changes", async () => {
    const world = await aWorld(3);
    const [row] = world.storage.rowsSince(2, 1);
    if (!row) throw new Error("there are three rows");
    world.storage.rowDelete(row.key, row.token);
    const differs = "3 addresses are taken, and there are 2 rows";
    expect(await world.owner.inspect(0, 10)).toMatchObject({ differs });
    expect(await world.owner.inspect(0, 10)).toMatchObject({ differs });
    expect(world.logged.map(({ level }) => level)).not.toContain("error");
    // Only the first page compares the counts.
    expect(await world.owner.inspect(1, 10)).toMatchObject({ differs: "" });

    world.storage.rowInsert({ ...row, key: row.key.slice(0, -2) + "63" });
    expect(await world.owner.inspect(1, 10)).toMatchObject({ differs: "an address with a row is free" });
    expect(await world.owner.checkBitmap(0, 10)).toEqual({ next: 0, rebuilt: true });
    expect(await world.owner.inspect(0, 10)).toMatchObject({ differs: "" });
  });
});
