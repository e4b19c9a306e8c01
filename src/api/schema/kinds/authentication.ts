/**
 * authentication.k8s.io/v1: reviews of the sender and of tokens, and requests for tokens; created and answered, never stored (k8s.io/api authentication/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import { always, bool, int64, kind, listOf, mapOf, message, plain, pointer, ref, required, string, time } from "../dsl";
import type { MessageSchema } from "../types";

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

const BoundObjectReference: MessageSchema = message(
  "io.k8s.api.authentication.v1.BoundObjectReference",
  {
    kind: plain(1, string, "Pod, Node or Secret."),
    apiVersion: plain(2, string, "API version of the object."),
    name: plain(3, string, "Name of the object."),
    uid: plain(4, string, "UID of the object."),
  },
  { description: "The object that a token lives and dies with." },
);

const TokenRequestSpec: MessageSchema = message(
  "io.k8s.api.authentication.v1.TokenRequestSpec",
  {
    audiences: always(1, listOf(string), "For whom the token is; none = for the API server."),
    expirationSeconds: pointer(4, int64, "For how long the token is good; the server may shorten it."),
    boundObjectRef: pointer(3, ref(BoundObjectReference), "The token is good as long as this object is there."),
  },
  { description: "The token that is wanted." },
);

const TokenRequestStatus: MessageSchema = message(
  "io.k8s.api.authentication.v1.TokenRequestStatus",
  {
    token: always(1, string, "The token."),
    expirationTimestamp: always(2, time, "When it ends."),
  },
  { description: "The token that was made." },
);

export const TokenRequestSchema: MessageSchema = kind(
  "io.k8s.api.authentication.v1.TokenRequest",
  "Asks for a token of a ServiceAccount.",
  {
    metadata: plain(1, ref(ObjectMeta), "Metadata; not stored."),
    spec: always(2, ref(TokenRequestSpec), "The token that is wanted."),
    status: plain(3, ref(TokenRequestStatus), "The answer; filled by the server."),
  },
);
