/** What of an answer is not compared, because it is free: each rule with its reason. Both sides pass through here. */

type Json = Record<string, unknown>;

/** Also that of a time which the corpus gives: it grows with every day. duration.HumanDuration of apimachinery prints one or two units. */
const AGE = /^(?:\d+[smhdy]|\d+m\d+s|\d+h\d+m|\d+d\d+h|\d+y\d+d)$/;

/** The answer's body without what is free. */
export function comparable(body: unknown): unknown {
  return without(body, "");
}

function without(value: unknown, key: string): unknown {
  if (typeof value === "string") return key === "message" ? textOf(value) : value;
  if (Array.isArray(value)) {
    const all = value.map((one) => without(one, key));
    if (key === "causes") return distinct(all);
    if (key === "managedFields") return sorted(all);
    return key === "cells" ? all.map((cell) => (typeof cell === "string" && AGE.test(cell) ? "<age>" : cell)) : all;
  }
  if (typeof value !== "object" || value === null) return value;
  if (isInvalid(value as Json)) return withoutOrder(value as Json);
  if (isOwnService(value as Json)) return without(withoutPort(value as Json), `${key} of the server`);
  if (isServiceCIDR(value as Json)) return without(withoutController(value as Json), `${key} of a range`);
  const members = Object.entries(value as Json).filter(([name]) => !isFree(name, key));
  return Object.fromEntries(members.map(([name, member]) => [name, without(member, name)]));
}

/** The Service `kubernetes` leads to the port on which the server happens to listen. */
function isOwnService({ kind, metadata, spec }: Json): boolean {
  return kind === "Service" && (metadata as Json | undefined)?.["name"] === "kubernetes" && JSON.stringify(spec).includes("targetPort");
}

function withoutPort({ spec, ...rest }: Json): Json {
  const { ports, ...others } = spec as Json & { ports: Json[] };
  return { ...rest, spec: { ...others, ports: ports.map(({ targetPort: _own, ...port }) => port) } };
}

function isServiceCIDR({ kind, spec }: Json): boolean {
  return kind !== RANGE && typeof spec === "object" && spec !== null && "cidrs" in spec;
}

/** `kind` while the object is looked at once more */
const RANGE = "a ServiceCIDR without what its controller writes";

/** Upstream no controller runs that makes a range ready; here that is a part of the write. */
function withoutController({ kind, status: _status, metadata, ...rest }: Json): Json {
  const { finalizers = [], resourceVersion: _revision, generation: _generation, ...others } = metadata as Json & { finalizers?: string[] };
  const own = finalizers.filter((name) => name !== "networking.k8s.io/service-cidr-finalizer");
  return { kind: RANGE, was: kind, metadata: { ...others, finalizers: own }, ...rest };
}

function isFree(name: string, inside: string): boolean {
  // Descriptions of columns are in own words, as those of OpenAPI.
  if (name === "description") return inside === "columnDefinitions";
  // Upstream's says which version etcd holds.
  if (name === "storageVersionHash") return true;
  return name === "serverAddress";
}

/** Upstream sorts them by their times, which have seconds. */
function sorted(entries: readonly unknown[]): unknown[] {
  const key = (entry: unknown): string => ["manager", "operation", "subresource"].map((name) => String((entry as Json)[name])).join();
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** A Status whose message lists the causes. */
function isInvalid({ kind, message, details }: Json): boolean {
  return (
    kind === "Status" &&
    /^.* is invalid: \[/.test(String(message)) &&
    typeof details === "object" &&
    details !== null &&
    "causes" in details
  );
}

/** Go's maps have no order, so the errors of their members have none; and validation says some of them twice. */
function withoutOrder({ message, details, ...rest }: Json): Json {
  const { causes, ...others } = details as Json & { causes: Json[] };
  const texts = new Set(
    causes.map((cause) => JSON.stringify(Object.fromEntries(Object.entries(cause).map(([name, member]) => [name, without(member, name)])))),
  );
  const ordered = [...texts].sort().map((text) => JSON.parse(text) as unknown);
  return {
    ...rest,
    message: String(message).replace(/ is invalid: \[.*$/s, " is invalid: the causes"),
    details: { ...others, causes: ordered },
  };
}

/** Upstream's validation passes some rules several times in an update. */
function distinct(causes: readonly unknown[]): unknown[] {
  return [...new Set(causes.map((cause) => JSON.stringify(cause)))].map((text) => JSON.parse(text) as unknown);
}

/** The whole object stands in the message, in the order of Go's maps or structs. Schemas know no names of Go's types (`v1.Protocol`), only their kinds. */
function textOf(message: string): string {
  return message
    .replace(/(^|patch: )Invalid value: "\{(?:[^"\\]|\\.)*"/s, '$1Invalid value: "<object>"')
    .replace(/ of type \S+$/, " of type <Go type>")
    .replace(/(in record \()\d+\)/, "$1<revision>)");
}
