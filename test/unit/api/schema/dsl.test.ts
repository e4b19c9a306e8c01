import { describe, expect, it } from "vitest";
import { InvariantError } from "../../../../src/core/base/assert";
import { bool, inline, int32, message, plain, required, string } from "../../../../src/api/schema/dsl";

describe("message", () => {
  it("indexes: by name and by number; inlined members stand in the first only", () => {
    const source = message("t.Source", { path: plain(1, string), readOnly: plain(2, bool) });
    const volume = message("t.Volume", { name: required(1, string), source: inline(2, source) });
    expect([...volume.byName.keys()]).toEqual(["name", "path", "readOnly"]);
    expect([...volume.byNumber.keys()]).toEqual([1, 2]);
    expect(volume.fields.map((field) => field.name)).toEqual(["name", "source"]);
  });

  it("a field of number 0: not in the index by number", () => {
    expect(message("t.Zero", { a: plain(0, string), b: plain(0, string) }).byNumber.size).toBe(0);
  });

  it("a repeated number or name: InvariantError", () => {
    expect(() => message("t.Twice", { a: plain(1, string), b: plain(1, int32) })).toThrow(InvariantError);
    const inner = message("t.Inner", { a: plain(1, string) });
    expect(() => message("t.Outer", { a: plain(1, string), inner: inline(2, inner) })).toThrow(InvariantError);
  });
});
