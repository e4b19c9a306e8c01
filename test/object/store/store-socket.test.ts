/** Both ends of a Worker's socket to a store, beside what the store says over it. */
import { describe, expect, it, vi } from "vitest";
import { ObjectSockets } from "../../../durable-objects/answers/watch-socket";
import { definitionOf } from "../../../src/api/registry/all";
import { STORE_SOCKETS_MAX } from "../../../src/api/store/state/limits";
import { RELAY_FORM, RELAY_HEADER } from "../../../src/api/store/watch/relay-frames";
import { openStoreSocket } from "../../../src/worker/routing/store-socket";
import { PATIENCE } from "../../support/objects/patience";
import { collectionRequest } from "../../support/worlds/store-world";

const LEASES = definitionOf("coordination.k8s.io", "leases");
if (!LEASES) throw new Error("no leases");
const REQUEST = collectionRequest(LEASES, { verb: "watch" });

/** What a store answers, and its end of the socket. */
function answer(): { response: Response; server: WebSocket } {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  return { response: new Response(null, { status: 101, webSocket: client, headers: { [RELAY_HEADER]: RELAY_FORM } }), server };
}

const options = { what: "leases.watch", repeatable: false };

describe("the Worker's end", () => {
  it("what is no frame: is the end, for what follows would leave a gap", async () => {
    const { response, server } = answer();
    const opened = await openStoreSocket(() => ({ fetch: () => Promise.resolve(response) }), REQUEST, options);
    if (!opened.ok) throw new Error(opened.error.message);
    const [heard, ended] = [vi.fn(), vi.fn()];
    opened.value.listen(heard, ended);
    server.send("nonsense");
    await vi.waitFor(() => expect(ended).toHaveBeenCalled(), PATIENCE);
    expect(heard).not.toHaveBeenCalled();
    opened.value.close();
  });

  it("an answer after the time of its call: its socket is closed", async () => {
    const { response, server } = answer();
    const closed = vi.fn();
    server.addEventListener("close", closed);
    let reply: (response: Response) => void = () => undefined;
    const late = new Promise<Response>((resolve) => (reply = resolve));
    const opened = await openStoreSocket(() => ({ fetch: () => late }), REQUEST, { ...options, timeoutMs: 1 });
    expect(opened).toMatchObject({ ok: false, error: { code: 504 } });
    reply(response);
    await vi.waitFor(() => expect(closed).toHaveBeenCalled(), PATIENCE);
  });
});

describe("the store's end", () => {
  it("as many sockets as an object may have: a further handshake is 429", async () => {
    const sockets = Array.from({ length: STORE_SOCKETS_MAX }, () => ({ deserializeAttachment: () => null }));
    const context = { getWebSockets: () => sockets } as unknown as DurableObjectState;
    const prepare = vi.fn();
    const ends = new ObjectSockets(context, { sockets: { wake: () => undefined, prepare }, source: "" } as never);
    const response = ends.open(REQUEST);
    expect([response.status, response.headers.get("Retry-After")]).toEqual([429, "10"]);
    expect(await response.json()).toMatchObject({ reason: "TooManyRequests", details: { retryAfterSeconds: 10 } });
    expect(prepare).not.toHaveBeenCalled();
  });
});
