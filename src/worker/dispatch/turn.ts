/** The seats of a request among those under way: taken at its turn, given back with its answer. */
import type { Verb } from "../../api/registry/resource";
import { senderOf } from "../access/access";
import { type BeginningRequest, beginRequest, type HeldSeats } from "../http/in-flight";
import { isRead } from "../routing/routes";
import type { TargetRequest } from "./target-request";

/** The place, once it is the request's turn; undefined = there are too many requests. A `verb` of `watch` is not counted. */
export async function turn(
  verb: Verb,
  { config, request, access, url, waitUntil }: TargetRequest,
  more: Pick<BeginningRequest, "timeoutMs" | "listSeats">,
): Promise<HeldSeats | undefined> {
  const flow = { cluster: url.cluster, user: access.isOpen ? "" : senderOf(access), isExempt: !access.isOpen && access.makesClusters };
  const begun = beginRequest({
    ...{ verb, config, ...flow, ...more },
    // The platform makes it when it is first read, and only a request that waits listens to it.
    get signal() {
      return request.signal;
    },
  });
  // Otherwise the platform drops the request of a client that left, and nothing takes the request's turn.
  if (begun instanceof Promise) waitUntil(begun);
  return begun;
}

/**
 * The counted answer; its place is given back when it is there. No answer waits for what is done `afterwards`, which never rejects; undefined = nothing is
 * to be done.
 */
export function until(
  answer: Promise<Response>,
  place: HeldSeats,
  { count, request, waitUntil }: TargetRequest,
  afterwards?: () => Promise<unknown> | undefined,
): Promise<Response> {
  const ended = () => place.end();
  const answered = answer.then(count);
  const settled = answered.then(ended, ended);
  // Otherwise the platform drops the request of a client that left, and its place is never given back.
  if (isRead(request.method)) waitUntil(settled.then(afterwards));
  // The audit keeps the request of a write until its answer is there (../middleware.ts). To keep it twice would cost some 35 µs (docs/performance.md).
  else void settled.then(() => keptUntil(afterwards?.(), waitUntil));
  return answered;
}

function keptUntil(work: Promise<unknown> | undefined, waitUntil: TargetRequest["waitUntil"]): void {
  if (work) waitUntil(work);
}
