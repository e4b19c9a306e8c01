/** The labels that mark the IPAddress objects of the allocator (upstream k8s.io/api networking/v1). */
export const MANAGED_BY_LABEL = "ipaddress.kubernetes.io/managed-by";
export const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
/** Value of MANAGED_BY_LABEL on these objects. */
export const ALLOCATOR_NAME = "ipallocator.k8s.io";
