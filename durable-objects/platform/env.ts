/** What wrangler.toml binds: objects, the directory of clusters and the variables. */
import { type Config, parseConfig } from "../../src/core/config/config";

export interface Env {
  COORDINATOR: DurableObjectNamespace;
  SERVICE_CIDR: DurableObjectNamespace;
  RESOURCE_STORE: DurableObjectNamespace;
  SERVICES_STORE: DurableObjectNamespace;
  IP_ADDRESSES_STORE: DurableObjectNamespace;
  CONTROLLER: DurableObjectNamespace;
  PROXY_VIEW: DurableObjectNamespace;
  NODE_PROXY: DurableObjectNamespace;
  CLUSTER_RECORD: DurableObjectNamespace;
  CLUSTER_NAMES: DurableObjectNamespace;
  CREDENTIAL_STORE: DurableObjectNamespace;
  DIRECTORY: KVNamespace;
  LOG_LEVEL?: string;
  SERVICE_CLUSTER_IP_RANGE?: string;
  ADVERTISE_ADDRESSES?: string;
  FEATURE_GATES?: string;
  HOST_NAME?: string;
  APISERVER_LEASE_DURATION_SECONDS?: string;
  APISERVER_LEASE_RENEW_SECONDS?: string;
  APISERVER_LEASE_COLLECT_SECONDS?: string;
  NODE_MONITOR_GRACE_PERIOD_SECONDS?: string;
  NODE_MONITOR_PERIOD_SECONDS?: string;
  NODE_STARTUP_GRACE_PERIOD_SECONDS?: string;
  TERMINATED_POD_GC_THRESHOLD?: string;
  MAX_ENDPOINTS_PER_SLICE?: string;
  ENDPOINTSLICE_UPDATES_BATCH_PERIOD?: string;
  CONTROLLERS?: string;
  DRAINING_TAINTS?: string;
  PROXY_SYNC_PERIOD_SECONDS?: string;
  MAX_REQUESTS_INFLIGHT?: string;
  MAX_MUTATING_REQUESTS_INFLIGHT?: string;
  AUTHORIZATION_MODE?: string;
  /** a secret, not in wrangler.toml: administrators, as `npm run token -- new-admin` prints them */
  ADMIN_TOKEN_HASHES?: string;
  /** not in wrangler.toml: issuers of JWTs, as JSON (docs/access.md) */
  AUTHENTICATION_CONFIG?: string;
  ANONYMOUS_AUTH?: string;
  AUDIT_POLICY?: string;
  ANONYMOUS_NODE_HEALTH?: string;
  STATIC_BAND_GUARD?: string;
  REQUEST_QUEUE_SECONDS?: string;
  FAIR_REQUESTS_MIN?: string;
  MAX_WATCHES_PER_USER?: string;
  /** not in wrangler.toml: `npm start` sets it when it serves HTTPS, the certificates of its authority as PEM */
  ROOT_CA?: string;
  /** not in wrangler.toml: `npm start` sets it, "true" when it listens on a loopback address alone */
  LOOPBACK_ONLY?: string;
  /** not in wrangler.toml either: the names of `npm start --allowed-host`, between commas */
  ALLOWED_HOSTS?: string;
  /** nor is this: when `npm start` began, in ms since the epoch */
  SERVER_STARTED_AT?: string;
}

/** The variables as the Worker has checked them. Throws where they are broken all the same: such an object must not run. */
export function objectConfig(env: Env): Config {
  const config = parseConfig(env as unknown as Record<string, string | undefined>);
  if (!config.ok) throw new Error(config.error.join("; "));
  return config.value;
}
