/** What an operator sees of repair: what was deleted by hand comes back, and kubectl tells why. */
import { describe, expect, it, vi } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { service } from "./objects";
import { PATIENCE } from "../../support/server/patience";

const kubectl = kubectlInCluster();
const { ok } = kubectl;

describe("an IPAddress that is deleted by hand while its Service lives", () => {
  it("the IPAddress: restored within 10 s, with an event that counts repetitions", async () => {
    ok(`apply -f ${kubectl.file("repaired.json", service("repaired", { ports: [{ port: 80 }] }))}`);
    const address = ok("get service repaired -o jsonpath={.spec.clusterIP}");
    const before = ok(`get ipaddress ${address} -o jsonpath={.metadata.uid}`);
    const note = `Cluster IP [IPv4]: ${address} is not allocated; repairing`;
    for (let round = 1; round <= 2; round++) {
      ok(`delete ipaddress ${address}`);
      await vi.waitFor(() => expect(ok(`get ipaddress ${address} -o jsonpath={.spec.parentRef.name}`)).toBe("repaired"), PATIENCE);
      const counted = `events.events.k8s.io --field-selector reason=ClusterIPNotAllocated -o jsonpath={.items[*].series.count}`;
      await vi.waitFor(() => expect(ok(`get ${counted}`)).toBe(round === 1 ? "" : "2"), PATIENCE);
    }
    expect(ok(`get ipaddress ${address} -o jsonpath={.metadata.uid}`)).not.toBe(before);
    expect(ok("events --for service/repaired")).toMatch(/Warning +ClusterIPNotAllocated +Service\/repaired/);
    const described = ok("describe service repaired");
    expect(described).toContain(note);
    expect(described).toContain("ipallocator-repair-controller");
    expect(ok("get --raw /metrics")).toContain(
      `apiserver_clusterip_repair_ip_errors_total{type="repair",cluster="${kubectl.cluster.name}"} 2`,
    );
  });
});
