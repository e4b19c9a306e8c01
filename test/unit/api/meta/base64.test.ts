import { expect, it } from "vitest";
import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "../../../../src/api/meta/base64";

it.each([
  ["", ""],
  ["f", "Zg=="],
  ["fo", "Zm8="],
  ["foo", "Zm9v"],
  ["foobar", "Zm9vYmFy"],
  ["é?>~", "w6k/Pn4="],
])("encodeBase64 %j: the text of RFC 4648", (text, want) => {
  expect(encodeBase64(text)).toBe(want);
});

it.each(["", "a", "ab", "abc", "é?>~", "\u{1f600}", "\ufeffx"])("decodeBase64Url: returns the encoded text %j", (text) => {
  expect(decodeBase64Url(encodeBase64Url(text))).toBe(text);
});

it.each(["a", "ab=", "a+b/", "_w"])("decodeBase64Url of %j: undefined", (text) => {
  expect(decodeBase64Url(text)).toBeUndefined();
});

it.each([
  ["", []],
  ["AQ==", [1]],
  ["AQI=", [1, 2]],
  ["+/8A", [0xfb, 0xff, 0]],
])("decodeBase64 of %j: its bytes", (encoded, want) => {
  expect([...(decodeBase64(encoded) ?? [])]).toEqual(want);
});

it.each(["AQ", "A===", "AQ=", "-_8A", "AQ==AQ=="])("decodeBase64 of %j: undefined", (encoded) => {
  expect(decodeBase64(encoded)).toBeUndefined();
});
