/** The body of PUT /clusters/{name}: the settings of the cluster. A client may send the document that GET answers. */
import type { Env } from "../../../../durable-objects/platform/env";
import { badRequest, type Status } from "../../../api/meta/status";
import { err, ok, type Result } from "../../../core/base/result";
import { configOf } from "../../routing/config-guard";
import { readJsonObject } from "../../http/read/read-json";

export interface ClusterBody {
  /** entries of a list of controllers, unchecked; null = the variable's; undefined = as they are */
  controllers?: readonly string[] | null;
  /** where the objects of the cluster are to be, unchecked; undefined = where they are, or near who makes them */
  location?: string;
}

/** Members of the answer that a body may repeat. */
const READ_ONLY: readonly string[] = ["kind", "apiVersion", "metadata", "running", "status"];

/** An empty body asks for nothing. */
export async function readClusterBody(env: Env, request: Request): Promise<Result<ClusterBody, Status>> {
  const config = configOf(env);
  if (!config.ok) return config;
  const body = await readJsonObject(request, config.value, "JSON object");
  if (!body.ok) return body;
  const { controllers, location, ...others } = body.value ?? {};
  const unknown = Object.keys(others).find((member) => !READ_ONLY.includes(member));
  if (unknown !== undefined) return err(badRequest(`strict decoding error: unknown field ${JSON.stringify(unknown)}`));
  // As upstream reads null of a string.
  if (typeof (location ?? "") !== "string") return err(badRequest('location must be a text, as "weur", or null'));
  const place = typeof location === "string" ? { location } : {};
  if (controllers === undefined) return ok(place);
  if (controllers === null) return ok({ ...place, controllers });
  const entries = typeof controllers === "string" ? controllers.split(",").map((entry) => entry.trim()) : controllers;
  if (Array.isArray(entries) && entries.every((entry) => typeof entry === "string")) return ok({ ...place, controllers: entries });
  return err(badRequest('controllers must be a list of names, as ["*", "-namespace-controller"], or null'));
}
