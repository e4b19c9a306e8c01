/** The objects that every cluster has from the start: the Service `default/kubernetes` and the ServiceCIDR `kubernetes`. */
import { keyOf } from "../meta/object-key";

export const DEFAULT_NAMESPACE = "default";
export const DEFAULT_NAME = "kubernetes";
/** `namespace/name` */
export const DEFAULT_SERVICE = keyOf({ metadata: { namespace: DEFAULT_NAMESPACE, name: DEFAULT_NAME } });

/** Where the API is served to clusters (upstream's secure port): the target port of the Service. */
export const API_SERVER_PORT = 6443;
