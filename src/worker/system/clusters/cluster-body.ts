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
  /** with which it is to begin, unchecked; undefined = with those of the variable, or as it has begun */
  serviceCIDRs?: readonly string[];
}

/** Members of the answer that a body may repeat. */
const READ_ONLY: readonly string[] = ["kind", "apiVersion", "metadata", "running", "status"];

/** An empty body asks for nothing. */
export async function readClusterBody(env: Env, request: Request): Promise<Result<ClusterBody, Status>> {
  const config = configOf(env);
  if (!config.ok) return config;
  const body = await readJsonObject(request, config.value, "JSON object");
  if (!body.ok) return body;
  const { controllers, location, serviceCIDRs, ...others } = body.value ?? {};
  const unknown = Object.keys(others).find((member) => !READ_ONLY.includes(member));
  if (unknown !== undefined) return err(badRequest(`strict decoding error: unknown field ${JSON.stringify(unknown)}`));
  // As upstream reads null of a string.
  if (typeof (location ?? "") !== "string") return err(badRequest('location must be a text, as "weur", or null'));
  const ranges = textsIn(serviceCIDRs ?? []);
  if (!ranges) return err(badRequest('serviceCIDRs must be a list of CIDRs, as ["10.96.0.0/16"], or null'));
  const asked = { ...(typeof location === "string" && { location }), ...(ranges.length > 0 && { serviceCIDRs: ranges }) };
  if (controllers === undefined) return ok(asked);
  if (controllers === null) return ok({ ...asked, controllers });
  const entries = textsIn(controllers);
  if (entries) return ok({ ...asked, controllers: entries });
  return err(badRequest('controllers must be a list of names, as ["*", "-namespace-controller"], or null'));
}

/** A list may be a text with commas, too; undefined = it is neither. */
function textsIn(value: unknown): string[] | undefined {
  const entries: unknown = typeof value === "string" ? value.split(",").map((entry) => entry.trim()) : value;
  return Array.isArray(entries) && entries.every((entry) => typeof entry === "string") ? entries : undefined;
}
