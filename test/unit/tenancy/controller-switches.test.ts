import { expect, it } from "vitest";
import type { ControllersSetting } from "../../../src/core/config/controllers";
import { ControllerSwitches } from "../../../src/tenancy/controller-switches";

it("an object's list: the variable's, then the newest of the cluster's own, also after a restart, then the variable's again", () => {
  let stored: ControllersSetting | undefined;
  const storage = { load: () => stored, save: (setting: ControllersSetting) => void (stored = setting) };
  const started = () => new ControllerSwitches(storage, ["*"]);
  const switches = started();
  expect([switches.list, switches.isOwn]).toEqual([["*"], false]);
  switches.set({ version: 2, list: ["*", "-namespace-controller"] });
  switches.set({ version: 1, list: ["service-cidr-controller"] });
  for (const one of [switches, started()]) expect([one.list, one.isOwn]).toEqual([["*", "-namespace-controller"], true]);
  switches.set({ version: 3, list: null });
  for (const one of [switches, started()]) expect([one.list, one.isOwn]).toEqual([["*"], false]);
});
