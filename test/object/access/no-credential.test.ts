/** Requests that no credential stands behind: refused before anything of a cluster is asked, so none is made for them. */
import { beforeEach, describe, expect, it } from "vitest";
import { AccessWorld } from "../../support/access/access-world";

const SERVICES = "/api/v1/namespaces/default/services";

let world: AccessWorld;
beforeEach(() => void (world = new AccessWorld()));

describe("authentication", () => {
  it.each([
    "/",
    "/version",
    "/api",
    "/apis",
    SERVICES,
    "/metrics",
    "/check",
    "/revisions",
    "/recoveries",
    "/clusters/blue",
    "/nothing",
    "/openapi/v3",
    "/nodes/n/healthz",
  ])("%s without a credential: 401", async (path) => {
    const answer = await world.ask("GET", path, { token: "" });
    expect(answer).toMatchObject({ code: 401, body: { kind: "Status", reason: "Unauthorized", message: "Unauthorized" } });
  });

  it.each(["/healthz", "/livez", "/readyz"])("%s without a credential: answered", async (path) => {
    expect((await world.ask("GET", path, { token: "" })).code).toBe(200);
  });

  it.each(["x", "sn_", "sn_0123456789abcdef0123_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "eyJhbGciOiJub25lIn0.e30."])(
    "wrong token %s: 401, also where none is needed",
    async (token) => {
      expect((await world.ask("GET", "/version", { token })).code).toBe(401);
      expect((await world.ask("GET", "/healthz", { token })).code).toBe(401);
    },
  );
});
