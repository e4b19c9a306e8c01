import { expect, it } from "vitest";
import {
  base64Length,
  decodeBase64,
  decodeBase64Url,
  encodeBase64,
  encodeBase64Url,
  normalBase64,
} from "../../../../src/core/encoding/base64";

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

it.each<[text: string, want: string]>([
  ["", ""],
  ["AQI=", "AQI="],
  ["A\nQ\r\nI=\n", "AQI="],
  ["AQ=\n=", "AQ=="],
  ["AZ==", "AQ=="],
])("normalBase64 of %j: %j, as Go decodes and encodes it", (text, want) => {
  expect(normalBase64(text)).toEqual({ ok: true, value: want });
});

it.each<[text: string, at: number]>([
  ["a", 0],
  ["AQI", 0],
  ["AAAAAQ", 4],
  ["AQI=A", 4],
  ["AQ=", 3],
  ["AQ=A", 2],
  ["AQ==\nAQ==", 5],
  ["=", 0],
  ["A=", 1],
  ["AA-A", 2],
  ["AA é", 2],
])("normalBase64 of %j: an error at byte %i, as Go's decoder", (text, at) => {
  expect(normalBase64(text)).toEqual({ ok: false, error: at });
});

it.each(["", "f", "fo", "foo", "foob"])("base64Length of the form of %j: its bytes", (text) => {
  expect(base64Length(encodeBase64(text))).toBe(text.length);
});
