/** The kubeconfig of a local server. */
import { stringify } from "yaml";

/**
 * Text of a kubeconfig with one context, "servicenet", for the server at `url`.
 * The official JavaScript client talks plain HTTP only where insecure-skip-tls-verify says so; kubectl does not look at it.
 */
export function kubeconfig(url: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "servicenet", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "servicenet", user: {} }],
    contexts: [{ name: "servicenet", context: { cluster: "servicenet", user: "servicenet", namespace: "default" } }],
    "current-context": "servicenet",
  });
}
