import { describe, expect, it } from "vitest";
import { socketHeaders } from "../../../../../src/worker/http/connection/web-socket";

const BEARER = "base64url.bearer.authorization.k8s.io.dG9rZW4";

describe("socketHeaders", () => {
  it("no Upgrade, or another one: no socket", () => {
    expect(socketHeaders(new Headers())).toBeUndefined();
    expect(socketHeaders(new Headers({ Upgrade: "h2c" }))).toBeUndefined();
  });

  it.each([
    { offered: undefined, agreed: undefined },
    { offered: "v1.watch", agreed: "v1.watch" },
    { offered: `${BEARER}, v1.watch, v2.watch`, agreed: "v1.watch" },
    { offered: `v1.watch,${BEARER}`, agreed: "v1.watch" },
    // A token is never sent back.
    { offered: BEARER, agreed: undefined },
    { offered: " , ", agreed: undefined },
  ])("offer $offered: agrees on $agreed", ({ offered, agreed }) => {
    const headers = new Headers({ Upgrade: "WebSocket", ...(offered === undefined ? {} : { "Sec-WebSocket-Protocol": offered }) });
    expect(socketHeaders(headers)).toEqual({ Upgrade: "websocket", ...(agreed === undefined ? {} : { "Sec-WebSocket-Protocol": agreed }) });
  });
});
