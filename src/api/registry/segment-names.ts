/** Names that are one segment of a path, and no more: those of roles, bindings and core events. */
import { utf8Length } from "../../core/encoding/utf8-length";
import { validatePathSegmentName } from "../meta/names";

/** bytes; upstream has no limit of its own. A name must fit a URL, also in the token that continues a list. */
const NAME_BYTES_MAX = 1024;

/** Control characters separate the keys in copies of lists. Beyond U+FFFF texts here have another order than in the storage. */
const UNFIT = /[\p{Cc}\p{Cs}\u{10000}-\u{10FFFF}]/u;

/**
 * Segments of a path, as far as they can be keys of a store. Upstream: pkg/apis/rbac/validation ValidateRBACName; registry/rest BeforeCreate for the
 * kinds without a rule of their own.
 */
export function validateSegmentName(name: string): string[] {
  const messages = validatePathSegmentName(name);
  if (UNFIT.test(name)) messages.push("may not contain control characters or characters beyond U+FFFF");
  if (utf8Length(name) > NAME_BYTES_MAX) messages.push(`must be no more than ${NAME_BYTES_MAX} bytes`);
  return messages;
}
