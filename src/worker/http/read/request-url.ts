/**
 * The raw request URL, split without decoding: an encoded slash inside a name never becomes a path separator.
 */

import { DEFAULT_CLUSTER } from "../../../tenancy/cluster-id";

const CLUSTERS_PREFIX = "/clusters/";
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface RequestUrl {
  cluster: string;
  /** percent-encoded as sent, starts with "/"; inside the cluster, so the prefix is gone */
  path: string;
  /** without "?" */
  query: string;
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
  const { path: whole, query } = splitTarget(url);
  if (!whole.startsWith(CLUSTERS_PREFIX)) return { cluster: DEFAULT_CLUSTER, path: whole, query };
  const end = whole.indexOf("/", CLUSTERS_PREFIX.length);
  const cluster = whole.slice(CLUSTERS_PREFIX.length, end < 0 ? whole.length : end);
  if (end < 0 || !CLUSTER_NAME.test(cluster)) return { cluster: "", path: whole, query };
  return { cluster, path: whole.slice(end), query };
}

const NO_QUERY = new URLSearchParams();

/** The parsed query; callers only read it. */
export function parseQuery(query: string): URLSearchParams {
  return query === "" ? NO_QUERY : new URLSearchParams(query);
}
