import { describe, expect, it } from "vitest";
import { seal } from "../../../../src/core/encoding/sealed-text";
import { openTopology, sealTopology, topologyCopyKey, topologyVersion } from "../../../../src/addresses/topology/topology-copy";
import { fakeDigest } from "../../../support/sim/platform/fake-digest";
import { aTopology } from "../../../support/worlds/ledger-world";

const TOPOLOGY = aTopology(7, { a: "10.0.0.0/24", b: "10.0.1.0/24" });

describe("published topology", () => {
  it("opened: has epoch 0, which is never the Coordinator's, and no counts", async () => {
    const opened = await openTopology(await sealTopology("c", TOPOLOGY, fakeDigest), "c", fakeDigest);
    expect(opened).toEqual({ epoch: 0, claims: TOPOLOGY.claims, ranges: TOPOLOGY.ranges, owners: [], free: [] });
    expect(topologyCopyKey("c")).toBe("topology/c");
  });

  it("of another cluster or layout, or damaged: undefined", async () => {
    const sealed = await sealTopology("c", TOPOLOGY, fakeDigest);
    expect(await openTopology(sealed, "d", fakeDigest)).toBeUndefined();
    expect(await openTopology(sealed.slice(1), "c", fakeDigest)).toBeUndefined();
    const later = await seal(JSON.stringify({ format: 2, cluster: "c", claims: [], ranges: [] }), fakeDigest);
    expect(await openTopology(later, "c", fakeDigest)).toBeUndefined();
  });

  it("version: changes with each epoch, claim and range, not with free counts", () => {
    const version = topologyVersion(TOPOLOGY);
    expect(topologyVersion({ ...TOPOLOGY, free: [] })).toBe(version);
    for (const other of [{ epoch: 8 }, { claims: [] }, { ranges: [] }])
      expect(topologyVersion({ ...TOPOLOGY, ...other })).not.toBe(version);
  });
});
