/** What a cluster makes for itself: a cluster that has nothing else is empty. */
import type { IPAddress, KubeObject } from "../meta/kubernetes";
import { keyOf } from "../meta/object-key";
import { namespacesDefinition } from "../registry/namespaces/definition";
import type { BackupType } from "./format";
import { MARK } from "./mark";

const DEFAULT_NAMESPACE = "default";
const DEFAULT_NAME = "kubernetes";
const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
const IDENTITY_LABEL = "apiserver.kubernetes.io/identity";

/** Whether the object is one that every cluster has, or that its server renews by itself. */
export function isInitial(object: KubeObject, { resource }: Pick<BackupType, "resource">): boolean {
  const { metadata } = object;
  const isDefault = metadata?.namespace === DEFAULT_NAMESPACE && metadata.name === DEFAULT_NAME;
  switch (resource) {
    case "namespaces":
      return namespacesDefinition.initialObjects.some(({ metadata: initial }) => initial?.name === metadata?.name);
    case "servicecidrs":
      return metadata?.name === DEFAULT_NAME;
    case "services":
    case "endpoints":
      return isDefault;
    case "endpointslices":
      return metadata?.namespace === DEFAULT_NAMESPACE && metadata.labels?.[SERVICE_NAME_LABEL] === DEFAULT_NAME;
    case "ipaddresses": {
      const parent = (object as IPAddress).spec?.parentRef;
      return parent?.resource === "services" && parent.namespace === DEFAULT_NAMESPACE && parent.name === DEFAULT_NAME;
    }
    case "leases":
      return metadata?.labels?.[IDENTITY_LABEL] !== undefined || keyOf(object) === `${MARK.namespace}/${MARK.name}`;
    default:
      return false;
  }
}
