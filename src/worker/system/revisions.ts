/**
 * POST /revisions, before a restore or after a recovery of single objects. The stores of a cluster begin above every revision that clients can have
 * seen of other data (rule 32). From then on watches and lists at older revisions are 410.
 *
 *   {"asOf": time of the data, "heads": {"services": "4711", …}}     data of a backup are to be written into the cluster. A store without a head takes
 *                                                                    the greatest one
 *   {"asOf": time of the data, "resources": ["services"]}            these stores were brought back to that time; without `resources` all were
 *
 * A repeat may come at any time. It answers where each store begins.
 */
import { greatestOf } from "../../core/base/extremes";
import type { Env } from "../../../durable-objects/platform/env";
import { allStores } from "../../../durable-objects/peers/peers";
import { err, ok, type Result } from "../../core/base/result";
import { definitionOf, storedResource } from "../../api/registry/all";
import { badRequest, methodNotAllowed, qualifiedResource, type Status } from "../../api/meta/status";
import { parseTime } from "../../api/meta/time";
import { parseStoreName } from "../../api/store/list/list-copy";
import type { BeginningAbove } from "../../api/rpc/store";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/schema/json/json-value";
import { readJsonObject } from "../http/read/read-json";
import { urlOf } from "../http/read/request-url";
import { jsonResponse, renderingOf, statusResponse } from "../http/answer/respond";
import { call } from "../routing/call";
import { configOf } from "../routing/config-guard";

/** By the store's name, as in `kubectl get`. */
type Beginnings = Map<string, BeginningAbove>;

const MEMBERS = ["asOf", "heads", "resources"];
const HEAD = /^\d{1,16}$/;

export async function revisionsResponse(env: Env, cluster: string, request: Request): Promise<Response> {
  const rendering = renderingOf("json", urlOf(request).query, request.headers.get("User-Agent") ?? "");
  if (request.method !== "POST") return statusResponse(methodNotAllowed(), rendering);
  const stores = new Map(allStores(env, cluster).map((store) => [qualifiedResource(store.definition), store]));
  const config = configOf(env);
  if (!config.ok) return statusResponse(config.error, rendering);
  const body = await readJsonObject(request, config.value, "JSON object");
  if (!body.ok) return statusResponse(body.error, rendering);
  const asked = beginnings(body.value ?? {}, [...stores.keys()]);
  if (!asked.ok) return statusResponse(asked.error, rendering);
  const begun = await Promise.all(
    [...asked.value].map(async ([name, data]) => {
      const begin = (): Promise<number | null> => stores.get(name)?.store().beginAbove(data) ?? Promise.resolve(null);
      return [name, await call(begin, { what: `${name}.beginAbove`, repeatable: true })] as const;
    }),
  );
  const revisions: Record<string, string> = {};
  for (const [name, one] of begun) {
    if (!one.ok) return statusResponse(one.error, rendering);
    if (one.value === null)
      return statusResponse(badRequest(`${name}: there are no revisions above those that clients can have seen`), rendering);
    revisions[name] = String(one.value);
  }
  return jsonResponse(200, JSON.stringify({ revisions }), rendering);
}

function beginnings({ asOf: time, heads, resources, ...others }: JsonObject, stores: readonly string[]): Result<Beginnings, Status> {
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    return refused(`strict decoding error: unknown field ${JSON.stringify(unknown)} (there are ${MEMBERS.join(", ")})`);
  const asOf = typeof time === "string" ? parseTime(time) : undefined;
  if (asOf === undefined) return refused("asOf must be the time of the data, as 2026-01-31T12:00:00Z");
  if (heads !== undefined && resources !== undefined) return refused("heads and resources exclude each other");
  if (heads !== undefined) {
    const known = headsOf(heads);
    if (!known) return refused('heads must name at least one resourceVersion, as {"services": "4711"}');
    const greatest = greatestOf(known.values());
    return ok(new Map(stores.map((name) => [name, { head: known.get(name) ?? greatest, asOf }])));
  }
  const names = resources === undefined ? stores : Array.isArray(resources) ? resources.map((name) => storeOf(name)) : [undefined];
  const wrong = names.findIndex((name) => name === undefined || !stores.includes(name));
  if (wrong >= 0 || names.length === 0) return refused(`resources must be names of ${stores.join(", ")}`);
  return ok(new Map(names.flatMap((name) => (name === undefined ? [] : [[name, { asOf }]]))));
}

/** By the names of stores and of types without a store here. undefined = there are none, or one is no revision */
function headsOf(heads: JsonValue): Map<string, number> | undefined {
  if (!isJsonObject(heads)) return undefined;
  const known = new Map<string, number>();
  for (const [name, text] of Object.entries(heads)) {
    if (typeof text !== "string" || !HEAD.test(text) || !Number.isSafeInteger(Number(text))) return undefined;
    const store = storeOf(name) ?? name;
    known.set(store, Math.max(known.get(store) ?? 0, Number(text)));
  }
  return known.size > 0 ? known : undefined;
}

/** The store of a served type: two may have one. */
function storeOf(name: JsonValue): string | undefined {
  if (typeof name !== "string") return undefined;
  const { group, resource } = parseStoreName(`/${name}`);
  const definition = definitionOf(group, resource);
  return definition && qualifiedResource(storedResource(definition));
}

function refused(text: string): Result<never, Status> {
  return err(badRequest(text));
}
