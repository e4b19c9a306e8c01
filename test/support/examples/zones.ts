import type { KubeConfig } from "@kubernetes/client-node";
import { type FetchLike, type FollowedRanges, followRanges } from "servicenet/ranges";

const clock = {
  now: () => Date.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Calls `serve` with the zones that a DNS server answers for, at once and at each change. The result ends it. */
export function followZones(fetchLike: FetchLike, serve: (zones: string[], ranges: FollowedRanges) => void): () => void {
  return followRanges({
    fetch: fetchLike,
    clock,
    onRanges: (ranges) => serve([...ranges.serving.IPv4.zones, ...ranges.serving.IPv6.zones], ranges),
    onError: (error) => console.error(`ranges: ${error.message}`),
  });
}

/** Plain fetch; `server` is the URL of a cluster. */
export function plainFetch(server: string): FetchLike {
  return (path, init) => fetch(server + path, init);
}

/** The credentials of a kubeconfig, by the official client. */
export function clientFetch(config: KubeConfig): FetchLike {
  return async (path, init) => {
    const { headers } = await config.applyToFetchOptions({});
    const server = config.getCurrentCluster()?.server ?? "";
    return fetch(server + path, { ...init, headers: headers as Record<string, string> });
  };
}
