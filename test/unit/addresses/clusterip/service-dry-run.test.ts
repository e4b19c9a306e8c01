import { describe, expect, it } from "vitest";
import { objectOf, SimApi, statusOf } from "../../../support/sim/api";

describe("dry run of a Service", () => {
  it("dynamic address: shown as the network address of the range, nothing is taken", async () => {
    const api = await new SimApi().ready();
    const shown = objectOf(await api.create("web", {}, { dryRun: true }));
    expect(shown.spec?.clusterIPs).toEqual(["10.0.0.0"]);
    expect(objectOf(await api.create("web", { clusterIP: "10.0.0.7" }, { dryRun: true })).spec?.clusterIPs).toEqual(["10.0.0.7"]);
    expect([api.addressesOf("web"), await api.rows(), api.parents]).toEqual([undefined, {}, {}]);
  });

  it("without a range of the family: the allocator is not ready", async () => {
    const api = await new SimApi({ ranges: ["fd00::/124"] }).ready();
    expect(statusOf(await api.create("web", {}, { dryRun: true })).message).toMatch(/failed to allocate IP: allocator not ready$/);
  });

  it("static address: refused outside the ranges, accepted when it is taken", async () => {
    const api = await new SimApi().ready();
    await api.create("web", { clusterIP: "10.0.0.7" });
    objectOf(await api.create("other", { clusterIP: "10.0.0.7" }, { dryRun: true }));
    expect(statusOf(await api.create("other", { clusterIP: "10.7.0.7" }, { dryRun: true }))).toMatchObject({
      code: 422,
      message:
        'Service "other" is invalid: spec.clusterIPs: Invalid value: ["10.7.0.7"]: failed to allocate IP 10.7.0.7: the provided IP (10.7.0.7) is not in the valid range. The range of valid IPs is 10.0.0.0/28',
    });
  });
});
