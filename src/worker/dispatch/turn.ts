/** The seats of a request among those under way: taken at its turn, given back with its answer. */
import type { Verb } from "../../api/registry/resource";
import { senderOf } from "../access/access";
import { type BeginningRequest, beginRequest, type HeldSeats } from "../http/in-flight";
import type { TargetRequest } from "./target-request";

/** The place, once it is the request's turn; undefined = there are too many requests. A `verb` of `watch` is not counted. */
export async function turn(
  verb: Verb,
  { config, request, access, url, waitUntil }: TargetRequest,
  more: Pick<BeginningRequest, "timeoutMs" | "listSeats">,
): Promise<HeldSeats | undefined> {
  const flow = { cluster: url.cluster, user: access.isOpen ? "" : senderOf(access), isExempt: !access.isOpen && access.makesClusters };
  const begun = beginRequest({ verb, config, ...flow, ...more, signal: request.signal });
  // Otherwise the platform drops the request of a client that left, and nothing takes the request's turn.
  if (begun instanceof Promise) waitUntil(begun);
  return begun;
}

/** The counted answer; its place is given back when it is there. No answer waits for what is done `afterwards`, which never rejects. */
export function until(
  answer: Promise<Response>,
  place: HeldSeats,
  { count, waitUntil }: TargetRequest,
  afterwards?: () => Promise<void>,
): Promise<Response> {
  const ended = () => place.end();
  const answered = answer.then(count);
  // Otherwise the platform drops the request of a client that left, and its place is never given back.
  waitUntil(answered.then(ended, ended).then(afterwards));
  return answered;
}
