/**
 * Name rules of the API. Each function returns the messages why `value` is not valid, without a field; empty = valid.
 * Rules and texts: upstream apimachinery pkg/util/validation and pkg/api/validation/path. They are loops and no regular
 * expressions, because every name, label and annotation of every write passes through them.
 */
import { utf8Length } from "../../core/encoding/utf8-length";

export const LABEL_LENGTH_MAX = 63;
const SUBDOMAIN_LENGTH_MAX = 253;

const NONE: string[] = [];

const LABEL_FORMAT = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_FORMAT = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

/** Upstream's RegexError: the sentence, examples and the pattern. */
function patternMessage(sentence: string, pattern: string, ...examples: string[]): string {
  const listed = examples.map((example) => `'${example}', `).join(" or ");
  return `${sentence} (e.g. ${listed}regex used for validation is '${pattern}')`;
}

const LABEL_MESSAGE = patternMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL_FORMAT,
  "my-name",
  "123-abc",
);
const SUBDOMAIN_MESSAGE = patternMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  `${LABEL_FORMAT}(\\.${LABEL_FORMAT})*`,
  "example.com",
);
const QUALIFIED_MESSAGE = patternMessage(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_FORMAT,
  "MyName",
  "my.name",
  "123-abc",
);
const LABEL_VALUE_MESSAGE = patternMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${QUALIFIED_FORMAT})?`,
  "MyValue",
  "my_value",
  "12345",
);

const CONFIG_MAP_KEY_MESSAGE = patternMessage(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  "[-._a-zA-Z0-9]+",
  "key.name",
  "KEY_NAME",
  "key-name",
);

/** Both count bytes. Upstream says so in the rules that moved to its package content: label keys, qualified names and label values. */
function tooLongMessage(lengthMax: number, unit: "characters" | "bytes" = "characters"): string {
  return `must be no more than ${lengthMax} ${unit}`;
}

function isLowerAlphanumeric(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

function isAlphanumeric(code: number): boolean {
  return isLowerAlphanumeric(code) || (code >= 65 && code <= 90);
}

/** [a-z0-9]([-a-z0-9]*[a-z0-9])? over text[start, end) */
function isLabelPart(text: string, start: number, end: number): boolean {
  if (start >= end || !isLowerAlphanumeric(text.charCodeAt(start)) || !isLowerAlphanumeric(text.charCodeAt(end - 1))) return false;
  for (let i = start + 1; i < end - 1; i++) {
    const code = text.charCodeAt(i);
    if (code !== 45 && !isLowerAlphanumeric(code)) return false;
  }
  return true;
}

function isSubdomainForm(text: string): boolean {
  let start = 0;
  for (;;) {
    const dot = text.indexOf(".", start);
    if (dot < 0) return isLabelPart(text, start, text.length);
    if (!isLabelPart(text, start, dot)) return false;
    start = dot + 1;
  }
}

/** ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] over text[start, end) */
function isQualifiedPart(text: string, start: number, end: number): boolean {
  if (start >= end || !isAlphanumeric(text.charCodeAt(start)) || !isAlphanumeric(text.charCodeAt(end - 1))) return false;
  for (let i = start + 1; i < end - 1; i++) {
    const code = text.charCodeAt(i);
    if (code !== 45 && code !== 46 && code !== 95 && !isAlphanumeric(code)) return false;
  }
  return true;
}

/** DNS-1123 label (RFC 1123): at most 63 of [a-z0-9-], alphanumeric at both ends. */
export function validateDNS1123Label(value: string): string[] {
  if (value.length <= LABEL_LENGTH_MAX && isLabelPart(value, 0, value.length)) return NONE;
  const messages = utf8Length(value) > LABEL_LENGTH_MAX ? [tooLongMessage(LABEL_LENGTH_MAX)] : [];
  if (!isLabelPart(value, 0, value.length)) messages.push(isSubdomainForm(value) ? "must not contain dots" : LABEL_MESSAGE);
  return messages;
}

/** DNS-1123 subdomain: labels joined by dots, at most 253. */
export function validateDNS1123Subdomain(value: string): string[] {
  return subdomainMessages(value, "characters");
}

function subdomainMessages(value: string, unit: "characters" | "bytes"): string[] {
  if (value.length <= SUBDOMAIN_LENGTH_MAX && isSubdomainForm(value)) return NONE;
  const messages = utf8Length(value) > SUBDOMAIN_LENGTH_MAX ? [tooLongMessage(SUBDOMAIN_LENGTH_MAX, unit)] : [];
  if (!isSubdomainForm(value)) messages.push(SUBDOMAIN_MESSAGE);
  return messages;
}

/** `[prefix/]name`: label keys, annotation keys (lower-cased by the caller), finalizers, appProtocol. */
export function validateQualifiedName(value: string): string[] {
  const slash = value.indexOf("/");
  if (slash >= 0 && value.indexOf("/", slash + 1) >= 0) {
    return [`a valid label key ${QUALIFIED_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const nameStart = slash + 1;
  const nameLength = value.length - nameStart;
  const nameIsGood = nameLength <= LABEL_LENGTH_MAX && isQualifiedPart(value, nameStart, value.length);
  if (slash < 0 && nameIsGood) return NONE;
  const messages: string[] = [];
  if (slash === 0) messages.push("prefix part must be non-empty");
  else if (slash > 0) for (const message of subdomainMessages(value.slice(0, slash), "bytes")) messages.push(`prefix part ${message}`);
  if (nameIsGood) return messages;
  if (nameLength === 0) messages.push("name part must be non-empty");
  else if (utf8Length(value.slice(nameStart)) > LABEL_LENGTH_MAX) messages.push(`name part ${tooLongMessage(LABEL_LENGTH_MAX, "bytes")}`);
  if (!isQualifiedPart(value, nameStart, value.length)) messages.push(`name part ${QUALIFIED_MESSAGE}`);
  return messages;
}

/** A label key is a qualified name. */
export const validateLabelKey = validateQualifiedName;

/** A label value: empty, or at most 63 of [A-Za-z0-9-_.], alphanumeric at both ends. */
export function validateLabelValue(value: string): string[] {
  if (value === "" || (value.length <= LABEL_LENGTH_MAX && isQualifiedPart(value, 0, value.length))) return NONE;
  const messages = utf8Length(value) > LABEL_LENGTH_MAX ? [tooLongMessage(LABEL_LENGTH_MAX, "bytes")] : [];
  if (!isQualifiedPart(value, 0, value.length)) messages.push(LABEL_VALUE_MESSAGE);
  return messages;
}

const CONFIG_MAP_KEY = /^[-._a-zA-Z0-9]+$/;

/** A key of a ConfigMap or Secret: at most 253 of [A-Za-z0-9-_.], nothing that means another directory. Upstream IsConfigMapKey. */
export function validateConfigMapKey(value: string): string[] {
  const messages = utf8Length(value) > SUBDOMAIN_LENGTH_MAX ? [tooLongMessage(SUBDOMAIN_LENGTH_MAX)] : [];
  if (!CONFIG_MAP_KEY.test(value)) messages.push(CONFIG_MAP_KEY_MESSAGE);
  if (value === "." || value === "..") messages.push(`must not be '${value}'`);
  else if (value.startsWith("..")) messages.push("must not start with '..'");
  return messages;
}

/** A name that is safe as one segment of a URL path. Upstream: path.ValidatePathSegmentName. */
export function validatePathSegmentName(value: string): string[] {
  if (value === ".") return ["may not be '.'"];
  if (value === "..") return ["may not be '..'"];
  const messages: string[] = [];
  if (value.includes("/")) messages.push("may not contain '/'");
  if (value.includes("%")) messages.push("may not contain '%'");
  return messages;
}
