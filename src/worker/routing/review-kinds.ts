/** The create-only resources of authentication.k8s.io and authorization.k8s.io: asked, answered, never stored. */
import { SelfSubjectReviewSchema, TokenReviewSchema } from "../../api/schema/kinds/authentication";
import {
  LocalSubjectAccessReviewSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
} from "../../api/schema/kinds/authorization";
import type { MessageSchema } from "../../api/schema/types";

export interface Review {
  group: string;
  version: string;
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  schema: MessageSchema;
}

function review(group: string, kind: string, namespaced: boolean, schema: MessageSchema): Review {
  const singular = kind.toLowerCase();
  return { group, version: "v1", resource: `${singular}s`, singular, kind, namespaced, schema };
}

export const REVIEWS: readonly Review[] = [
  review("authentication.k8s.io", "SelfSubjectReview", false, SelfSubjectReviewSchema),
  review("authentication.k8s.io", "TokenReview", false, TokenReviewSchema),
  review("authorization.k8s.io", "LocalSubjectAccessReview", true, LocalSubjectAccessReviewSchema),
  review("authorization.k8s.io", "SelfSubjectAccessReview", false, SelfSubjectAccessReviewSchema),
  review("authorization.k8s.io", "SelfSubjectRulesReview", false, SelfSubjectRulesReviewSchema),
  review("authorization.k8s.io", "SubjectAccessReview", false, SubjectAccessReviewSchema),
];

/** Groups in which a create of what ends with `reviews` stores nothing. */
export const REVIEW_GROUPS: ReadonlySet<string> = new Set(REVIEWS.map(({ group }) => group));
