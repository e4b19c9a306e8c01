import { expect, it } from "vitest";
import { emptyTarget } from "../../../../src/worker/routing/empty-resources";

const CRDS = "apiextensions.k8s.io/v1 customresourcedefinitions";

it.each([
  [CRDS, "customresourcedefinitions "],
  [`${CRDS}/`, "customresourcedefinitions "],
  [`${CRDS}/a`, "customresourcedefinitions a"],
  [`${CRDS}/a%2Fb`, "customresourcedefinitions a%2Fb"],
  [`${CRDS}/a/`, undefined],
  [`${CRDS}/a/status`, undefined],
  [`${CRDS}//`, undefined],
  ["apiextensions.k8s.io/v1beta1 customresourcedefinitions", undefined],
  ["apps/v1 namespaces/x/deployments", "deployments "],
  ["apps/v1 namespaces/x/deployments/", "deployments "],
  ["apps/v1 namespaces/%zz/deployments", "deployments "],
  ["apps/v1 namespaces/x/deployments/a", undefined],
  ["apps/v1 namespaces//deployments", undefined],
  ["apps/v1 deployments", undefined],
  ["apps/v1 watch/namespaces/x/deployments", undefined],
  ["apps/v1 ", undefined],
  ["/v1 namespaces/x/replicationcontrollers", "replicationcontrollers "],
  ["/v1 namespaces/x/deployments", undefined],
])("%s: %s", (asked, want) => {
  const [version = "", rest = ""] = asked.split(" ");
  const [group = "", name = ""] = version.split("/");
  const target = emptyTarget(group, name, rest);
  expect(target && `${target.resource.resource} ${target.name}`).toBe(want);
});
