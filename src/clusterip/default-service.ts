/** The Service through which clients inside a cluster reach the API: `default/kubernetes` on the first address of the primary range. */
import type { Config } from "../config/config";
import type { Service } from "../meta/kubernetes";
import { SERVER_MANAGER } from "../registry/field-tracking";
import type { WriteRequest } from "../rpc/store";

/** The port on which the API is served to clusters, and where it listens (upstream's secure port). */
const SERVICE_PORT = 443;
const TARGET_PORT = 6443;

/** The create request (services-and-addresses §6.3; upstream pkg/controlplane/controller/kubernetesservice). */
export function defaultService(config: Config): WriteRequest & { verb: "create" } {
  const service: Service = {
    metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      type: "ClusterIP",
      clusterIP: config.apiServerServiceIP,
      clusterIPs: [config.apiServerServiceIP],
      ipFamilyPolicy: "SingleStack",
      sessionAffinity: "None",
      ports: [{ name: "https", protocol: "TCP", port: SERVICE_PORT, targetPort: TARGET_PORT }],
    },
  };
  return {
    verb: "create",
    namespace: "default",
    object: JSON.stringify(service),
    options: { dryRun: false, fieldManager: SERVER_MANAGER, fieldValidation: "Strict", force: false, group: "", version: "v1" },
  };
}
