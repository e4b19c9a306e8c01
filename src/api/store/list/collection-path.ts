/** What a follower (api/client) asks of an API server, as the request that a store answers: objects of the cluster ask stores without the Worker. */
import type { CollectionRequest } from "../../rpc/store";

/**
 * @param path of a list or watch of a whole collection with its query, as `/api/v1/services?limit=500`. The parameters that followers use count.
 */
export function collectionOf(path: string): CollectionRequest {
  const [collection = "", query = ""] = path.split("?");
  const segments = collection.split("/").slice(1);
  const [group = "", version = "", resource = ""] = segments[0] === "api" ? ["", ...segments.slice(1)] : segments.slice(1);
  const given = new URLSearchParams(query);
  const text = (name: string): string => given.get(name) ?? "";
  return {
    verb: text("watch") === "true" ? "watch" : "list",
    namespace: "",
    labelSelector: text("labelSelector"),
    fieldSelector: text("fieldSelector"),
    limit: Number(text("limit")),
    continueToken: text("continue"),
    resourceVersion: text("resourceVersion"),
    resourceVersionMatch: text("resourceVersionMatch"),
    allowWatchBookmarks: text("allowWatchBookmarks") === "true",
    timeoutSeconds: Number(text("timeoutSeconds")),
    group,
    version,
    resource,
    representation: { as: "object" },
  };
}
