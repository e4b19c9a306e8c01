/** What wrangler.toml binds: objects, the directory of clusters and the variables. */
export interface Env {
  COORDINATOR: DurableObjectNamespace;
  SERVICE_CIDR: DurableObjectNamespace;
  RESOURCE_STORE: DurableObjectNamespace;
  SERVICES_STORE: DurableObjectNamespace;
  IP_ADDRESSES_STORE: DurableObjectNamespace;
  CONTROLLER: DurableObjectNamespace;
  CLUSTER_RECORD: DurableObjectNamespace;
  DIRECTORY: KVNamespace;
  SERVICE_CLUSTER_IP_RANGE?: string;
  FEATURE_GATES?: string;
  APISERVER_LEASE_DURATION_SECONDS?: string;
  APISERVER_LEASE_RENEW_SECONDS?: string;
  MAX_ENDPOINTS_PER_SLICE?: string;
  MAX_REQUESTS_INFLIGHT?: string;
  MAX_MUTATING_REQUESTS_INFLIGHT?: string;
}
