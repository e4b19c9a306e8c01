/**
 * The handshake of a watch over WebSocket, as it goes on to the store.
 * Source: upstream apiserver pkg/authentication/request/websocket/protocol.go and endpoints/handlers/watch.go.
 */

import { BEARER_PROTOCOL } from "../read/credentials";

/** The headers that make the store answer with a socket; undefined = the request asks for none. */
export function socketHeaders(headers: Headers): Record<string, string> | undefined {
  if (headers.get("Upgrade")?.toLowerCase() !== "websocket") return undefined;
  const protocol = agreedProtocol(headers.get("Sec-WebSocket-Protocol") ?? "");
  return { Upgrade: "websocket", ...(protocol === "" ? {} : { "Sec-WebSocket-Protocol": protocol }) };
}

/** The first subprotocol on offer that is no token, which the server never selects; "" = none. */
function agreedProtocol(offered: string): string {
  const protocols = offered.split(",").map((protocol) => protocol.trim());
  return protocols.find((protocol) => protocol !== "" && !protocol.startsWith(BEARER_PROTOCOL)) ?? "";
}
