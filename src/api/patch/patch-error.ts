/** Why a patch cannot be applied, before it becomes a Status (upstream apiserver pkg/endpoints/handlers/patch.go). */
import { badRequest, requestTooLarge, unclassified } from "../meta/status";
import type { Status } from "../meta/status";

export type PatchError =
  /** 400: the body is no patch, or a directive makes no sense */
  | { reason: "malformed"; message: string }
  /** 413: too many operations, or more work than a patch may make */
  | { reason: "tooLarge"; message: string }
  /** 422: a well-formed patch that does not fit the object (failed test, missing path) */
  | { reason: "unprocessable"; message: string }
  /** 500: a list element without its merge key, as upstream answers it */
  | { reason: "internal"; message: string };

/** Carries a PatchError out of the steps of a patch; never leaves this folder. */
export class PatchRefusal extends Error {
  constructor(readonly refusal: PatchError) {
    super(refusal.message);
  }
}

export function refuse(reason: PatchError["reason"], message: string): never {
  throw new PatchRefusal({ reason, message });
}

/** The Status of a refused patch. The `message` of "unprocessable" is not sent: upstream answers one fixed sentence without details. */
export function patchErrorStatus(error: PatchError): Status {
  switch (error.reason) {
    case "malformed":
      return badRequest(error.message);
    case "tooLarge":
      return requestTooLarge(`Request entity too large: ${error.message}`);
    case "internal":
      return unclassified(error.message);
    case "unprocessable":
      return {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "the server rejected our request due to an error in our request",
        reason: "Invalid",
        details: {},
        code: 422,
      };
  }
}
