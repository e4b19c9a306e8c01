import { expect, it } from "vitest";
import { utf8Length } from "../../../../src/core/encoding/utf8-length";

it.each(["", "abc", "äöü", "€", "😀x", "\u{10ffff}"])("utf8Length of %j: the bytes of its UTF-8 form", (text) => {
  expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
});
