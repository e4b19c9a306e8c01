/** A Worker's socket to a store (src/api/store/watch/relay-frames.ts), as the platform gives it to the request that asks. */
import type { Status } from "../../api/meta/status";
import type { CollectionRequest, StoreRpc } from "../../api/rpc/store";
import type { OpenedSocket } from "../../api/relay/feed";
import { COLLECTION_HEADER, encodeCollection } from "../../api/store/list/collection-header";
import { parseOwnerSource, SOURCE_HEADER } from "../../api/store/list/list-source";
import { readRelayFrame, RELAY_FORM, RELAY_HEADER } from "../../api/store/watch/relay-frames";
import { err, ok, type Result } from "../../core/base/result";
import { call, type CallOptions } from "./call";

/** The store is of the release before, and knows no such sockets. */
export class EarlierStore extends Error {}

/** Asks the store for a watch over a socket. A Status is its refusal. Rejects as `call` does, and with EarlierStore. */
export async function openStoreSocket(
  store: () => Pick<StoreRpc, "fetch">,
  request: CollectionRequest,
  options: CallOptions,
): Promise<Result<OpenedSocket, Status>> {
  const headers = { Upgrade: "websocket", [RELAY_HEADER]: RELAY_FORM, [COLLECTION_HEADER]: encodeCollection(request) };
  let isOver = false;
  const ask = async (): Promise<Response> => {
    const response = await store().fetch(new Request("http://store/collection", { headers }));
    if (isOver) discard(response);
    return response;
  };
  const answer = await call(ask, options).finally(() => (isOver = true));
  if (!answer.ok) return answer;
  const response = answer.value;
  const socket = response.webSocket;
  if (!socket) return err((await response.json()) as Status);
  const source = response.headers.get(SOURCE_HEADER) ?? "";
  socket.accept();
  socket.binaryType = "arraybuffer";
  if (response.headers.get(RELAY_HEADER) !== RELAY_FORM) {
    socket.close();
    throw new EarlierStore("the store is of the release before");
  }
  return ok({
    source,
    incarnation: parseOwnerSource(source, 0)?.incarnation ?? "",
    listen(heard, ended) {
      socket.addEventListener("message", ({ data }) => {
        const frame = readRelayFrame(data);
        // What comes after it would leave a gap.
        if (frame) heard(frame);
        else ended();
      });
      for (const event of ["close", "error"] as const) socket.addEventListener(event, ended);
    },
    send: (text) => socket.send(text),
    close: () => socket.close(),
  });
}

/** The answer comes after the time of its call: nobody would ever close its socket. */
function discard({ webSocket }: Response): void {
  webSocket?.accept();
  webSocket?.close();
}
