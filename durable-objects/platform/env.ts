/** What wrangler.toml binds: objects, the directory of clusters and the variables. */
import { type Config, parseConfig } from "../../src/core/config/config";
import type { VARIABLES, VARIABLES_ELSEWHERE } from "../../src/core/config/variables";

/** The names of all variables, as src/core/config/variables.ts explains them. */
type VariableName =
  (typeof VARIABLES)[keyof typeof VARIABLES]["name"] | (typeof VARIABLES_ELSEWHERE)[keyof typeof VARIABLES_ELSEWHERE]["name"];

export interface Env extends Partial<Record<VariableName, string>> {
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
  /** absent: nothing is backed up by the clock */
  BACKUPS?: R2Bucket;
  /** absent: no counts of the deployment are kept */
  FLEET_METRICS?: AnalyticsEngineDataset;
  /** absent on a local server, which has no versions */
  CF_VERSION_METADATA?: WorkerVersionMetadata;
}

/** The variables as the Worker has checked them. Throws where they are broken all the same: such an object must not run. */
export function objectConfig(env: Env): Config {
  const config = parseConfig(env as unknown as Record<string, string | undefined>);
  if (!config.ok) throw new Error(config.error.join("; "));
  return config.value;
}
