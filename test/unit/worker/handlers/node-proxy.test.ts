import { expect, it } from "vitest";
import { get } from "../client";

it.each([
  ["/api/v1/nodes/n/proxy", "/api/v1/nodes/n/proxy/"],
  ["/api/v1/nodes/n:10256/proxy?a=b", "/api/v1/nodes/n:10256/proxy/?a=b"],
])("GET %s: redirected to the directory", async (path, location) => {
  const response = await get(path);
  expect([response.status, response.headers.get("Location")]).toEqual([301, location]);
});
