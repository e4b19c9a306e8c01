/**
 * Which form an answer takes, by the request's Accept.
 * Source: upstream apiserver endpoints/handlers/negotiation and endpoints/handlers/response.go.
 */
import { ACCEPT_CACHE_MAX_ENTRIES } from "../limits";

/** What objects, lists and Statuses can be. */
export const ANSWER_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"] as const;

/** What a watch can be. */
export const WATCH_TYPES = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"] as const;

/** What documents without a schema can be: discovery, and what is this server's own. */
export const DOCUMENT_TYPES = ["application/json", "application/yaml"] as const;

/** How documents without a schema are written. */
export type DocumentEncoding = "json" | "yaml";

export type AnswerEncoding = DocumentEncoding | "protobuf";

/** What an endpoint can turn its answer into, besides the object itself; "document" = nothing, and there is no protobuf form either. */
export type AnswerShape = "object" | "list" | "watch" | "none" | "document";

export type Transform = { as: "object" } | { as: "table"; version: string } | { as: "partial"; version: string };

export interface Accepted {
  encoding: AnswerEncoding;
  transform: Transform;
}

interface Clause {
  type: string;
  subtype: string;
  quality: number;
  as: string;
  group: string;
  version: string;
}

const OBJECT: Transform = { as: "object" };

const ANYTHING: Accepted = { encoding: "json", transform: OBJECT };

const cache = new Map<string, readonly Clause[]>();

/**
 * The first clause, in order of quality, that the endpoint can answer; undefined = 406.
 * `shape` says what the answer is: Table fits all but "none", PartialObjectMetadata objects and watches, its List form lists and watches.
 */
export function negotiate(accept: string | null, shape: AnswerShape): Accepted | undefined {
  if (accept === null || accept === "" || accept === "*/*" || accept === "application/json") return ANYTHING;
  for (const clause of clausesOf(accept)) {
    const encoding = encodingOf(clause, shape);
    if (!encoding) continue;
    if (clause.as === "") return encoding === "json" ? ANYTHING : { encoding, transform: OBJECT };
    const transform = transformOf(clause, shape);
    // A Table has cells of any type, for which protobuf has no form.
    if (transform?.as === "table" && encoding === "protobuf") continue;
    if (transform) return { encoding, transform };
  }
  return undefined;
}

/** Whether a clause names a media type that objects are written in, whatever form of it is asked for. */
export function namesMediaType(accept: string | null): boolean {
  return clausesOf(accept ?? "").some((clause) => encodingOf(clause, "object") !== undefined);
}

/** How a refusal is written: a Status takes no other form, so that clauses which ask for one do not count. Upstream: ErrorNegotiated. */
export function negotiateStatus(accept: string | null): AnswerEncoding {
  return negotiate(accept, "none")?.encoding ?? "json";
}

/** How a document without a schema is written; undefined = 406. */
export function negotiateDocument(accept: string | null): DocumentEncoding | undefined {
  const encoding = negotiate(accept, "document")?.encoding;
  return encoding === "protobuf" ? undefined : encoding;
}

/** Whether aggregated discovery is wanted before plain discovery. As in upstream 1.36 there is only v2. */
export function wantsAggregatedDiscovery(accept: string | null): boolean {
  if (!accept) return false;
  for (const clause of clausesOf(accept)) {
    if (!encodingOf(clause, "document")) continue;
    if (clause.as === "") return false;
    if (clause.as === "APIGroupDiscoveryList" && clause.group === "apidiscovery.k8s.io" && clause.version === "v2") return true;
  }
  return false;
}

function encodingOf(clause: Clause, shape: AnswerShape): AnswerEncoding | undefined {
  if (clause.type === "*" && clause.subtype === "*") return "json";
  if (clause.type !== "application") return undefined;
  if (clause.subtype === "json" || clause.subtype === "*") return "json";
  if (clause.subtype === "yaml" && shape !== "watch") return "yaml";
  if (clause.subtype === "vnd.kubernetes.protobuf" && shape !== "document") return "protobuf";
  return undefined;
}

function transformOf(clause: Clause, shape: AnswerShape): Transform | undefined {
  if (shape === "none" || shape === "document" || clause.group !== "meta.k8s.io") return undefined;
  const { version } = clause;
  if (version !== "v1" && version !== "v1beta1") return undefined;
  if (clause.as === "Table") return { as: "table", version };
  if (clause.as === "PartialObjectMetadata" && shape !== "list") return { as: "partial", version };
  if (clause.as === "PartialObjectMetadataList" && shape !== "object") return { as: "partial", version };
  return undefined;
}

function clausesOf(accept: string): readonly Clause[] {
  const known = cache.get(accept);
  if (known) return known;
  const clauses = parseAccept(accept);
  if (cache.size >= ACCEPT_CACHE_MAX_ENTRIES) cache.clear();
  cache.set(accept, clauses);
  return clauses;
}

function parseAccept(accept: string): Clause[] {
  const clauses: Clause[] = [];
  for (const part of accept.split(",")) {
    const [range = "", ...parameters] = part.split(";");
    const slash = range.indexOf("/");
    if (slash < 0) continue;
    const clause: Clause = {
      type: range.slice(0, slash).trim().toLowerCase(),
      subtype: range
        .slice(slash + 1)
        .trim()
        .toLowerCase(),
      quality: 1,
      as: "",
      group: "",
      version: "",
    };
    for (const parameter of parameters) applyParameter(clause, parameter);
    if (clause.quality > 0) clauses.push(clause);
  }
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function wildcards(clause: Clause): number {
  return (clause.type === "*" ? 1 : 0) + (clause.subtype === "*" ? 1 : 0);
}

function applyParameter(clause: Clause, parameter: string): void {
  const equals = parameter.indexOf("=");
  if (equals < 0) return;
  const value = parameter.slice(equals + 1).trim();
  switch (parameter.slice(0, equals).trim().toLowerCase()) {
    case "q": {
      const quality = Number(value);
      clause.quality = Number.isFinite(quality) ? quality : 1;
      return;
    }
    case "as":
      clause.as = value;
      return;
    case "g":
      clause.group = value;
      return;
    case "v":
      clause.version = value;
      return;
  }
}
