import { describe, expect, it } from "vitest";
import { get, json } from "../../client";

describe("OpenAPI", () => {
  it("the index: each document with its hash, without the cluster's prefix", async () => {
    const { paths } = await json<{ paths: Record<string, { serverRelativeURL: string }> }>("/clusters/east/openapi/v3");
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["api/v1", "apis/networking.k8s.io/v1", "apis/networking.k8s.io/v1beta1"]));
    const url = paths["api/v1"]?.serverRelativeURL ?? "";
    expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+$/);
    const document = await get(url);
    expect(document.headers.get("Cache-Control")).toContain("immutable");
    expect(await document.json()).toMatchObject({ openapi: "3.0.0" });
  });

  it("a wrong hash: a relative redirect; no hash: an answer without caching; an unknown document: 404", async () => {
    const wrong = await get("/clusters/east/openapi/v3/api/v1?hash=0");
    expect(wrong.status).toBe(301);
    expect(wrong.headers.get("Location")).toMatch(/^\?hash=[0-9A-F]+$/);
    const plain = await get("/openapi/v3/api/v1");
    expect(plain.status).toBe(200);
    expect(plain.headers.get("Cache-Control")).not.toContain("immutable");
    expect((await get("/openapi/v3/apis/unknown/v1")).status).toBe(404);
  });

  it("an unchanged document: 304", async () => {
    const etag = (await get("/openapi/v3/api/v1")).headers.get("ETag") ?? "";
    expect(etag).toMatch(/^"[0-9A-F]+"$/);
    expect((await get("/openapi/v3/api/v1", { "If-None-Match": etag })).status).toBe(304);
  });

  const PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

  it("v2: protobuf for client-go, JSON for other clients", async () => {
    const protobuf = await get("/openapi/v2", { Accept: PROTOBUF });
    expect(protobuf.headers.get("Content-Type")).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    // field 1, a text of three bytes: "2.0"
    expect(new Uint8Array(await protobuf.arrayBuffer()).slice(0, 5)).toEqual(Uint8Array.of(10, 3, 50, 46, 48));
    for (const accept of [undefined, "*/*", "application/json", "text/html, application/json;q=0.9"]) {
      const plain = await get("/openapi/v2", accept === undefined ? {} : { Accept: accept });
      expect(plain.headers.get("Content-Type")).toBe("application/json");
      expect(await plain.json()).toMatchObject({ swagger: "2.0" });
    }
    expect((await get("/openapi/v2", { Accept: "text/html" })).status).toBe(406);
  });

  it.each([PROTOBUF, "application/json"])("v2 as %s: a tag of its own", async (Accept) => {
    const etag = (await get("/openapi/v2", { Accept })).headers.get("ETag") ?? "";
    expect(etag).toMatch(/^"[0-9A-F]+"$/);
    expect((await get("/openapi/v2", { Accept, "If-None-Match": etag })).status).toBe(304);
    const other = Accept === PROTOBUF ? "application/json" : PROTOBUF;
    expect((await get("/openapi/v2", { Accept: other, "If-None-Match": etag })).status).toBe(200);
  });

  it.each(["/openapi/v2", "/openapi/v3/api/v1"])("%s: compressed for clients that take gzip", async (path) => {
    const response = await get(path, { "Accept-Encoding": "gzip" });
    expect(response.headers.get("Content-Encoding")).toBe("gzip");
    expect(response.headers.get("Vary")).toContain("Accept-Encoding");
    expect((await get(path)).headers.get("Content-Encoding")).toBeNull();
  });
});
