/** Paths at which load balancers ask for the health of a node. */
import type { HealthPath } from "./health-answer";

/** What a load balancer may ask of a node at a path alone. Names are as they stand in the path. */
export type NodeHealthQuestion = { readonly node: string } & (
  { readonly path: HealthPath } | { readonly namespace: string; readonly service: string }
);

/**
 * The question at a path: `/nodes/{node}/healthz`, `/livez` or `/services/{namespace}/{name}`, below the path of the cluster. undefined = the path asks
 * for no health of a node. These are all paths that load balancers without credentials may be allowed.
 */
export function nodeHealthQuestion(path: string): NodeHealthQuestion | undefined {
  const [root, nodes, node, kind, ...rest] = path.split("/");
  if (root !== "" || nodes !== "nodes" || !node) return undefined;
  if (rest.length === 0) return kind === "healthz" || kind === "livez" ? { node, path: `/${kind}` } : undefined;
  const [namespace, service, ...more] = rest;
  return kind === "services" && namespace && service && more.length === 0 ? { node, namespace, service } : undefined;
}
