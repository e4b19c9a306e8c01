import { describe, expect, it } from "vitest";
import { encodeBase64Url } from "../../../../src/core/encoding/base64";
import { decodeContinue, encodeContinue } from "../../../../src/api/meta/continue-token";

describe("continue tokens", () => {
  it.each([
    { revision: 12, start: "ns/foo", incarnation: "x", madeAt: 1_767_225_600_000 },
    { revision: -1, start: "é", incarnation: "", madeAt: 0 },
    { revision: 7, start: "ns/bar", incarnation: "x", madeAt: 5, remaining: 999_500 },
  ])("token of $start, encoded and decoded: the same token", (token) => {
    const text = encodeContinue(token);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeContinue(text)).toEqual({ ok: true, value: token });
  });

  it("a token of an earlier release: its time is unknown", () => {
    const text = encodeBase64Url('{"v":"meta.k8s.io/v1","rv":7,"start":"ns/foo","incarnation":"x","remaining":2}');
    const value = { revision: 7, start: "ns/foo", incarnation: "x", madeAt: 0, remaining: 2 };
    expect(decodeContinue(text)).toEqual({ ok: true, value });
  });

  it.each([
    ["!!!", "illegal base64 data"],
    ["a", "illegal base64 data"],
    [encodeBase64Url("{"), "not JSON"],
    [encodeBase64Url("1"), "not an object"],
    [encodeBase64Url('{"v":"other"}'), "server does not recognize this encoded version"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":0,"start":"a","incarnation":"x"}'), "incorrect encoded start resourceVersion"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1.5,"start":"a","incarnation":"x"}'), "incorrect encoded start resourceVersion"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1,"start":"","incarnation":"x"}'), "encoded start key empty"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1,"start":"a"}'), "incorrect encoded incarnation"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1,"start":"a","incarnation":"x","at":-1}'), "incorrect encoded time"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1,"start":"a","incarnation":"x","at":"5"}'), "incorrect encoded time"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1,"start":"a","incarnation":"x","remaining":-1}'), "incorrect encoded remaining count"],
    [encodeBase64Url('{"v":"meta.k8s.io/v1","rv":1,"start":"a","incarnation":"x","remaining":"1"}'), "incorrect encoded remaining count"],
  ])("%j: refused", (text, why) => {
    expect(decodeContinue(text)).toEqual({ ok: false, error: `invalid continue token: continue key is not valid: ${why}` });
  });
});
