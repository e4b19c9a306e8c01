/**
 * Which host a request names, and which page sent it. A server on loopback answers to its own names alone. Otherwise a page of the web could read
 * what is served to this machine only, by a name that its owner's DNS leads to 127.0.0.1 for a moment (DNS rebinding).
 */
import type { Config } from "../../../core/config/config";
import { parseAddress } from "../../../core/net/address";
import { urlOf } from "./request-url";

/**
 * `host`, `host:port`, `[v6]:port`, `[v6%25zone]:port`; source of the characters: RFC 3986 §3.2.2 (reg-name), RFC 6874 §2 (zone). A zone is the
 * client's own, so it is left out. A comma joins two Host headers. As in Go, only bytes beyond ASCII are percent-encoded.
 */
const AUTHORITY = /^(?:\[([0-9a-f.]*:[0-9a-f:.]*)(?:%25(?:[\w.~-]|%[0-9a-f]{2})+)?\]|((?:[\w.~!$&'()*+;=-]|%[89a-f][0-9a-f])+))(?::\d*)?$/i;
/** Source: Go's net/url validUserinfo. */
const USER = /^[\w.:~!$&'()*+,;=%@-]*$/;
const LOOPBACK = /^(?:localhost|::1|127\..*)$/;

/** The host of `host:port`, in lower case, without brackets and zone; undefined = malformed. */
export function hostOf(authority: string): string | undefined {
  const [, v6, name] = AUTHORITY.exec(authority) ?? [];
  return (v6 ?? name)?.toLowerCase().replace(/\.$/, "");
}

/** `host:port` of an absolute target that has one, else of the Host header, as in Go; "" = there is none, as in HTTP/1.0. The user before an "@" is nobody here. */
export function authorityOf(request: Request): string {
  const { authority = "" } = urlOf(request);
  return authority.slice(authority.lastIndexOf("@") + 1) || (request.headers.get("Host") ?? "");
}

/**
 * Scheme and host under which the client has reached the server; "" = nobody knows the host. The local runtime calls each request one over http. A server
 * that shows certificates of its own is asked over https alone.
 */
export function originOf(request: Request, { rootCertificates }: Pick<Config, "rootCertificates">): string {
  const authority = authorityOf(request);
  const isSecure = rootCertificates !== "" || request.url.startsWith("https:");
  return authority === "" ? "" : `${isSecure ? "https" : "http"}://${authority}`;
}

/** Whether the authority of an absolute target can be read. */
export function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  return USER.test(authority.slice(0, Math.max(at, 0))) && (host === "" || hostOf(host) !== undefined);
}

/** Whether a server on loopback answers to this host: an address, localhost, or a name that it was started with, in lower case. */
export function isOwnHost(host: string, allowed: readonly string[]): boolean {
  return host === "localhost" || parseAddress(host).ok || allowed.includes(host);
}

/** Whether a page of this Origin header comes from this machine; null = no page asks. */
export function isOwnOrigin(origin: string | null, allowed: readonly string[]): boolean {
  if (origin === null) return true;
  const host = hostOf(/^https?:\/\/(.*)$/i.exec(origin)?.[1] ?? "");
  return host !== undefined && ((LOOPBACK.test(host) && isOwnHost(host, [])) || allowed.includes(host));
}

/**
 * Whether a page of another origin asks for a write or a WebSocket. Browsers send an empty or plain body, or a handshake, to another origin without a
 * preflight request, and say where the page is from. Other clients name no origin, or the host that they ask. A hidden origin (`null`) is another
 * one. Schemes are not compared: a proxy that ends TLS in front of the server asks it over http.
 */
export function isForeignPage(request: Request, allowed: readonly string[]): boolean {
  const origin = request.headers.get("Origin");
  if (origin === null) return false;
  const reads = request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS";
  if (reads && request.headers.get("Upgrade") === null) return false;
  const page = /^https?:\/\/(.*)$/i.exec(origin)?.[1] ?? "";
  const host = hostOf(page);
  if (host === undefined) return true;
  return !allowed.includes(host) && page.toLowerCase() !== authorityOf(request).toLowerCase();
}
