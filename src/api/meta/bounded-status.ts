/**
 * A Status repeats a bounded part of its request: each value in it is cut, and the whole has a largest size. Upstream repeats everything, so a
 * request of 3 MB would get many times its size back.
 */

interface CauseTexts {
  reason?: string;
  message?: string;
  field?: string;
}

interface DetailTexts {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: CauseTexts[];
}

/** What of a Status can be long. */
interface StatusTexts {
  message?: string;
  details?: DetailTexts;
}

/** Characters of one value: a name, a path, a verb, a selector. The longest that is valid, an annotation's key, has 317. */
export const VALUE_MAX_CHARACTERS = 512;
/** Bytes of one Status, pretty printed or as YAML too. */
export const STATUS_MAX_BYTES = 64 * 1024;
/** Causes and message share the Status when both are long. */
const MESSAGE_MAX_BYTES = STATUS_MAX_BYTES / 2;
/** Bytes around and between the members of a Status, besides message and causes: names that are cut. */
const REST_MAX_BYTES = 12 * 1024;
/** The most that a character takes: `\u0000`. */
const CHARACTER_MAX_BYTES = 6;
/** What a pretty printed cause has besides its texts. */
const CAUSE_BYTES = 96;

const CUT = "...";
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BLANK = 0x20;

/** A value in an error's text; of one that is too long the beginning. */
export function cutValue(value: string): string {
  return value.length <= VALUE_MAX_CHARACTERS ? value : beginningOf(value, VALUE_MAX_CHARACTERS);
}

/** The Status with every value cut, in at most STATUS_MAX_BYTES. */
export function boundedStatus<S extends StatusTexts>(status: S): S {
  const { message, details } = status;
  const short: S = {
    ...status,
    ...(message === undefined ? {} : { message: cutValues(message) }),
    ...(details ? { details: shortDetails(details) } : {}),
  };
  return sizeOf(short) <= STATUS_MAX_BYTES ? short : cutStatus(short);
}

function shortDetails({ causes, ...details }: DetailTexts): DetailTexts {
  for (const member of ["name", "group", "kind", "uid"] as const) {
    const value = details[member];
    if (value !== undefined) details[member] = cutValue(value);
  }
  return causes ? { ...details, causes: causes.map(shortCause) } : details;
}

function shortCause({ message, field, ...cause }: CauseTexts): CauseTexts {
  return {
    ...cause,
    ...(message === undefined ? {} : { message: cutValues(message) }),
    ...(field === undefined ? {} : { field: cutValue(field) }),
  };
}

/** The causes that find room beside the message, and as much of the message as finds room beside them. */
function cutStatus<S extends StatusTexts>(status: S): S {
  const { message = "", details } = status;
  let room = STATUS_MAX_BYTES - REST_MAX_BYTES - Math.min(bytesOf(message), MESSAGE_MAX_BYTES);
  const causes: CauseTexts[] = [];
  for (const cause of details?.causes ?? []) {
    room -= sizeOfCause(cause);
    if (room < 0) break;
    causes.push(cause);
  }
  const taken = causes.reduce((sum, cause) => sum + sizeOfCause(cause), 0);
  return {
    ...status,
    message: cutToBytes(message, STATUS_MAX_BYTES - REST_MAX_BYTES - taken),
    ...(details ? { details: { ...details, ...(details.causes ? { causes } : {}) } } : {}),
  };
}

function sizeOf({ message = "", details }: StatusTexts): number {
  const causes = (details?.causes ?? []).reduce((sum, cause) => sum + sizeOfCause(cause), 0);
  return bytesOf(message) + causes + REST_MAX_BYTES;
}

function sizeOfCause({ reason = "", message = "", field = "" }: CauseTexts): number {
  return CAUSE_BYTES + bytesOf(reason) + bytesOf(message) + bytesOf(field);
}

/** Bytes of a text in whatever form it takes: a character that some form escapes counts as its escape. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) bytes += bytesOfCode(text.charCodeAt(i));
  return bytes;
}

function bytesOfCode(code: number): number {
  if (code === QUOTE || code === BACKSLASH) return 2;
  return code >= BLANK && code < 0x7f ? 1 : CHARACTER_MAX_BYTES;
}

function cutToBytes(text: string, bytesMax: number): string {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    bytes += bytesOfCode(text.charCodeAt(i));
    if (bytes > bytesMax) return beginningOf(text, i);
  }
  return text;
}

/** A text in which no quoted value, and no stretch without blanks, is too long. */
function cutValues(text: string): string {
  if (text.length <= VALUE_MAX_CHARACTERS) return text;
  let out = "";
  let kept = 0;
  for (let start = 0; start < text.length;) {
    const isQuoted = text.charCodeAt(start) === QUOTE;
    const end = isQuoted ? endOfQuoted(text, start) : endOfStretch(text, start);
    // The quotes are no part of the value.
    if (end - start > VALUE_MAX_CHARACTERS + (isQuoted ? 2 : 0)) {
      const value = beginningOf(text.slice(isQuoted ? start + 1 : start, end), VALUE_MAX_CHARACTERS);
      out += text.slice(kept, start) + (isQuoted ? `"${value}"` : value);
      kept = end;
    }
    start = end;
  }
  return kept === 0 ? text : out + text.slice(kept);
}

/** Behind the quote that closes the one at `start`; the end of the text when there is none. */
function endOfQuoted(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) return i + 1;
    if (code === BACKSLASH) i++;
  }
  return text.length;
}

/** The next blank or quote behind `start`. */
function endOfStretch(text: string, start: number): number {
  let i = start + 1;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE || code <= BLANK) break;
  }
  return i;
}

/** The first characters, with a mark that more followed: `max` in all. No pair of surrogates and no escape is cut in two. */
function beginningOf(text: string, max: number): string {
  const begun = text.slice(0, Math.max(0, max - CUT.length));
  return begun.replace(/[\ud800-\udbff]$/, "").replace(/(^|[^\\])((?:\\\\)*)\\$/, "$1$2") + CUT;
}
