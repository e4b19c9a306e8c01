import { describe, expect, it } from "vitest";
import { checkControllers, isControllerEnabled, parseControllers } from "../../../../src/core/config/controllers";
import { parseConfig } from "../../../../src/core/config/config";

const known = (name: string): string => `${JSON.stringify(name)} is not in the list of known controllers`;

function listOf(text: string): readonly string[] {
  const parsed = parseControllers(text);
  if (!parsed.ok) throw new Error(parsed.error.join("; "));
  return parsed.value;
}

function errorsOf(text: string): string[] {
  const parsed = parseControllers(text);
  return parsed.ok ? [] : parsed.error;
}

describe("a list of controllers", () => {
  it.each([
    ["*", { namespace: true, garbage: true }],
    ["*,-namespace-controller", { namespace: false, garbage: true }],
    ["*, -namespace", { namespace: false, garbage: true }],
    ["-namespace,-garbagecollector,*", { namespace: false, garbage: false }],
    ["namespace,service-cidr-controller", { namespace: true, garbage: false }],
    ["service-cidr-controller", { namespace: false, garbage: false }],
    // the first entry that names a controller decides
    ["namespace,-namespace-controller,*", { namespace: true, garbage: true }],
    ["-namespace-controller,namespace,*", { namespace: false, garbage: true }],
    ["*,-endpointslice-controller,-podgc,-svm", { namespace: true, garbage: true }],
  ])("%s: decides as upstream's IsControllerEnabled", (text, { namespace, garbage }) => {
    const list = listOf(text);
    expect(isControllerEnabled(list, "namespace-controller")).toBe(namespace);
    expect(isControllerEnabled(list, "garbage-collector-controller")).toBe(garbage);
  });

  it("aliases: replaced by names", () => {
    const aliases =
      "*,endpoint,-endpointslice,-endpointslicemirroring,-nodelifecycle,-podgc,-resourcequota,-garbagecollector,resource-claim-controller";
    expect(listOf(aliases)).toEqual([
      "*",
      "endpoints-controller",
      "-endpointslice-controller",
      "-endpointslice-mirroring-controller",
      "-node-lifecycle-controller",
      "-pod-garbage-collector-controller",
      "-resourcequota-controller",
      "-garbage-collector-controller",
      "resourceclaim-controller",
    ]);
  });

  it("names of controllers that this server does not have: taken", () => {
    const names = ["deployment-controller", "service-lb-controller", "podgroup-protection-controller", "selinux-warning-controller"];
    expect(listOf(["*", ...names].join())).toEqual(["*", ...names]);
  });

  it.each([
    ["*,-nobody", ["nobody"]],
    ["*,", [""]],
    ["-*", ["*"]],
    ["*,--namespace-controller", ["-namespace-controller"]],
    ["*,Namespace-Controller,constructor", ["Namespace-Controller", "constructor"]],
    // cloud-controller-manager alone has it
    ["*,cloud-node-controller", ["cloud-node-controller"]],
  ])("%s: refused in upstream's words", (text, unknown) => {
    expect(errorsOf(text)).toEqual(unknown.map(known));
  });

  it.each(["*,-service-cidr-controller", "namespace-controller", "-namespace"])("%s: refused, one controller has no switch", (text) => {
    expect(errorsOf(text)).toEqual([expect.stringMatching(/^service-cidr-controller has no switch: .* list it, or \*\./) as string]);
  });

  it("no entry: refused", () => {
    expect(checkControllers([]).ok).toBe(false);
  });

  it("the variable: names itself in each mistake", () => {
    const config = parseConfig({ CONTROLLERS: "*,-nobody,-nothing" });
    expect(config.ok ? [] : config.error).toEqual([`CONTROLLERS: ${known("nobody")}`, `CONTROLLERS: ${known("nothing")}`]);
    expect(parseConfig({ CONTROLLERS: "*,-namespace" })).toMatchObject({ value: { controllers: ["*", "-namespace-controller"] } });
  });
});
