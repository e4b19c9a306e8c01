import { describe, expect, it } from "vitest";
import { takeRefused, type TakeRefusal } from "../../../../src/addresses/clusterip/errors";
import { planClusterIPs } from "../../../../src/addresses/clusterip/address-plan";
import type { Status } from "../../../../src/api/meta/status";
import type { Family } from "../../../../src/core/net/family";
import { applyDefaults } from "../../../../src/api/registry/services/defaults";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import { deepFreeze, sent, type Spec, stored } from "../../api/registry/services/a-service";

const BOTH: readonly Family[] = ["IPv4", "IPv6"];

/** The answer when the last address of the plan is refused. */
function refused(spec: Spec, refusal: TakeRefusal, before = undefined as ReturnType<typeof stored> | undefined): Status {
  const after = sent(spec);
  const context = { now: 0, serviceFamilies: BOTH };
  applyDefaults(after);
  if (before) servicesDefinition.strategy.prepareForUpdate({ after, before }, context);
  else servicesDefinition.strategy.prepareForCreate(after, context);
  const plan = planClusterIPs({ after, before }, BOTH);
  const last = plan.ok ? plan.take.at(-1) : undefined;
  if (!last) throw new Error("nothing to take");
  return takeRefused(deepFreeze(after), last, refusal);
}

describe("takeRefused", () => {
  it("a used address: upstream's Status, 422", () => {
    expect(refused({ clusterIP: "10.0.0.5" }, { reason: "taken" })).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'Service "foo" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.5"]: failed to allocate IP 10.0.0.5: provided IP is already allocated',
      reason: "Invalid",
      details: {
        name: "foo",
        kind: "Service",
        causes: [
          {
            reason: "FieldValueInvalid",
            message: 'Invalid value: ["10.0.0.5"]: failed to allocate IP 10.0.0.5: provided IP is already allocated',
            field: "spec.clusterIPs",
          },
        ],
      },
      code: 422,
    });
  });

  it("a full range: upstream's Status, 500", () => {
    const message = 'failed to allocate a serviceIP for Service "foo": range is full';
    expect(refused({}, { reason: "full" })).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `Internal error occurred: ${message}`,
      reason: "InternalError",
      details: { causes: [{ message }] },
      code: 500,
    });
  });

  const prefix = 'Service "foo" is invalid: spec.clusterIPs: Invalid value: ';
  it.each<{ name: string; spec: Spec; refusal: TakeRefusal; want: string; before?: ReturnType<typeof stored> }>([
    {
      name: "address outside every range",
      spec: { clusterIP: "10.0.0.0" },
      refusal: { reason: "notAllocatable" },
      want: '["10.0.0.0"]: failed to allocate IP 10.0.0.0: the provided network does not match the current range',
    },
    {
      name: "address outside the range of a dry run",
      spec: { clusterIP: "10.1.0.1" },
      refusal: { reason: "outsideRange", range: "10.0.0.0/16" },
      want: '["10.1.0.1"]: failed to allocate IP 10.1.0.1: the provided IP (10.1.0.1) is not in the valid range. The range of valid IPs is 10.0.0.0/16',
    },
    {
      name: "address in another spelling, used",
      spec: { clusterIP: "2001:DB8::5" },
      refusal: { reason: "taken" },
      want: '["2001:DB8::5"]: failed to allocate IP 2001:DB8::5: provided IP is already allocated',
    },
    {
      name: "dynamic address, allocator not ready",
      spec: { ipFamilyPolicy: "RequireDualStack" },
      refusal: { reason: "notReady" },
      want: '["",""]: failed to allocate IP: allocator not ready',
    },
    {
      name: "dynamic address, any other fault",
      spec: {},
      refusal: { reason: "other", text: "the range is closed" },
      want: '[""]: failed to allocate IP: the range is closed',
    },
    {
      name: "static address, any other fault",
      spec: { clusterIP: "10.0.0.5" },
      refusal: { reason: "other", text: "the range is closed" },
      want: '["10.0.0.5"]: failed to allocate IP 10.0.0.5: the range is closed',
    },
    {
      name: "static second address of an upgrade, used",
      spec: { clusterIP: "10.0.0.5", clusterIPs: ["10.0.0.5", "2001:db8::5"], ipFamilyPolicy: "PreferDualStack" },
      before: stored({ clusterIP: "10.0.0.5" }),
      refusal: { reason: "taken" },
      want: '["10.0.0.5","2001:db8::5"]: failed to allocate IP 2001:db8::5: provided IP is already allocated',
    },
    {
      name: "dynamic second address of an upgrade, allocator not ready",
      spec: { ipFamilyPolicy: "PreferDualStack" },
      before: stored({ clusterIP: "10.0.0.5" }),
      refusal: { reason: "notReady" },
      want: '["10.0.0.5",""]: failed to allocate IP: allocator not ready',
    },
  ])("$name: 422 that quotes spec.clusterIPs as typed", ({ spec, refusal, want, before }) => {
    const status = refused(spec, refusal, before);
    expect(status.message).toBe(prefix + want);
    expect([status.code, status.reason, status.details?.causes?.[0]?.field]).toEqual([422, "Invalid", "spec.clusterIPs"]);
  });
});
