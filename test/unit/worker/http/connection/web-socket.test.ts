import { describe, expect, it } from "vitest";
import { brokenHandshake, socketProtocol } from "../../../../../src/worker/http/connection/web-socket";

const BEARER = "base64url.bearer.authorization.k8s.io.dG9rZW4";

describe("socketProtocol", () => {
  it("no Upgrade, or another one: no socket", () => {
    expect(socketProtocol(new Headers())).toBeUndefined();
    expect(socketProtocol(new Headers({ Upgrade: "h2c" }))).toBeUndefined();
  });

  it.each([
    { offered: undefined, agreed: "" },
    { offered: "v1.watch", agreed: "v1.watch" },
    { offered: `${BEARER}, v1.watch, v2.watch`, agreed: "v1.watch" },
    { offered: `v1.watch,${BEARER}`, agreed: "v1.watch" },
    // A token is never sent back.
    { offered: BEARER, agreed: "" },
    { offered: " , ", agreed: "" },
  ])("offer $offered: agrees on $agreed", ({ offered, agreed }) => {
    const headers = new Headers({ Upgrade: "WebSocket", ...(offered === undefined ? {} : { "Sec-WebSocket-Protocol": offered }) });
    expect(socketProtocol(headers)).toBe(agreed);
  });
});

describe("brokenHandshake", () => {
  const whole = { "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13" };

  it.each<[string, Record<string, string>, number | undefined]>([
    ["whole", whole, undefined],
    ["no key", { ...whole, "Sec-WebSocket-Key": "" }, 400],
    ["no version", { "Sec-WebSocket-Key": whole["Sec-WebSocket-Key"] }, 400],
    ["another version", { ...whole, "Sec-WebSocket-Version": "8" }, 400],
  ])("%s", (_, headers, code) => {
    expect(
      brokenHandshake({ headers: new Headers(headers), cf: { clientIp: "::1" } as unknown as IncomingRequestCfProperties })?.code,
    ).toBe(code);
    // Behind the platform's own server.
    expect(brokenHandshake({ headers: new Headers(headers), cf: { colo: "AMS" } as IncomingRequestCfProperties })).toBeUndefined();
  });
});
