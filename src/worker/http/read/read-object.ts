/** Body of a POST or PUT -> object of the expected kind. */
import { type Status, unsupportedMediaType } from "../../../api/meta/status";
import type { FieldValidation } from "../../../api/rpc/store";
import { err, type Result } from "../../../core/base/result";
import { BODY_TYPES, bodyTypeOf } from "./content-type";
import { decodeBody, type DecodedBody, type Expected } from "./decode-body";
import { BODY_MAX_BYTES } from "../limits";
import { type BodyRequest, bodyTooLarge, readBody } from "./read-body";

/** The object, or why the body is none: 413 (beyond `bytesMax`, too), 415, 429, 504, or a 400 of the decoder. */
export async function readObject(
  request: BodyRequest,
  expected: Expected,
  fieldValidation: FieldValidation,
  bytesMax = BODY_MAX_BYTES,
): Promise<Result<DecodedBody, Status>> {
  const type = bodyTypeOf(request.request.headers.get("Content-Type"));
  if (!type) return err(unsupportedMediaType(BODY_TYPES));
  const bytes = await readBody(request);
  if (!bytes.ok) return bytes;
  if (bytes.value.length > bytesMax) return err(bodyTooLarge(bytesMax));
  return decodeBody(bytes.value, type, expected, fieldValidation);
}
