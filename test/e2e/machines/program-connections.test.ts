/** The connections that the operators' programs keep between their requests. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it } from "vitest";
import { send } from "../../../scripts/cluster/send";

it("a connection without a request: the program closes it, and a slow answer on another one still comes", async () => {
  let slow: ServerResponse | undefined;
  let idle: Socket | undefined;
  const server = createServer((request, response) => {
    if (request.url === "/slow") slow = response;
    else {
      idle = request.socket;
      response.end("quick");
    }
  });
  // It closes nothing by itself.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, options: {} };
  const waiting = send(target, "GET", "/slow");
  await expect.poll(() => slow, { timeout: 30_000 }).toBeDefined();
  expect((await send(target, "GET", "/quick")).text).toBe("quick");
  if (idle && !idle.closed) await once(idle, "close");
  slow?.end("slow");
  expect((await waiting).text).toBe("slow");
  server.close();
});
