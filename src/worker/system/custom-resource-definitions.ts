/**
 * GET of all custom resource definitions: an empty list. kubectl asks for it when OpenAPI does not have a kind; without an answer kubectl cannot
 * report an unknown kind. Nothing else of apiextensions.k8s.io is served, so discovery does not name the group.
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
