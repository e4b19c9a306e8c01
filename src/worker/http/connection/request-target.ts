/**
 * The request target as the client wrote it (RFC 9112 §3.2). The platform passes absolute URLs only; the socket of the local runner passes everything
 * that its parser takes.
 */
import { hostOf, isAuthority } from "../read/authority";
import { urlOf } from "../read/request-url";
import { textResponse } from "../answer/respond";

/** Source: Go's net/url stringContainsCTLByte. */
const CONTROL = /[^ -~\u0080-\uffff]/;

/** The answer to a request without a usable path or host, as Go's net/http; undefined = there are both. Other schemes than HTTP's are refused, too. */
export function malformedRequest(request: Request): Response | undefined {
  const { url, method, headers } = request;
  // What OPTIONS asks of the server as a whole. Go: globalOptionsHandler.
  if (url === "*" && method === "OPTIONS") return new Response(null, { status: 200 });
  const isTarget = (url.startsWith("/") || /^https?:\/\//i.test(url)) && !CONTROL.test(url) && isAuthority(urlOf(request).authority ?? "");
  if (!isTarget) return textResponse(400, "400 Bad Request: malformed request target");
  // Also beside an absolute target, whose host counts.
  const host = headers.get("Host") ?? "";
  return host === "" || hostOf(host) !== undefined ? undefined : textResponse(400, "400 Bad Request: malformed Host header");
}
