/** Objects that a cluster makes for itself: a cluster that has no others is empty. */
import { DEFAULT_NAME, DEFAULT_NAMESPACE, DEFAULT_SERVICE } from "../../api/registry/default-objects";
import { LABEL_SERVICE_NAME } from "../../api/meta/endpoint-keys";
import type { IPAddress, KubeObject } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { LABEL_BOOTSTRAPPING, RBAC_DEFAULTS } from "../../api/meta/rbac-names";
import { namespacesDefinition } from "../../api/registry/namespaces/definition";
import { DEFAULT_SERVICE_ACCOUNT } from "../../controllers/every-namespace/default-service-account";
import { ROOT_CERTIFICATE } from "../../controllers/every-namespace/root-certificate";
import { LABEL_IDENTITY } from "../../leases/identity/identity-lease";
import type { BackupType } from "./format";
import { MARK } from "./mark";
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  ENDPOINT_SLICES,
  ENDPOINTS,
  IP_ADDRESSES,
  LEASES,
  NAMESPACES,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
  SERVICE_CIDRS,
  SERVICES,
  typeName,
} from "./order";

/** Whether every cluster has the object, or its server renews it. */
export function isInitial(object: KubeObject, type: Pick<BackupType, "group" | "resource">): boolean {
  const { metadata } = object;
  const isDefault = keyOf(object) === DEFAULT_SERVICE;
  switch (typeName(type)) {
    case NAMESPACES:
      return namespacesDefinition.initialObjects.some(({ metadata: initial }) => initial?.name === metadata?.name);
    case SERVICE_CIDRS:
      return metadata?.name === DEFAULT_NAME;
    case SERVICES:
    case ENDPOINTS:
      return isDefault;
    case ENDPOINT_SLICES:
      return metadata?.namespace === DEFAULT_NAMESPACE && metadata.labels?.[LABEL_SERVICE_NAME] === DEFAULT_NAME;
    case IP_ADDRESSES: {
      const parent = (object as IPAddress).spec?.parentRef;
      return parent?.resource === "services" && parent.namespace === DEFAULT_NAMESPACE && parent.name === DEFAULT_NAME;
    }
    case CLUSTER_ROLES:
    case CLUSTER_ROLE_BINDINGS:
    case ROLES:
    case ROLE_BINDINGS:
      return metadata?.labels?.[LABEL_BOOTSTRAPPING] === RBAC_DEFAULTS;
    // Where roles decide, each namespace has them.
    case SERVICE_ACCOUNTS:
      return metadata?.name === DEFAULT_SERVICE_ACCOUNT;
    case CONFIG_MAPS:
      return metadata?.name === ROOT_CERTIFICATE;
    case LEASES:
      return metadata?.labels?.[LABEL_IDENTITY] !== undefined || keyOf(object) === `${MARK.namespace}/${MARK.name}`;
    default:
      return false;
  }
}
