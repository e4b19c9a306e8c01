/** The kubeconfig of a local server. */
import { stringify } from "yaml";

/** What clients need to know of a server with HTTPS. */
export interface Credentials {
  /** of the CA, PEM */
  ca: string;
  token: string;
}

/**
 * Text of a kubeconfig with one context, "servicenet", for the server at `url`. Without credentials it is for plain HTTP. The official JavaScript client
 * talks plain HTTP only where insecure-skip-tls-verify says so; kubectl does not look at it.
 */
export function kubeconfig(url: string, credentials?: Credentials): string {
  const trust = credentials
    ? { "certificate-authority-data": Buffer.from(credentials.ca).toString("base64") }
    : { "insecure-skip-tls-verify": true };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "servicenet", cluster: { server: url, ...trust } }],
    users: [{ name: "servicenet", user: credentials ? { token: credentials.token } : {} }],
    contexts: [{ name: "servicenet", context: { cluster: "servicenet", user: "servicenet", namespace: "default" } }],
    "current-context": "servicenet",
  });
}
