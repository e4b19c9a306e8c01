/** The body of PUT /clusters/{name}: what the cluster is to have of its own. It may be the document that GET answers. */
import type { Env } from "../../../durable-objects/env";
import { badRequest, overloaded, type Status } from "../../api/meta/status";
import { isJsonObject, type JsonValue } from "../../api/schema/json-value";
import { err, ok, type Result } from "../../core/base/result";
import { configOf } from "../routing/config-guard";
import { beginRequest } from "../http/in-flight";
import { type BodyRequest, readText } from "../http/read-body";

export interface ClusterBody {
  /** entries of a list of controllers, unchecked; null = the variable's; undefined = as they are */
  controllers?: readonly string[] | null;
}

/** Members of the answer that a body may repeat. */
const READ_ONLY: readonly string[] = ["kind", "apiVersion", "metadata", "running", "status"];

/** An empty body asks for nothing. Takes a place among the writes under way. */
export async function readClusterBody(env: Env, request: Request): Promise<Result<ClusterBody, Status>> {
  const config = configOf(env);
  if (!config.ok) return config;
  const place = beginRequest("update", request.headers, config.value);
  if (!place) return err(overloaded());
  try {
    return await readBrought({ request, place });
  } finally {
    place.end();
  }
}

async function readBrought(request: BodyRequest): Promise<Result<ClusterBody, Status>> {
  const text = await readText(request);
  if (!text.ok) return text;
  if (text.value.trim() === "") return ok({});
  let body: JsonValue;
  try {
    body = JSON.parse(text.value) as JsonValue;
  } catch {
    return err(badRequest("the body is no JSON"));
  }
  if (!isJsonObject(body)) return err(badRequest("the body is no JSON object"));
  const { controllers, ...others } = body;
  const unknown = Object.keys(others).find((member) => !READ_ONLY.includes(member));
  if (unknown !== undefined) return err(badRequest(`strict decoding error: unknown field ${JSON.stringify(unknown)}`));
  if (controllers === undefined) return ok({});
  if (controllers === null) return ok({ controllers });
  const entries = typeof controllers === "string" ? controllers.split(",").map((entry) => entry.trim()) : controllers;
  if (Array.isArray(entries) && entries.every((entry) => typeof entry === "string")) return ok({ controllers: entries });
  return err(badRequest('controllers must be a list of names, as ["*", "-namespace-controller"], or null'));
}
