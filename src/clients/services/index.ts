/**
 * A follower of Services and their endpoints for proxies, on any API server (docs/proxies.md). The server's own view for proxies uses it too, so it
 * stands among the endpoints.
 */
export { type FollowedServices, followServices } from "../../endpoints/merge/follow-services";
export type { ServiceRef } from "../../endpoints/merge/merged-services";
export { type NodePlace, usableEndpoints } from "../../endpoints/merge/usable-endpoints";
