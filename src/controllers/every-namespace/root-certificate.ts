/** The ConfigMap with which clients inside a cluster verify its server. Source: upstream pkg/controller/certificates/rootcacertpublisher/publisher.go. */
import { semanticEqual } from "../../api/meta/equality";
import type { ConfigMap } from "../../api/meta/kubernetes";
import type { WantedObject } from "./wanted-object";

export const ROOT_CERTIFICATE = "kube-root-ca.crt";
const KEY = "ca.crt";
const DESCRIPTION_ANNOTATION = "kubernetes.io/description";
const DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or " +
  "kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** @param certificates PEM text */
export function rootCertificate(certificates: string): WantedObject {
  const data = { [KEY]: certificates };
  const describedBy = ({ metadata }: ConfigMap): string => metadata?.annotations?.[DESCRIPTION_ANNOTATION] ?? "";
  return {
    name: ROOT_CERTIFICATE,
    manager: "root-ca-certificate-publisher-controller",
    create: () => ({ metadata: { annotations: { [DESCRIPTION_ANNOTATION]: DESCRIPTION } }, data }) as ConfigMap,
    // Other annotations and labels are whoever's they are.
    isRight: (object: ConfigMap) => semanticEqual(object.data, data) && describedBy(object) !== "",
    mended: (object: ConfigMap): ConfigMap => {
      const annotations = { ...object.metadata?.annotations, [DESCRIPTION_ANNOTATION]: DESCRIPTION };
      return { ...object, metadata: { ...object.metadata, annotations }, data };
    },
  };
}
