/**
 * A follower of Services and their endpoints for proxies, on any API server (docs/proxies.md). The server's own view for proxies uses it too, so it
 * stands among the endpoints.
 */
export type { FetchLike } from "../../api/client/fetch-like";
export { portKey } from "../../api/registry/endpoint-slices/slice-portion";
export { policyUse } from "../../api/registry/services/proxied-service";
export { type FollowedServices, followServices } from "../../endpoints/merge/follow-services";
export type { ServiceRef } from "../../endpoints/merge/merged-services";
export { type NodePlace, usableEndpoints } from "../../endpoints/merge/usable-endpoints";
