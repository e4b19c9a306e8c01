/** The labels by which upstream's allocator knows its own IPAddress objects (k8s.io/api networking/v1). */
export const MANAGED_BY_LABEL = "ipaddress.kubernetes.io/managed-by";
export const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
/** Value of the managed-by label. */
export const ALLOCATOR_NAME = "ipallocator.k8s.io";
/** How long repair leaves such an object without its Service alone: the Service may be on its way. Upstream's (repairip.go). */
export const ORPHAN_GRACE_MS = 60_000;
