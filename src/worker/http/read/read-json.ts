/** The JSON body of a request for a path beside the API. It is read with the seats of a write. */
import { badRequest, type Status, unsupportedMediaType } from "../../../api/meta/status";
import { TOO_DEEP } from "../../../api/schema/json/value-walk";
import { shapeOf } from "../../../api/schema/json/json-text";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/schema/json/json-value";
import type { Config } from "../../../core/config/config";
import { err, ok, type Result } from "../../../core/base/result";
import { bodyTypeOf } from "./content-type";
import { beginRequest, refusalOf } from "../in-flight";
import { SIDE_BODY_MAX_BYTES } from "../limits";
import { bodyTooLarge, readText } from "./read-body";

/**
 * The object; undefined for an empty body. A body of another type is 415, a large one 413; what is no JSON object or nests too deeply is 400, and `what`
 * names what it should be.
 */
export async function readJsonObject(request: Request, config: Config, what: string): Promise<Result<JsonObject | undefined, Status>> {
  const { headers, signal } = request;
  if (Number(headers.get("Content-Length")) > SIDE_BODY_MAX_BYTES) return err(bodyTooLarge(SIDE_BODY_MAX_BYTES));
  const place = await beginRequest({ verb: "update", config, cluster: "", user: "", signal });
  if (!place) return err(refusalOf("update"));
  try {
    const text = await readText({ request, place });
    if (!text.ok) return text;
    if (text.value.length > SIDE_BODY_MAX_BYTES) return err(bodyTooLarge(SIDE_BODY_MAX_BYTES));
    if (text.value.trim() === "") return ok(undefined);
    if (!saysJson(headers)) return err(unsupportedMediaType(JSON_TYPE));
    if (shapeOf(text.value).isTooDeep) return err(badRequest(TOO_DEEP));
    const body = JSON.parse(text.value) as JsonValue;
    return isJsonObject(body) ? ok(body) : err(badRequest(`the body is no ${what}`));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return err(badRequest("the body is no JSON"));
  } finally {
    place.end();
  }
}

/** The types that a 415 answer names. */
export const JSON_TYPE = ["application/json"];

/** Whether a body is one of JSON: by its Content-Type, or without one. */
export function saysJson(headers: Headers): boolean {
  return bodyTypeOf(headers.get("Content-Type")) === "json";
}
