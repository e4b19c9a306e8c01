/**
 * Who answers each kind of target, and how metrics name it: the rows of TARGET_ROUTES (../routing/routes.ts). Four kinds ask for an object or a
 * collection of a store, and share their steps (answer-object.ts).
 */
import type { CountedRequest } from "../http/negotiate/request-labels";
import { type RequestInfo, type RequestTarget, type TargetKind } from "../routing/request-info";
import { answerConnect } from "./answer-connect";
import { answerReview } from "./answer-review";
import { objectAnswer } from "./answer-object";
import { ACTION, REPORT, RESOURCE, VIEW } from "./object-routes";
import type { TargetRequest } from "./target-request";

/** What metrics say of a request, besides what its headers say. */
type AskedTarget = Omit<CountedRequest, "headers">;

export interface TargetAnswer<K extends TargetKind> {
  asked(target: RequestTarget<K>): AskedTarget;
  answer(request: TargetRequest, target: RequestTarget<K>): Promise<Response>;
}

/** `under`: what stands under the object. */
function named({ verb, definition, version, namespace, name }: RequestInfo, under: string): AskedTarget {
  return { verb, group: definition.group, version, resource: definition.resource, subresource: under, namespace, name };
}

export const TARGETS: { readonly [K in TargetKind]: TargetAnswer<K> } = {
  resource: { asked: ({ info }) => named(info, info.subresource), answer: objectAnswer(RESOURCE) },
  action: { asked: ({ info, action }) => named(info, action.name), answer: objectAnswer(ACTION) },
  view: { asked: ({ info, view }) => named(info, view), answer: objectAnswer(VIEW) },
  report: { asked: ({ info, report }) => named(info, report), answer: objectAnswer(REPORT) },
  connect: { asked: ({ info, connect }) => ({ ...named(info, connect.name), verb: "connect" }), answer: answerConnect },
  review: {
    asked: ({ review: { group, version, resource }, namespace }) => ({
      ...{ verb: "create", group, version, resource, subresource: "", namespace, name: "" },
    }),
    answer: answerReview,
  },
};
