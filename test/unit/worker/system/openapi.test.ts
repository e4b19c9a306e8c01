import { describe, expect, it } from "vitest";
import { get, json } from "../client";

describe("OpenAPI", () => {
  it("the index names each document with its hash, without the cluster's prefix", async () => {
    const { paths } = await json<{ paths: Record<string, { serverRelativeURL: string }> }>("/clusters/east/openapi/v3");
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["api/v1", "apis/networking.k8s.io/v1", "apis/networking.k8s.io/v1beta1"]));
    const url = paths["api/v1"]?.serverRelativeURL ?? "";
    expect(url).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]+$/);
    const document = await get(url);
    expect(document.headers.get("Cache-Control")).toContain("immutable");
    expect(await document.json()).toMatchObject({ openapi: "3.0.0" });
  });

  it("a wrong hash is redirected relative to itself, no hash is answered but not kept, an unknown document is 404", async () => {
    const wrong = await get("/clusters/east/openapi/v3/api/v1?hash=0");
    expect(wrong.status).toBe(301);
    expect(wrong.headers.get("Location")).toMatch(/^\?hash=[0-9A-F]+$/);
    const plain = await get("/openapi/v3/api/v1");
    expect(plain.status).toBe(200);
    expect(plain.headers.get("Cache-Control")).not.toContain("immutable");
    expect((await get("/openapi/v3/apis/unknown/v1")).status).toBe(404);
  });

  it("an unchanged document is 304", async () => {
    const etag = (await get("/openapi/v3/api/v1")).headers.get("ETag") ?? "";
    expect(etag).toMatch(/^"[0-9A-F]+"$/);
    expect((await get("/openapi/v3/api/v1", { "If-None-Match": etag })).status).toBe(304);
  });

  it("v2 is an empty protobuf document", async () => {
    const response = await get("/openapi/v2", { Accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" });
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    expect(await response.text()).toBe("");
  });
});
