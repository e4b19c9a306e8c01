/** The answer to a review, once the request has its turn. A review does not need its cluster to exist. */
import { refusalOf } from "../http/in-flight";
import { parseTimeout } from "../http/read/query";
import { statusResponse } from "../http/answer/respond";
import type { RequestTarget } from "../routing/request-info";
import { createReview } from "../handlers/reviews";
import type { TargetRequest } from "./target-request";
import { turn, until } from "./turn";

export async function answerReview(asked: TargetRequest, { review, namespace }: RequestTarget<"review">): Promise<Response> {
  const { request, url, access, refusal, count } = asked;
  const timeout = parseTimeout(url.query);
  if (!timeout.ok) return count(statusResponse(timeout.error, refusal));
  const timeoutMs = timeout.value;
  const place = await turn("create", asked, { timeoutMs });
  if (!place) return count(statusResponse(refusalOf("create"), refusal));
  return until(createReview({ request, place, timeoutMs }, review, namespace, url.query, access), place, asked);
}
