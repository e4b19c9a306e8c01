/**
 * The handshake of a watch over WebSocket.
 * Source: upstream apiserver pkg/authentication/request/websocket/protocol.go and endpoints/handlers/watch.go.
 */

import { badRequest, type Status } from "../../../api/meta/status";
import { BEARER_PROTOCOL } from "../read/credentials";

/** The subprotocol to agree on, "" = none; undefined = the request asks for no socket. */
export function socketProtocol(headers: Headers): string | undefined {
  if (headers.get("Upgrade")?.toLowerCase() !== "websocket") return undefined;
  return agreedProtocol(headers.get("Sec-WebSocket-Protocol") ?? "");
}

/**
 * Why a handshake over the local runner's socket cannot be completed; undefined = it can. The runtime refuses such a one when it is answered, and the answer's
 * socket then hears nothing for ever. A deployment has the platform's own server in front. Source: RFC 6455 §4.2.1.
 */
export function brokenHandshake({ headers, cf }: Pick<Request, "headers" | "cf">): Status | undefined {
  // The local runner names no data centre.
  if (cf?.colo !== undefined || (headers.get("Sec-WebSocket-Key") && headers.get("Sec-WebSocket-Version")?.trim() === "13"))
    return undefined;
  return badRequest("the WebSocket handshake needs a Sec-WebSocket-Key and the Sec-WebSocket-Version 13");
}

/** The first subprotocol on offer that is no token, which the server never selects; "" = none. */
function agreedProtocol(offered: string): string {
  const protocols = offered.split(",").map((protocol) => protocol.trim());
  return protocols.find((protocol) => protocol !== "" && !protocol.startsWith(BEARER_PROTOCOL)) ?? "";
}
