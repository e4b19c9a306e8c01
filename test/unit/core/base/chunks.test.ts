import { expect, it } from "vitest";
import { chunksOf } from "../../../../src/core/base/chunks";

it.each([
  { items: [], size: 2, chunks: [] },
  { items: [1], size: 2, chunks: [[1]] },
  { items: [1, 2], size: 2, chunks: [[1, 2]] },
  { items: [1, 2, 3, 4, 5], size: 2, chunks: [[1, 2], [3, 4], [5]] },
])("chunks of $size of $items: $chunks", ({ items, size, chunks }) => {
  expect(chunksOf<number>(items, size)).toEqual(chunks);
});
