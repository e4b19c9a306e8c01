/**
 * A refusal leaves its connection usable: clients send the next request on it. The runtime closes a connection when a request's body was left unread
 * for more than 64 KiB or a second. Bodies of megabytes are sent to each refusal in slow/wire/kept-connections.test.ts.
 */
import { describe, expect, it } from "vitest";
import { Api } from "../../support/clients/api";
import { type Body, KeptConnection } from "../../support/clients/kept-connection";
import { bytes, expectKept, FRAMINGS, JSON_TYPE, type NamedBody, refusedWith, SERVICES } from "../../support/clients/refused-requests";

const TOO_LARGE = FRAMINGS.map((framing): NamedBody => [`a ${framing} body above the limit`, { framing, bytes: bytes(4_000_000) }]);

const { server } = refusedWith(
  FRAMINGS.flatMap((framing): NamedBody[] => [
    [`a small ${framing} body`, { framing, bytes: bytes(100) }],
    [`a large ${framing} body`, { framing, bytes: bytes(150_000) }],
    [`a slow ${framing} body`, { framing, bytes: bytes(200_000), pieces: 5, pauseMs: 15 }],
  ]),
);
const api = new Api(() => server.url);

describe("the connection of a refused request", () => {
  it("a body that is too large (413): serves the next request", () =>
    expectKept({ code: 413, request: { method: "POST", path: SERVICES, headers: JSON_TYPE } }, TOO_LARGE, server));
});

describe("a refused body that goes on", () => {
  it.each<[string, Body]>([
    ["for longer than five seconds", { framing: "chunked", bytes: bytes(70), pieces: 70, pauseMs: 100 }],
    ["far beyond what is read of it", { framing: "chunked", bytes: bytes(64_000_000), pieces: 64 }],
  ])("%s: the connection ends, others are served", async (_, body) => {
    const connection = await KeptConnection.open(server.url);
    try {
      const answer = await connection.send({ method: "POST", path: "/nothing", headers: JSON_TYPE, body }).catch((error: unknown) => error);
      if (answer instanceof Error) expect(answer.message).toBe("the connection ended after nothing");
      else expect(answer).toMatchObject({ code: 404 });
      await api.until(() => Promise.resolve(connection.ended), "the connection has ended");
      expect((await api.get("/livez")).text).toBe("ok");
    } finally {
      connection.close();
    }
  });
});
