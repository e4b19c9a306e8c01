import { expect, it } from "vitest";
import { groupBy } from "../../../../src/core/base/group-by";

it("groupBy: keys and items keep their order, and each key is computed once", () => {
  const asked: string[] = [];
  const groups = groupBy(["pear", "apple", "plum", "avocado", "fig"], (word) => {
    asked.push(word);
    return word[0] ?? "";
  });
  expect([...groups]).toEqual([
    ["p", ["pear", "plum"]],
    ["a", ["apple", "avocado"]],
    ["f", ["fig"]],
  ]);
  expect(asked).toEqual(["pear", "apple", "plum", "avocado", "fig"]);
});
