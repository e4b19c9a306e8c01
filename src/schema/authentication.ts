/**
 * authentication.k8s.io/v1: who am I, and token reviews; never stored (k8s.io/api authentication/v1, v0.36).
 */
import { ObjectMeta } from "./meta";
import { bool, kind, listOf, mapOf, message, plain, ref, required, string } from "./dsl";
import type { MessageSchema } from "./types";

const UserInfo: MessageSchema = message("io.k8s.api.authentication.v1.UserInfo", {
  username: plain(1, string),
  uid: plain(2, string),
  groups: plain(3, listOf(string)),
  extra: plain(4, mapOf(listOf(string))),
});

const SelfSubjectReviewStatus: MessageSchema = message("io.k8s.api.authentication.v1.SelfSubjectReviewStatus", {
  userInfo: plain(1, ref(UserInfo)),
});

export const SelfSubjectReviewSchema: MessageSchema = kind("io.k8s.api.authentication.v1.SelfSubjectReview", "Asks who the caller is.", {
  metadata: plain(1, ref(ObjectMeta)),
  status: plain(2, ref(SelfSubjectReviewStatus)),
});

const TokenReviewSpec: MessageSchema = message("io.k8s.api.authentication.v1.TokenReviewSpec", {
  token: plain(1, string, "", { required: true }),
  audiences: plain(2, listOf(string)),
});

const TokenReviewStatus: MessageSchema = message("io.k8s.api.authentication.v1.TokenReviewStatus", {
  authenticated: plain(1, bool),
  user: plain(2, ref(UserInfo)),
  audiences: plain(4, listOf(string)),
  error: plain(3, string),
});

export const TokenReviewSchema: MessageSchema = kind("io.k8s.api.authentication.v1.TokenReview", "Asks whom a token belongs to.", {
  metadata: plain(1, ref(ObjectMeta)),
  spec: required(2, ref(TokenReviewSpec)),
  status: plain(3, ref(TokenReviewStatus)),
});
