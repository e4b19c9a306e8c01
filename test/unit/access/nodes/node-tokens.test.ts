import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/api/meta/kubernetes";
import { podTokenProblem, unboundTokenProblem } from "../../../../src/access/nodes/node-tokens";

const BOUND = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
const UNBOUND = "node requested token not bound to a pod";

it.each([
  [{}, UNBOUND],
  [{ boundObjectRef: { ...BOUND, apiVersion: "apps/v1" } }, UNBOUND],
  [{ boundObjectRef: { ...BOUND, kind: "Secret" } }, UNBOUND],
  [{ boundObjectRef: { ...BOUND, kind: "Node" } }, UNBOUND],
  [{ boundObjectRef: { ...BOUND, name: "" } }, UNBOUND],
  [{ boundObjectRef: { ...BOUND, uid: "" } }, "node requested token with a pod binding without a uid"],
  [{ boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p" } }, "node requested token with a pod binding without a uid"],
  [{ boundObjectRef: BOUND }, undefined],
])("a token that a node asks for with %j: %s", (spec, problem) => {
  expect(unboundTokenProblem(spec)).toBe(problem);
});

describe("a token that is bound to a Pod", () => {
  const pod = (nodeName: string, ...audiences: (string | undefined)[]): Pod => ({
    spec: {
      nodeName,
      containers: [],
      volumes: [
        { name: "other", emptyDir: {} },
        {
          name: "tokens",
          projected: { sources: [{}, ...audiences.map((audience) => ({ serviceAccountToken: { path: "t", audience } }))] },
        },
      ],
    },
  });
  const notFound = (audience: string): string =>
    `audience "${audience}" not found in pod spec volume, system:node:n is not authorized to request tokens for this audience`;

  it.each<[string, Pod, string[] | undefined, string | undefined]>([
    ["a Pod of another node", pod("m", undefined), [], "node requested token bound to a pod scheduled on a different node"],
    ["a Pod of no node", { spec: { containers: [] } }, [], "node requested token bound to a pod scheduled on a different node"],
    ["two audiences", pod("n", "a", "b"), ["a", "b"], "node may only request 0 or 1 audiences"],
    ["no audience, which a volume has", pod("n", undefined), undefined, undefined],
    ["no audience, which a volume names as the empty one", pod("n", ""), [], undefined],
    ["no audience, which no volume has", pod("n", "a"), [], notFound("")],
    ["an audience that a volume names", pod("n", undefined, "a"), ["a"], undefined],
    ["an audience that no volume names", pod("n", undefined), ["a"], notFound("a")],
    ["an audience that a rule allows", pod("n"), ["registry"], undefined],
  ])("%s: upstream's answer", (_, to, audiences, problem) => {
    const asked = audiences === undefined ? {} : { audiences };
    expect(podTokenProblem({ node: "n", user: "system:node:n" }, asked, to, (audience) => audience === "registry")).toBe(problem);
  });
});
