/**
 * GET of all custom resource definitions: there are none. kubectl asks when it reads of a kind that OpenAPI does not have, and without an
 * answer it cannot say that there is no such kind. Nothing else of apiextensions.k8s.io is served, so discovery does not name it.
 */
import { jsonResponse } from "../http/respond";

export const DEFINITIONS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const NONE = JSON.stringify({
  kind: "CustomResourceDefinitionList",
  apiVersion: "apiextensions.k8s.io/v1",
  metadata: { resourceVersion: "1" },
  items: [],
});

export function customResourceDefinitionsResponse(): Response {
  return jsonResponse(200, NONE, "compact");
}
