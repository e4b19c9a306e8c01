/**
 * GET /clusters: all clusters, in the order of their names, as a list or a Table. It reads the list of all clusters, which every beginning and every end
 * tells (src/tenancy/cluster-names.ts). A cluster that has not told what it is is asked, and tells the list then.
 *
 * A page shows each cluster that is there all the time once; those that begin or end meanwhile may be in it.
 */
import { decodeContinue, encodeContinue } from "../../../api/meta/continue-token";
import { listMetaText } from "../../../api/meta/list";
import { badRequest, methodNotAllowed, notAcceptable, serviceUnavailable, type Status } from "../../../api/meta/status";
import { parseIncludeObject, tableEnvelope, type TableForm, tableRow } from "../../../api/meta/table";
import { typeHead } from "../../../api/meta/type-meta";
import { ageOf, AGE_COLUMN, column, NAME_COLUMN } from "../../../api/registry/common-columns";
import { inParallel } from "../../../core/base/in-parallel";
import { err, ok, type Result } from "../../../core/base/result";
import { DEFAULT_CLUSTER, locationOf } from "../../../tenancy/cluster-id";
import { type ClusterFacts, DIRECTORY_SILENT, type ListedCluster } from "../../../tenancy/rpc";
import type { Env } from "../../../../durable-objects/platform/env";
import { clusterNames, clusterRecord } from "../../../../durable-objects/peers/peers";
import { jsonResponse, renderingOf, statusResponse, type TextRendering } from "../../http/answer/respond";
import { LISTED_CLUSTERS, RETRY_AFTER_SECONDS } from "../../http/limits";
import { DOCUMENT_TYPES, negotiate, negotiateDocument } from "../../http/negotiate/negotiate";
import { parseCollectionOptions } from "../../http/read/collection-options";
import { queryBool } from "../../http/read/query";
import { call } from "../../routing/call";
import { CLUSTER, isImplied } from "../../routing/known-clusters";
import type { PathRequest } from "../path-request";
import { CLUSTER_API_VERSION, clusterMetadata, CLUSTERS, clusterUrls, type ShownCluster } from "./cluster-document";

/** What a page shows, and where the next one begins; undefined = it is the last one. */
interface ClusterPage {
  clusters: ShownCluster[];
  next: string | undefined;
}

/** A cluster that is taken as made has told nobody. */
const IMPLIED: ListedCluster = { name: DEFAULT_CLUSTER, stamp: "", facts: { id: DEFAULT_CLUSTER, createdAt: 0, deletedAt: 0 } };

/** How the answer is written. */
type Form = { as: "list" } | { as: "table"; version: string; includeObject: TableForm["includeObject"] };

const COLUMNS = [
  NAME_COLUMN,
  column("Phase", "Whether the cluster is there, or being deleted. Unknown: it does not answer."),
  column("Location", "Where the objects of the cluster are; empty = near whoever called each first."),
  AGE_COLUMN,
  column("URL", "The address of the cluster's server.", "wide"),
];

/** The answer to a request that may list all clusters. */
export async function clustersResponse({ env, config, request, url: { query }, access }: PathRequest): Promise<Response> {
  const accept = request.headers.get("Accept");
  const refusal = renderingOf(negotiateDocument(accept) ?? "json", query, request.headers.get("User-Agent") ?? "");
  const form = formOf(accept, query);
  if (!form.ok) return statusResponse(form.error, refusal);
  const asked = pageAsked(query);
  if (!asked.ok) return statusResponse(asked.error, refusal);
  const { clusters } = access.caller;
  const read: ReadPart = clusters
    ? (after, most) => ownPart(env, [...new Set(clusters)].sort(), after, most)
    : (after, most) => partOf(env, after, most);
  const page = await pageOf(env, asked.value, read, clusterUrls(request, config));
  if (!page.ok) return statusResponse(page.error, refusal);
  const { encoding, ...shown } = form.value;
  const rendering: TextRendering = renderingOf(encoding, query, request.headers.get("User-Agent") ?? "");
  return jsonResponse(200, textOf(page.value, shown), rendering);
}

/** A document of this server has no protobuf form and no partial one. */
function formOf(accept: string | null, query: URLSearchParams): Result<Form & { encoding: "json" | "yaml" }, Status> {
  const accepted = negotiate(accept, "list");
  if (accepted?.transform.as === "table" && accepted.encoding !== "protobuf") {
    const include = parseIncludeObject(query.get("includeObject") ?? "");
    if (!include.ok) return err(badRequest(include.error));
    return ok({ as: "table", version: accepted.transform.version, includeObject: include.value, encoding: accepted.encoding });
  }
  const encoding = negotiateDocument(accept);
  return encoding ? ok({ as: "list", encoding }) : err(notAcceptable(DOCUMENT_TYPES));
}

function pageAsked(query: URLSearchParams): Result<{ limit: number; after: string }, Status> {
  if (queryBool(query, "watch")) {
    return err(methodNotAllowed(`watch is not supported on resources of kind ${JSON.stringify(CLUSTERS)}`));
  }
  const options = parseCollectionOptions(query, false);
  if (!options.ok) return options;
  const { limit, continueToken, labelSelector, fieldSelector } = options.value;
  if (labelSelector !== "" || fieldSelector !== "") return err(badRequest("the list of clusters takes no selectors"));
  const wanted = Math.min(limit || LISTED_CLUSTERS.most, LISTED_CLUSTERS.most);
  if (continueToken === "") return ok({ limit: wanted, after: "" });
  const token = decodeContinue(continueToken);
  return token.ok ? ok({ limit: wanted, after: token.value.start }) : err(badRequest(token.error));
}

/** `silent`: names of clusters of which the list cannot tell. `through`: the last name that was asked for; absent = the last one that there is. */
interface Part {
  clusters: ListedCluster[];
  isLast: boolean;
  silent?: ReadonlySet<string>;
  through?: string;
}

/** Reads the clusters behind a name, at most so many. It may be fewer, and others may come behind them. */
type ReadPart = (after: string, most: number) => Promise<Result<Part, Status>>;

async function partOf(env: Env, after: string, most: number): Promise<Result<Part, Status>> {
  const read = await call(() => clusterNames(env).page(after, most), { what: "clusters.page", repeatable: true });
  if (!read.ok) return read;
  if (!read.value) return err(serviceUnavailable(DIRECTORY_SILENT, RETRY_AFTER_SECONDS));
  return ok(withImplied(env, read.value, after, most));
}

/**
 * What a credential of some clusters sees: those of them that are there. One call for all.
 *
 * @param names in their order
 */
async function ownPart(env: Env, names: readonly string[], after: string, most: number): Promise<Result<Part, Status>> {
  const behind = names.filter((name) => name > after);
  // However few are wanted: of most names there may be no cluster.
  const asked = behind.slice(0, LISTED_CLUSTERS.page);
  const through = asked.at(-1);
  if (through === undefined) return ok({ clusters: [], isLast: true });
  const read = await call(() => clusterNames(env).entries(asked), { what: "clusters.entries", repeatable: true });
  if (!read.ok) return read;
  const silent = new Set(asked.filter((_, i) => read.value[i] === null));
  const clusters = asked.flatMap((name, i): ListedCluster[] => {
    if (isImplied(env, name)) return [IMPLIED];
    const entry = read.value[i];
    if (silent.has(name)) return [{ name, stamp: "" }];
    return entry ? [entry] : [];
  });
  if (clusters.length > most) return ok({ clusters: clusters.slice(0, most), isLast: false, silent });
  return ok({ clusters, isLast: asked.length === behind.length, silent, through });
}

/**
 * Reads the list until the page is full. It ends before that where more clusters than one request may ask have not told what they are, or where those that
 * it asks take too long.
 */
async function pageOf(
  env: Env,
  { limit, after }: { limit: number; after: string },
  read: ReadPart,
  urlOfCluster: (name: string) => string,
): Promise<Result<ClusterPage, Status>> {
  const clusters: ShownCluster[] = [];
  let last = after;
  let isEnd = false;
  let looksLeft = LISTED_CLUSTERS.looks;
  const looksEndAt = Date.now() + LISTED_CLUSTERS.looksMs;
  while (!isEnd && looksLeft > 0 && clusters.length < limit) {
    const most = Math.min(limit - clusters.length, LISTED_CLUSTERS.page);
    const answer = await read(last, most);
    if (!answer.ok) return answer;
    const { value: part } = answer;
    const doubtful = part.clusters.filter(({ name, facts }) => !facts && !part.silent?.has(name));
    const beyond = doubtful[looksLeft];
    const within = beyond ? part.clusters.slice(0, part.clusters.indexOf(beyond)) : part.clusters;
    looksLeft -= Math.min(doubtful.length, looksLeft);
    const { told, unasked } = await toldOf(env, within, part.silent, looksEndAt);
    const known = unasked ? within.slice(0, within.indexOf(unasked)) : within;
    clusters.push(...shown(env, known, told, urlOfCluster));
    last = known.at(-1)?.name ?? last;
    if (known.length === part.clusters.length && part.through !== undefined) last = part.through;
    isEnd = part.isLast && !beyond && !unasked;
    if (unasked) looksLeft = 0;
  }
  return ok({ clusters, next: isEnd ? undefined : last });
}

/** A cluster that is taken as made has its place among the others. */
function withImplied(env: Env, part: Part, after: string, most: number): Part {
  const last = part.clusters.at(-1)?.name ?? "";
  if (!isImplied(env, DEFAULT_CLUSTER) || after >= DEFAULT_CLUSTER || (!part.isLast && last < DEFAULT_CLUSTER)) return part;
  const all = [...part.clusters.filter(({ name }) => name !== DEFAULT_CLUSTER), IMPLIED].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { clusters: all.slice(0, most), isLast: part.isLast && all.length <= most };
}

/** What is known of clusters by their names; absent = there is no such cluster. */
type Told = ReadonlyMap<string, ClusterFacts | "silent">;

/**
 * Asks those that have not told what they are. One that does not answer keeps nobody from reading the list.
 *
 * @param endAt milliseconds since the epoch: behind it none is asked but the first
 * @returns `unasked`: the first one that was not asked any more
 */
async function toldOf(
  env: Env,
  listed: readonly ListedCluster[],
  silent: ReadonlySet<string> | undefined,
  endAt: number,
): Promise<{ told: Told; unasked: ListedCluster | undefined }> {
  const told = new Map<string, ClusterFacts | "silent">();
  const doubtful = listed.filter(({ name, facts }) => {
    const known = facts ?? (silent?.has(name) ? "silent" : undefined);
    if (known) told.set(name, known);
    return !known;
  });
  let unasked: ListedCluster | undefined;
  await inParallel(doubtful, LISTED_CLUSTERS.together, async (cluster) => {
    const { name, stamp } = cluster;
    if (cluster !== doubtful[0] && Date.now() > endAt) return void (unasked ??= cluster);
    const look = { what: "cluster.listed", repeatable: true, timeoutMs: LISTED_CLUSTERS.lookMs };
    const state = await call(() => clusterRecord(env, name).listed(stamp), look);
    if (!state.ok) told.set(name, "silent");
    else if (state.value.phase !== "absent") told.set(name, { deletedAt: 0, ...state.value });
  });
  return { told, unasked };
}

function shown(env: Env, listed: readonly ListedCluster[], told: Told, urlOfCluster: (name: string) => string): ShownCluster[] {
  return listed.flatMap(({ name }): ShownCluster[] => {
    const facts = told.get(name);
    const url = urlOfCluster(name);
    if (facts === undefined) return [];
    if (facts === "silent") return [{ name, phase: "Unknown", location: undefined, url }];
    const { id, createdAt, deletedAt } = facts;
    const times = { ...(isImplied(env, name) ? {} : { createdAt }), deletedAt };
    return [{ ...times, name, phase: deletedAt > 0 ? "Terminating" : "Active", location: locationOf(id), url }];
  });
}

function textOf({ clusters, next }: ClusterPage, form: Form): string {
  const token = next === undefined ? {} : { continue: encodeContinue({ revision: -1, start: next, incarnation: "", madeAt: 0 }) };
  const meta = { resourceVersion: "", ...token };
  const objects = clusters.map((cluster) => ({ cluster, object: objectOf(cluster) }));
  if (form.as === "list") {
    const items = objects.map(({ object }) => JSON.stringify(object)).join(",");
    return `${typeHead(`${CLUSTER.kind}List`, CLUSTER_API_VERSION)},"metadata":${listMetaText(meta)},"items":[${items}]}`;
  }
  const table: TableForm = { ...form, columns: COLUMNS, objectHead: typeHead(CLUSTER.kind, CLUSTER_API_VERSION) };
  const envelope = tableEnvelope(table, meta);
  const now = Date.now();
  const rows = objects.map(({ cluster: { name, phase, location = "", url }, object }) =>
    tableRow(table, [name, phase, location, ageOf(object, now), url], object, JSON.stringify(object)),
  );
  return `${envelope.head}${rows.join(",")}${envelope.tail}`;
}

function objectOf(cluster: ShownCluster): { metadata: ReturnType<typeof clusterMetadata>; location: string | null; status: object } {
  const { location = null, phase, url } = cluster;
  return { metadata: clusterMetadata(cluster), location, status: { phase, url } };
}
