import { expect, it } from "vitest";
import { directoryIds, type KeyPage } from "../../../src/tenancy/directory-ids";
import { directoryKey } from "../../../src/tenancy/directory-keys";

it.each([
  { what: "an empty directory", pages: [[]], asked: [undefined] },
  { what: "one page", pages: [["a", "b~2"]], asked: [undefined] },
  { what: "three pages, one of them empty", pages: [["a", "b"], [], ["c"]], asked: [undefined, "1", "2"] },
])("ids of $what: all of them, each page read once", async ({ pages, asked }) => {
  const cursors: (string | undefined)[] = [];
  const list = ({ cursor }: { cursor?: string }): Promise<KeyPage> => {
    cursors.push(cursor);
    const at = Number(cursor ?? 0);
    const keys = (pages[at] ?? []).map((id) => ({ name: directoryKey(id) }));
    return Promise.resolve(at + 1 < pages.length ? { keys, list_complete: false, cursor: String(at + 1) } : { keys, list_complete: true });
  };
  expect(await directoryIds(list)).toEqual(pages.flat());
  expect(cursors).toEqual(asked);
});
