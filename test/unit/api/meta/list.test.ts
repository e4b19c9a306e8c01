import { describe, expect, it } from "vitest";
import { decodeContinue, encodeContinue, listEnvelope } from "../../../../src/api/meta/list";
import { encodeBase64Url } from "../../../../src/api/meta/base64";

describe("listEnvelope", () => {
  it("is the text around the rows", () => {
    const { head, tail } = listEnvelope("Service", "v1", { resourceVersion: "12" });
    expect(head).toBe('{"kind":"ServiceList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[');
    expect(JSON.parse(head + tail)).toEqual({ kind: "ServiceList", apiVersion: "v1", metadata: { resourceVersion: "12" }, items: [] });
  });

  it("has the token and the count of the remaining items", () => {
    const { head, tail } = listEnvelope("Lease", "coordination.k8s.io/v1", {
      resourceVersion: "3",
      continue: 'a"b',
      remainingItemCount: 0,
    });
    expect(JSON.parse(`${head}{"metadata":{}}${tail}`)).toEqual({
      kind: "LeaseList",
      apiVersion: "coordination.k8s.io/v1",
      metadata: { resourceVersion: "3", continue: 'a"b', remainingItemCount: 0 },
      items: [{ metadata: {} }],
    });
  });
});

describe("continue tokens", () => {
  it.each([
    { revision: 12, start: "ns/foo", incarnation: "x" },
    { revision: -1, start: "é", incarnation: "" },
  ])("round trip: $start", (token) => {
    const text = encodeContinue(token);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(decodeContinue(text)).toEqual({ ok: true, value: token });
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
  ])("%j is refused", (text, why) => {
    expect(decodeContinue(text)).toEqual({ ok: false, error: `invalid continue token: continue key is not valid: ${why}` });
  });
});
