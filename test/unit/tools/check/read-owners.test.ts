import { expect, it } from "vitest";
import { type OwnerPage, readOwners } from "../../../../src/tools/check/read-owners";
import { row } from "../../../support/worlds/checked-cluster";

it("owners with many segments and pages: each page read once; owners that fail: named", async () => {
  const asked: string[] = [];
  const pages: Record<string, OwnerPage> = {
    "a/0": { rows: [row("10.0.0.1", "one")], differs: "", next: 7 },
    "a/7": { rows: [row("10.0.0.2", "two")], differs: "an address with a row is free", next: 0 },
    "b/0": { rows: [], differs: "", next: 0 },
  };
  const claims = ["10.0.0.0/24 a", "10.0.1.0/24 b", "10.0.2.0/24 a", "10.0.3.0/24 c"].map((text) => {
    const [prefix = "", ownerUid = ""] = text.split(" ");
    return { prefix, ownerUid };
  });
  const { owners, silent, ...rest } = await readOwners({
    view: () => Promise.resolve({ epoch: 1, claims }),
    page: (uid, after) => {
      asked.push(`${uid}/${after}`);
      const page = pages[`${uid}/${after}`];
      return page ? Promise.resolve(page) : Promise.reject(new Error("gone"));
    },
  });
  expect(asked.sort()).toEqual(["a/0", "a/7", "b/0", "c/0"]);
  expect(owners.toSorted((one, other) => (one.uid < other.uid ? -1 : 1))).toEqual([
    { uid: "a", rows: [row("10.0.0.1", "one"), row("10.0.0.2", "two")], differs: "an address with a row is free" },
    { uid: "b", rows: [], differs: "" },
  ]);
  expect(silent).toEqual([{ uid: "c", reason: "gone" }]);
  expect(rest).toEqual({ claims });
});
