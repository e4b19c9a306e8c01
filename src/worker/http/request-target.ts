/**
 * The request target as the client wrote it (RFC 9112 §3.2). The platform passes absolute URLs only; the socket of the local runner passes everything
 * that its parser takes.
 */
import { authorityOf, hostOf } from "./authority";
import { textResponse } from "./respond";

/** The answer to a request without a usable path or host, as Go's net/http; undefined = there are both. */
export function malformedRequest(request: Request): Response | undefined {
  const { url, method } = request;
  // What OPTIONS asks of the server as a whole. Go: globalOptionsHandler.
  if (url === "*" && method === "OPTIONS") return new Response(null, { status: 200 });
  if (!url.startsWith("/") && !/^https?:\/\//i.test(url)) return textResponse(400, "400 Bad Request: malformed request target");
  const authority = authorityOf(request);
  if (authority === "" ? !url.startsWith("/") : hostOf(authority) === undefined) {
    return textResponse(400, "400 Bad Request: malformed Host header");
  }
  return undefined;
}
