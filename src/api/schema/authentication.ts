/**
 * authentication.k8s.io/v1: reviews of the sender and of tokens; created and answered, never stored (k8s.io/api authentication/v1, v0.36).
 */
import { ObjectMeta } from "./meta";
import { bool, kind, listOf, mapOf, message, plain, ref, required, string } from "./dsl";
import type { MessageSchema } from "./types";

const UserInfo: MessageSchema = message(
  "io.k8s.api.authentication.v1.UserInfo",
  {
    username: plain(1, string, "Name of the user."),
    uid: plain(2, string, "Identifier of the user, for users whose name may be used again."),
    groups: plain(3, listOf(string), "Groups of the user."),
    extra: plain(4, mapOf(listOf(string)), "More facts about the user."),
  },
  { description: "A user as the server knows it." },
);

const SelfSubjectReviewStatus: MessageSchema = message(
  "io.k8s.api.authentication.v1.SelfSubjectReviewStatus",
  {
    userInfo: plain(1, ref(UserInfo), "The sender."),
  },
  { description: "Who the sender is." },
);

export const SelfSubjectReviewSchema: MessageSchema = kind("io.k8s.api.authentication.v1.SelfSubjectReview", "Asks who the caller is.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
  status: plain(2, ref(SelfSubjectReviewStatus), "Who the sender is; filled by the server."),
});

const TokenReviewSpec: MessageSchema = message(
  "io.k8s.api.authentication.v1.TokenReviewSpec",
  {
    token: plain(1, string, "The token.", { required: true }),
    audiences: plain(2, listOf(string), "For whom the token must be; unset = for the API server."),
  },
  { description: "The token that is asked about." },
);

const TokenReviewStatus: MessageSchema = message(
  "io.k8s.api.authentication.v1.TokenReviewStatus",
  {
    authenticated: plain(1, bool, "Whether the token belongs to a known user."),
    user: plain(2, ref(UserInfo), "The user."),
    audiences: plain(4, listOf(string), "Audiences that both the token and the request name."),
    error: plain(3, string, "Why the token could not be checked."),
  },
  { description: "Whether the token is good." },
);

export const TokenReviewSchema: MessageSchema = kind("io.k8s.api.authentication.v1.TokenReview", "Asks whom a token belongs to.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
  spec: required(2, ref(TokenReviewSpec), "The token that is asked about."),
  status: plain(3, ref(TokenReviewStatus), "The answer; filled by the server."),
});
