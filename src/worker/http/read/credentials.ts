/** The credentials that a request carries, as they were sent. */
import type { Credentials } from "../../../access/authentication/ports";

/** Upstream: apiserver pkg/authentication/request/websocket/protocol.go. Browsers set no headers on a WebSocket. */
export const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

export function credentialsOf(headers: Headers): Credentials {
  const bearer = bearerOf(headers) || socketToken(headers);
  const accessJwt = headers.get("Cf-Access-Jwt-Assertion");
  return { ...(bearer ? { bearer } : {}), ...(accessJwt ? { accessJwt } : {}) };
}

/** "" = none. Source: upstream apiserver pkg/authentication/request/bearertoken. Other schemes name nobody. */
function bearerOf(headers: Headers): string {
  const [scheme = "", token = ""] = headers.get("Authorization")?.trim().split(" ") ?? [];
  return scheme.toLowerCase() === "bearer" ? token : "";
}

/** A token that cannot be read is a wrong one. */
function socketToken(headers: Headers): string | undefined {
  if (headers.get("Upgrade")?.toLowerCase() !== "websocket") return undefined;
  const offered = (headers.get("Sec-WebSocket-Protocol") ?? "").split(",").map((protocol) => protocol.trim());
  const found = offered.find((protocol) => protocol.startsWith(BEARER_PROTOCOL));
  return found === undefined ? undefined : decodedToken(found.slice(BEARER_PROTOCOL.length));
}

function decodedToken(encoded: string): string {
  try {
    // A token is ASCII; any other one is wrong.
    return atob(encoded.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "?";
  }
}
