/**
 * An endpoint in one word of a command line. It is turned into an entry of a file, and judged as such.
 *
 *   web=8080
 *   web=8080,labels=app=web;tier=front,check=http:/healthz
 *   dns=53/UDP,namespace=infra,check=tcp:53,periodSeconds=5,drainSeconds=0
 *
 * A check is `http:[PORT]/PATH`, `https:[PORT]/PATH`, `tcp`, `tcp:PORT` or `none`. A comma ends a part: a path or label that has one needs the file.
 */
import type { FieldError } from "../../../api/meta/field-errors";
import { type JsonObject, type JsonValue, setMember } from "../../../api/schema/json/json-value";
import { err, ok, type Result } from "../../../core/base/result";
import type { EndpointEntry } from "./endpoint-entry";
import { errorText } from "./endpoint-file";
import { CHECK_NUMBERS, readEntry } from "./read-entry";

const PARTS = ["labels", "namespace", "check", "drainSeconds", ...CHECK_NUMBERS];

/** The entry, or what is wrong. */
export function readEndpointFlag(flag: string): Result<EndpointEntry, string> {
  const [first = "", ...parts] = flag.split(",");
  const [, name = "", port = "", protocol] = /^([^=]*)=([^/]*)(?:\/(.*))?$/.exec(first) ?? [];
  if (name === "" || port === "") return err("must begin with NAME=PORT or NAME=PORT/PROTOCOL");
  const entry: JsonObject = { name, port: numberOrText(port), ...(protocol !== undefined && { protocol: protocol.toUpperCase() }) };
  const labels: JsonObject = {};
  const numbers: JsonObject = {};
  let check: JsonObject | undefined;
  const seen = new Set<string>();
  for (const part of parts) {
    const equals = part.indexOf("=");
    const [key, value] = equals < 0 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
    if (equals < 0 || !PARTS.includes(key)) return err(`${part}: must be one of ${PARTS.map((known) => `${known}=`).join(", ")}`);
    if (seen.has(key) && key !== "labels") return err(`${key} stands twice`);
    seen.add(key);
    if (key === "labels") {
      const problem = addLabels(value, labels);
      if (problem !== undefined) return err(problem);
    } else if (key === "check") {
      const target = targetOf(value);
      if (target === undefined) return err(`check=${value}: must be http:[PORT]/PATH, https:[PORT]/PATH, tcp, tcp:PORT or none`);
      check = target;
    } else if (key === "namespace") entry[key] = value;
    else if (key === "drainSeconds") entry[key] = numberOrText(value);
    else numbers[key] = numberOrText(value);
  }
  const [unused] = Object.keys(numbers);
  if (unused !== undefined && (!check || Object.keys(check).length === 0)) return err(`${unused} stands without a check`);
  if (check && Object.keys(check).length > 0) entry["check"] = { ...check, ...numbers };
  const errors: FieldError[] = [];
  const read = readEntry({ ...entry, labels }, "", errors);
  return read && errors.length === 0 ? ok(read) : err(errorText(errors));
}

/** What is wrong, or undefined. */
function addLabels(text: string, labels: JsonObject): string | undefined {
  for (const label of text.split(";")) {
    const equals = label.indexOf("=");
    if (equals < 1) return `labels=${text}: must be KEY=VALUE, several with ; between them`;
    const key = label.slice(0, equals);
    if (Object.hasOwn(labels, key)) return `label ${key} stands twice`;
    setMember(labels, key, label.slice(equals + 1));
  }
  return undefined;
}

/** The check as a file has it; {} = none, undefined = it is nothing like one. */
function targetOf(text: string): JsonObject | undefined {
  if (text === "none") return {};
  const [, kind = "", port, path] = /^(tcp|https?)(?::(\d*)(\/.*)?)?$/.exec(text) ?? [];
  const asked: JsonObject = port === undefined || port === "" ? {} : { port: numberOrText(port) };
  if (kind === "tcp") return path === undefined && port !== "" ? { tcp: asked } : undefined;
  if (kind === "" || path === undefined) return undefined;
  return { http: { ...asked, scheme: kind, path } };
}

/** What is no number is refused where its member is judged. */
function numberOrText(text: string): JsonValue {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}
