/**
 * The raw request URL, split without decoding: an encoded slash inside a name never becomes a path separator.
 */

import { DEFAULT_CLUSTER } from "../../tenancy/cluster-id";

const CLUSTERS_PREFIX = "/clusters/";
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface RequestUrl {
  cluster: string;
  /** percent-encoded as sent, starts with "/"; inside the cluster, so the prefix is gone */
  path: string;
  /** without "?" */
  query: string;
}

/**
 * Splits an absolute URL, or a target that begins with its path. A path under an invalid cluster name stays whole, so that no route matches it.
 */
export function splitRequestUrl(url: string): RequestUrl {
  const start = url.startsWith("/") ? 0 : endOfAuthority(url);
  const mark = url.indexOf("?", start);
  const whole = (mark < 0 ? url.slice(start) : url.slice(start, mark)) || "/";
  const query = mark < 0 ? "" : url.slice(mark + 1);
  if (!whole.startsWith(CLUSTERS_PREFIX)) return { cluster: DEFAULT_CLUSTER, path: whole, query };
  const end = whole.indexOf("/", CLUSTERS_PREFIX.length);
  const cluster = whole.slice(CLUSTERS_PREFIX.length, end < 0 ? whole.length : end);
  if (end < 0 || !CLUSTER_NAME.test(cluster)) return { cluster: "", path: whole, query };
  return { cluster, path: whole.slice(end), query };
}

/** A query may follow at once, and have slashes: `http://h?/healthz` asks for `/`. */
function endOfAuthority(url: string): number {
  const begin = url.indexOf("://") + 3;
  for (let at = begin; at < url.length; at++) if (url[at] === "/" || url[at] === "?") return at;
  return url.length;
}

const NO_QUERY = new URLSearchParams();

/** The parsed query; callers only read it. */
export function parseQuery(query: string): URLSearchParams {
  return query === "" ? NO_QUERY : new URLSearchParams(query);
}
