/** A follower of the ranges of Services, on any API server (docs/ranges.md). */
export type { FetchLike } from "../../api/client/fetch-like";
export { type FollowedRanges, followRanges } from "./follow-ranges";
