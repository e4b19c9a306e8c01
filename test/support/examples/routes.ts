import { type FetchLike, followServices, type NodePlace, policyUse, portKey, type ServiceRef, usableEndpoints } from "servicenet/services";

const clock = {
  now: () => Date.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Where connections to a port of a Service go: from its ClusterIP and port to any of these `ip:port`. */
export interface Route {
  from: string;
  to: string[];
}

/** Calls `serve` with the routes of each Service on a node, at once and at each change; with none when it is gone. The result ends it. */
export function followRoutes(fetchLike: FetchLike, node: NodePlace, serve: (of: ServiceRef, routes: Route[]) => void): () => void {
  const followed = followServices({
    fetch: fetchLike,
    clock,
    random: { next: Math.random },
    onPending: () => {
      const { updated, removed } = followed.sync();
      for (const { service, endpoints } of updated) {
        const routes = service.ports.map((port) => {
          const { local, cluster } = usableEndpoints(endpoints.get(portKey(port)) ?? [], policyUse(service, port), node);
          const usable = service.internalTrafficPolicy === "Local" ? local : cluster;
          return { from: `${service.clusterIP} ${port.protocol} ${port.port}`, to: (usable ?? []).map(({ key }) => key) };
        });
        serve(service, routes);
      }
      for (const service of removed) serve(service, []);
    },
    onError: (error) => console.error(`services: ${error.message}`),
  });
  return () => followed.stop();
}
