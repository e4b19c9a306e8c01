import { describe, expect, it } from "vitest";
import { checkCluster, type CheckReport } from "../../../../src/tools/check/check-cluster";
import type { ObservedIPAddress, ObservedServiceCIDR } from "../../../../src/tools/check/observed";
import {
  type CheckedCluster,
  healthy,
  ipAddress,
  MADE_AT,
  row,
  service,
  serviceCIDR,
  sourceOf,
} from "../../../support/worlds/checked-cluster";
import { quickClock } from "../../../support/worlds/quick-clock";

/** The check of a cluster that is damaged in one way and stays so. */
async function checked(damage: (cluster: CheckedCluster) => void): Promise<CheckReport> {
  const cluster = healthy();
  damage(cluster);
  return checkCluster(
    sourceOf(() => cluster),
    quickClock(),
  );
}

/** One that a client made for something else than a Service. */
function ownAddress(address: string): ObservedIPAddress {
  const parentRef = { group: "example.com", resource: "gateways", namespace: "default", name: "mine" };
  return { metadata: { name: address, uid: `uid-${address}` }, spec: { parentRef } };
}

function owner(cluster: CheckedCluster) {
  const [first] = cluster.owners?.owners ?? [];
  if (!first) throw new Error("the example has an owner");
  return first as { uid: string; rows: ReturnType<typeof row>[]; differs: string };
}

/** The owner of the example has this prefix, too. */
function claim({ owners }: CheckedCluster, prefix: string): void {
  (owners?.claims as { prefix: string; ownerUid: string }[]).push({ prefix, ownerUid: "owner-1" });
}

describe("damage that lasts", () => {
  const cases: [string, (cluster: CheckedCluster) => void, string[]][] = [
    ["nothing", () => undefined, []],
    [
      "nothing: a Service recreated while its address was taken",
      (c) => void (owner(c).rows[1] = { ...row("10.96.0.20", "web"), holder: { ...row("", "web").holder, uid: "before" } }),
      [],
    ],
    [
      "an address of two Services",
      (c) => c.services.push(service("zwei", "10.96.0.20")),
      ["I1: 10.96.0.20 is held by default/web and by default/zwei", "I2: default/zwei holds 10.96.0.20, whose IPAddress names default/web"],
    ],
    [
      "a node port of two Services",
      (c) => c.services.push(service("ported", "None", { clusterIPs: ["None"], ports: [{ nodePort: 30080 }] })),
      ["I1: node port TCP/30080 is held by default/web and by default/ported"],
    ],
    [
      "a node port outside its range",
      (c) => c.services.push(service("ported", "None", { clusterIPs: ["None"], ports: [{ nodePort: 80 }] })),
      ["I3: default/ported holds node port 80, outside 30000-32767"],
    ],
    ["no IPAddress", (c) => c.ipAddresses?.pop(), ["I2: default/web holds 10.96.0.20, which has no IPAddress"]],
    [
      "an IPAddress of another Service",
      (c) => (c.ipAddresses = [ipAddress("10.96.0.1", "kubernetes"), ipAddress("10.96.0.20", "other")]),
      ["I2: default/web holds 10.96.0.20, whose IPAddress names default/other"],
    ],
    [
      "an IPAddress left behind",
      (c) => c.ipAddresses?.push(ipAddress("10.96.0.9", "gone")),
      ["I2: the IPAddress 10.96.0.9 names default/gone, which does not hold it"],
    ],
    [
      "an IPAddress without labels",
      (c) => delete c.ipAddresses?.[1]?.metadata?.labels,
      ["I2: the IPAddress 10.96.0.20 of default/web lacks the allocator's labels"],
    ],
    [
      "an address outside every range",
      (c) => (c.serviceCIDRs = [serviceCIDR("kubernetes", ["10.96.0.0/28"])]),
      ["I3: no ServiceCIDR covers 10.96.0.20 of default/web"],
    ],
    [
      "an address that is a network address",
      (c) => {
        c.serviceCIDRs?.push(serviceCIDR("small", ["10.97.0.20/30"]));
        c.services.push(service("edge", "10.97.0.20"));
        c.ipAddresses?.push(ipAddress("10.97.0.20", "edge"));
        c.owners = {
          claims: [...(c.owners?.claims ?? []), { prefix: "10.97.0.20/30", ownerUid: "silent" }],
          owners: c.owners?.owners ?? [],
          silent: [],
        };
      },
      ["I3: no ServiceCIDR covers 10.97.0.20 of default/edge"],
    ],
    ["no default Service", (c) => void c.services.shift(), ["I2", "default: the Service default/kubernetes is missing", "row"]],
    [
      "no default ServiceCIDR",
      (c) => (c.serviceCIDRs = [serviceCIDR("other", ["10.96.0.0/16"])]),
      ["default: the ServiceCIDR kubernetes is missing"],
    ],
    [
      "no row",
      (c) => void owner(c).rows.pop(),
      ["row: default/web holds 10.96.0.20, and its owner has no row of it: it can be given out again"],
    ],
    [
      "a row of no Service",
      (c) => void owner(c).rows.push(row("10.96.0.9", "gone")),
      ["row: 10.96.0.9 is taken for Service default/gone, which is not there: nobody can have it"],
    ],
    [
      "a row of a Service that has another address",
      (c) => void owner(c).rows.push(row("10.96.0.9", "web")),
      ["row: 10.96.0.9 is taken for Service default/web, which does not hold it: nobody can have it"],
    ],
    [
      "a row of no IPAddress",
      (c) => void owner(c).rows.push(row("10.96.0.9", "gone", "ipaddress")),
      ["row: 10.96.0.9 is taken for an IPAddress that is not there: nobody can have it"],
    ],
    [
      "no row of somebody's own IPAddress",
      (c) => c.ipAddresses?.push(ownAddress("10.96.0.9")),
      ["row: the IPAddress 10.96.0.9 is there, and its owner has no row of it: it can be given out"],
    ],
    [
      "a row of an IPAddress of before",
      (c) => {
        c.ipAddresses?.push(ownAddress("10.96.0.9"));
        owner(c).rows.push({
          ...row("10.96.0.9", "10.96.0.9", "ipaddress"),
          holder: { ...row("", "", "ipaddress").holder, uid: "before" },
        });
      },
      ["row: 10.96.0.9 is taken for an IPAddress that is not there: nobody can have it"],
    ],
    [
      "a row of a node port of no Service",
      (c) => c.nodePortRows?.push({ protocol: "UDP", port: 30080, key: "default/gone" }),
      ["row: node port UDP/30080 is taken for Service default/gone, which is not there: nobody can have it"],
    ],
    [
      "a row of a node port of a Service that holds another",
      (c) => c.nodePortRows?.push({ protocol: "TCP", port: 30081, key: "default/web" }),
      ["row: node port TCP/30081 is taken for Service default/web, which does not hold it: nobody can have it"],
    ],
    [
      "no row of a node port",
      (c) => void c.nodePortRows?.pop(),
      ["row: default/web holds node port TCP/30080, and there is no row of it: it can be given out again"],
    ],
    [
      "the row of a node port under another name",
      (c) => (c.nodePortRows = [{ protocol: "TCP", port: 30080, key: "default/kubernetes" }]),
      [
        "row: default/web holds node port TCP/30080, and there is no row of it: it can be given out again",
        "row: node port TCP/30080 is taken for Service default/kubernetes, which does not hold it: nobody can have it",
      ],
    ],
    [
      "a bitmap",
      (c) => (owner(c).differs = "3 addresses are taken, and there are 2 rows"),
      ["bitmap: the bitmap of owner owner-1 differs from its rows: 3 addresses are taken, and there are 2 rows"],
    ],
    [
      "a range without an owner",
      (c) => c.serviceCIDRs?.push(serviceCIDR("unowned", ["10.99.0.0/24"])),
      ["claim: a part of 10.99.0.0/24 has no owner, and it gives out addresses"],
    ],
    [
      "a range with two owners",
      (c) =>
        (c.owners = {
          claims: [...(c.owners?.claims ?? []), { prefix: "10.96.8.0/24", ownerUid: "owner-2" }],
          owners: c.owners?.owners ?? [],
          silent: [],
        }),
      ["claim: 10.96.0.0/16 of owner owner-1 overlaps 10.96.8.0/24 of owner owner-2"],
    ],
  ];
  it.each(cases)("%s: found by its rule", async (_, damage, expected) => {
    const { wrong, notices } = await checked(damage);
    const lines = wrong.map(({ rule, message }) => `${rule}: ${message}`).sort();
    expect(lines).toHaveLength(expected.length);
    expected.forEach((want, i) => expect(lines[i]).toContain(want));
    expect(notices).toEqual([]);
  });

  it.each<[string, (cluster: CheckedCluster) => void, string]>([
    ["a Service", (c) => void c.services.pop(), "Service default/web"],
    ["the default Service", (c) => void c.services.shift(), "Service default/kubernetes"],
    ["the IPAddress of a Service", (c) => void c.ipAddresses?.pop(), "IPAddress 10.96.0.20"],
    ["somebody's own IPAddress", (c) => void owner(c).rows.push(row("10.96.0.9", "10.96.0.9", "ipaddress")), "IPAddress 10.96.0.9"],
  ])("unreadable %s: one finding, and nothing follows from the object", async (_, damage, label) => {
    const { wrong, notices, unchecked, looks } = await checked((c) => {
      damage(c);
      c.unreadable.push(label);
    });
    expect(wrong).toEqual([{ rule: "object", objects: [label], message: `${label} is stored, and cannot be read` }]);
    expect([notices, unchecked, looks]).toEqual([[], [], 1]);
  });

  it("unreadable ServiceCIDR: cover is not checked", async () => {
    const { wrong, unchecked } = await checked((c) => {
      c.serviceCIDRs?.pop();
      c.unreadable.push("ServiceCIDR kubernetes");
    });
    expect(wrong.map(({ message }) => message)).toEqual(["ServiceCIDR kubernetes is stored, and cannot be read"]);
    expect(unchecked).toEqual(["a ServiceCIDR cannot be read: whether addresses lie in a range was not checked (I3)"]);
  });

  it("finding: names the objects", async () => {
    const { wrong } = await checked((c) => c.ipAddresses?.pop());
    expect(wrong).toEqual([
      { rule: "I2", objects: ["Service default/web"], message: "default/web holds 10.96.0.20, which has no IPAddress" },
    ]);
  });
});

describe("IPAddress of a client that needs no row", () => {
  it.each<[string, string, ObservedServiceCIDR[]]>([
    ["outside every range", "10.200.0.9", []],
    ["in a range that is not Ready yet", "10.97.0.9", [serviceCIDR("new", ["10.97.0.0/24"], false)]],
    ["that no range gives out", "10.97.0.0", [serviceCIDR("new", ["10.97.0.0/24"])]],
  ])("IPAddress %s: nothing wrong", async (_, address, serviceCIDRs) => {
    const { wrong } = await checked((c) => {
      c.ipAddresses?.push(ownAddress(address));
      c.serviceCIDRs?.push(...serviceCIDRs);
      const { claims = [], owners = [] } = c.owners ?? {};
      c.owners = {
        claims: [...claims, { prefix: "10.97.0.0/24", ownerUid: "owner-2" }],
        owners: [...owners, { uid: "owner-2", rows: [], differs: "" }],
        silent: [],
      };
    });
    expect(wrong).toEqual([]);
  });
});

describe("notices, and what was not checked", () => {
  const cases: [string, (cluster: CheckedCluster) => void, { notices?: string[]; unchecked?: string[] }][] = [
    [
      "a range that is not Ready",
      (c) => c.serviceCIDRs?.push(serviceCIDR("new", ["10.99.0.0/24"], false)),
      { notices: ["the ServiceCIDR new is not Ready (Seeding)"] },
    ],
    [
      "an IPAddress without its Service that is young",
      (c) => {
        const object = ipAddress("10.96.0.9", "soon");
        c.ipAddresses?.push({
          ...object,
          metadata: { ...object.metadata, creationTimestamp: new Date(MADE_AT + 3_590_000).toISOString() },
        });
      },
      {
        notices: [
          "the IPAddress 10.96.0.9 names default/soon, which does not hold it; it is younger than a minute, and its Service may be on its way",
        ],
      },
    ],
    [
      "an IPAddress that somebody else made",
      (c) => {
        const object = ipAddress("10.96.0.9", "own");
        c.ipAddresses?.push({ ...object, metadata: { ...object.metadata, labels: {} } });
        owner(c).rows.push(row("10.96.0.9", "10.96.0.9", "ipaddress"));
      },
      { notices: ["the IPAddress 10.96.0.9 names default/own, which does not hold it; the allocator did not make it"] },
    ],
    [
      "a Node whose Pods have addresses of a range",
      (c) => c.serviceCIDRs?.push(serviceCIDR("pods", ["10.244.0.0/16"])) && claim(c, "10.244.0.0/16"),
      { notices: ["10.244.0.0/16 of the ServiceCIDR pods overlaps the podCIDR 10.244.0.0/24 of the Node one"] },
    ],
    [
      "configured ranges around an address of the API servers",
      (c) => {
        Object.assign(c, { serviceCIDRs: undefined, ranges: ["10.96.0.0/16", "192.0.2.96/27"] });
        claim(c, "192.0.2.96/27");
      },
      {
        notices: [
          "192.0.2.96/27 of the configuration contains 192.0.2.100, an address of the API servers (endpoints of default/kubernetes)",
        ],
      },
    ],
    [
      "another server without ServiceCIDRs and IPAddresses",
      (c) => Object.assign(c, { serviceCIDRs: undefined, ipAddresses: undefined, owners: undefined, nodePortRows: undefined }),
      {
        unchecked: [
          "IPAddresses are not served: whether Services have theirs was not checked (I2)",
          "ServiceCIDRs are not served: whether addresses lie in a range was not checked (I3)",
        ],
      },
    ],
    [
      "an owner that does not answer",
      (c) => (c.owners = { claims: c.owners?.claims ?? [], owners: [], silent: [{ uid: "owner-1", reason: "no answer" }] }),
      { unchecked: ["the owner owner-1 could not be read: no answer"] },
    ],
  ];
  it.each(cases)("%s: nothing wrong, but a notice or an unchecked part", async (_, damage, { notices = [], unchecked = [] }) => {
    const report = await checked(damage);
    expect(report.wrong).toEqual([]);
    expect(report.notices.map(({ message }) => message)).toEqual(notices);
    expect(report.unchecked).toEqual(unchecked);
  });
});

describe("looking again", () => {
  it("healthy cluster: read once, and counted", async () => {
    const clock = quickClock();
    const report = await checkCluster(sourceOf(healthy), clock);
    expect(report).toEqual({
      checked: { services: 2, ipAddresses: 2, serviceCIDRs: 1, owners: 1, rows: 2 },
      wrong: [],
      notices: [],
      unchecked: [],
      looks: 1,
    });
    expect(clock.waited).toBe(0);
  });

  it("finding that a later look does not show: dropped", async () => {
    const [torn, whole] = [healthy(), healthy()];
    torn.ipAddresses?.pop();
    let reads = 0;
    const source = {
      ...sourceOf(() => torn),
      ipAddresses: () => (++reads < 3 ? sourceOf(() => torn) : sourceOf(() => whole)).ipAddresses(),
    };
    const heard: number[] = [];
    const report = await checkCluster(source, quickClock(), (standing) => heard.push(standing));
    expect(report).toMatchObject({ wrong: [], looks: 3 });
    expect(heard).toEqual([1, 1]);
  });

  it("findings with the same names of other objects in each look: dropped", async () => {
    let reads = 0;
    const source = {
      ...sourceOf(healthy),
      services: () => {
        const fresh = service("busy", "10.96.0.77");
        const objects = [...healthy().services, { ...fresh, metadata: { ...fresh.metadata, uid: `uid-${++reads}` } }];
        return Promise.resolve({ objects, unreadable: [] });
      },
    };
    expect(await checkCluster(source, quickClock())).toMatchObject({ wrong: [], looks: 2 });
  });

  it.each([
    ["a pair", (c: CheckedCluster) => c.ipAddresses?.pop(), 5_000],
    ["a row", (c: CheckedCluster) => owner(c).rows.push(row("10.96.0.9", "gone")), 24_000],
    ["what every cluster has", (c: CheckedCluster) => (c.serviceCIDRs = [serviceCIDR("other", ["10.96.0.0/16"])]), 15_000],
  ])("%s: wrong only after the time for which a healthy cluster may show it", async (_, damage, lastingMs) => {
    const cluster = healthy();
    damage(cluster);
    const clock = quickClock();
    const startedAt = clock.now();
    // Put right just before the time is over.
    const mended = await checkCluster(
      sourceOf(() => (clock.now() - startedAt >= lastingMs ? healthy() : cluster)),
      clock,
    );
    expect(mended.wrong).toEqual([]);
    const lasting = quickClock();
    expect(
      (
        await checkCluster(
          sourceOf(() => cluster),
          lasting,
        )
      ).wrong,
    ).toHaveLength(1);
    expect(lasting.waited).toBeGreaterThanOrEqual(lastingMs);
  });

  describe("owner that does not answer in one look", () => {
    const silentIn = (damage: (cluster: CheckedCluster) => void, isSilent: (look: number) => boolean): Promise<CheckReport> => {
      const [damaged, silent] = [healthy(), healthy()];
      damage(damaged);
      damage(silent);
      silent.owners = { claims: silent.owners?.claims ?? [], owners: [], silent: [{ uid: "owner-1", reason: "no answer" }] };
      let look = 0;
      const source = sourceOf(() => damaged);
      return checkCluster({ ...source, owners: () => Promise.resolve((isSilent(++look) ? silent : damaged).owners) }, quickClock());
    };
    const rowless = (c: CheckedCluster) => void owner(c).rows.pop();
    const leftover = (c: CheckedCluster) => void owner(c).rows.push(row("10.96.0.9", "gone"));
    const bitmap = (c: CheckedCluster) => {
      owner(c).differs = "an address with a row is free";
      // Looked at again because of another finding.
      c.ipAddresses?.pop();
    };

    it.each([
      ["no row", rowless, 1],
      ["a row of nobody", leftover, 1],
      ["a bitmap", bitmap, 2],
    ])("%s: the finding is kept", async (_, damage, count) => {
      for (const silentLook of [2, 3]) {
        const { wrong, unchecked } = await silentIn(damage, (look) => look === silentLook);
        expect([wrong.length, unchecked]).toEqual([count, []]);
      }
    });

    it("finding that the owner showed once, before the time was over: not checked", async () => {
      const { wrong, unchecked } = await silentIn(leftover, (look) => look > 1);
      expect([wrong, unchecked]).toEqual([[], ["the owner owner-1 could not be read: no answer"]]);
    });

    it("finding that the first look missed: not checked", async () => {
      const { unchecked } = await silentIn(
        (c) => {
          leftover(c);
          c.ipAddresses?.pop();
        },
        (look) => look === 1,
      );
      expect(unchecked).toEqual(["the owner owner-1 could not be read: no answer"]);
    });
  });

  it("source that fails: the check fails", async () => {
    const source = { ...sourceOf(healthy), services: () => Promise.reject(new Error("no answer")) };
    await expect(checkCluster(source, quickClock())).rejects.toThrow("no answer");
  });
});
