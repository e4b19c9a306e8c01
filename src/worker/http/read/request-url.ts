/**
 * The raw request URL, split without decoding: an encoded slash inside a name never becomes a path separator.
 */

import { DEFAULT_CLUSTER } from "../../../tenancy/cluster-id";

const CLUSTERS_PREFIX = "/clusters/";
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A request's target inside its cluster. */
export class RequestUrl {
  #query: URLSearchParams | undefined;

  /**
   * @param authority of an absolute target: `user@host:port`; undefined = the target begins with its path
   * @param cluster "" = the path is under /clusters/ and inside no cluster
   * @param path percent-encoded as sent, starts with "/"; without the prefix of its cluster
   * @param rawQuery without "?"
   */
  constructor(
    readonly authority: string | undefined,
    readonly cluster: string,
    readonly path: string,
    readonly rawQuery: string,
  ) {}

  /** The first call parses the query. Callers only read it. */
  get query(): URLSearchParams {
    return (this.#query ??= parseQuery(this.rawQuery));
  }

  /** The last segment of the path, percent-encoded; a slash at the end does not count. */
  get lastSegment(): string {
    const trimmed = this.path.endsWith("/") ? this.path.slice(0, -1) : this.path;
    return trimmed.slice(trimmed.lastIndexOf("/") + 1);
  }
}

/** What a request target says, percent-encoded as sent. */
export interface TargetParts {
  /** of an absolute target: `user@host:port`, which may be empty; undefined = the target begins with its path */
  authority: string | undefined;
  /** starts with "/" */
  path: string;
  /** without "?" */
  query: string;
}

/**
 * The parts of an absolute URL, or of a target that begins with its path. Guards and routes read targets by this alone. The first "?" begins the query, before
 * anything else is looked for; a "#" begins nothing. Source: Go's net/url parse, as net/http calls it for a request.
 */
export function splitTarget(url: string): TargetParts {
  const mark = url.indexOf("?");
  const rest = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? "" : url.slice(mark + 1);
  const scheme = rest.startsWith("/") ? -1 : rest.indexOf("://");
  if (scheme < 0) return { authority: undefined, path: rest || "/", query };
  const slash = rest.indexOf("/", scheme + 3);
  const end = slash < 0 ? rest.length : slash;
  return { authority: rest.slice(scheme + 3, end), path: rest.slice(end) || "/", query };
}

/** The target's path and query inside their cluster. A path under an invalid cluster name stays whole, so that no route matches it. */
export function splitRequestUrl(url: string): RequestUrl {
  const { authority, path, query } = splitTarget(url);
  if (!path.startsWith(CLUSTERS_PREFIX)) return new RequestUrl(authority, DEFAULT_CLUSTER, path, query);
  const end = path.indexOf("/", CLUSTERS_PREFIX.length);
  const cluster = path.slice(CLUSTERS_PREFIX.length, end < 0 ? path.length : end);
  if (end < 0 || !CLUSTER_NAME.test(cluster)) return new RequestUrl(authority, "", path, query);
  return new RequestUrl(authority, cluster, path.slice(end), query);
}

const split = new WeakMap<Request, RequestUrl>();

/** The URL of the request. The first call splits it, and later calls return the same object. */
export function urlOf(request: Request): RequestUrl {
  let url = split.get(request);
  if (!url) split.set(request, (url = splitRequestUrl(request.url)));
  return url;
}

/** Path and query as sent, with the prefix of the cluster. HTTP/1.1 calls this the origin-form, and Go the RequestURI. */
export function originForm(url: string): string {
  const { path, query } = splitTarget(url);
  return url.includes("?") ? `${path}?${query}` : path;
}

const NO_QUERY = new URLSearchParams();

function parseQuery(query: string): URLSearchParams {
  return query === "" ? NO_QUERY : new URLSearchParams(query);
}
