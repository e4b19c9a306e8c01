/** Upstream's assertions about ServiceCIDRs and the Services inside them: small ranges, growth, deletion and migration, on the real server. */
import { afterAll, describe, expect, it } from "vitest";
import { upstreamRow } from "../../conformance/upstream-row";
import { parsePrometheus } from "../../support/values/prometheus";
import { removeFolder, startServer, temporaryFolder } from "../../support/server/server";
import type { Server } from "../../support/server/server";
import { serverForTests } from "../../support/server/server-for-tests";
import { Api, MERGE_PATCH } from "../../support/clients/api";
import type { Body } from "../../support/clients/api";

const rangeOf = (ranges: string) => ["--var", `SERVICE_CLUSTER_IP_RANGE=${ranges}`];
const FINALIZER = "networking.k8s.io/service-cidr-finalizer";

/** A cluster of its own on a server: the flags of the server, and nobody else's objects. */
class Cluster {
  readonly api: Api;

  constructor(url: () => string, name: string) {
    this.api = new Api(() => `${url()}/clusters/${name}`);
  }

  service(name: string, spec: object = {}) {
    return this.api.send("POST", "/api/v1/namespaces/default/services", {
      body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } },
    });
  }

  async address(name: string, spec: object = {}): Promise<string> {
    const { code, body, text } = await this.service(name, spec);
    if (code !== 201) throw new Error(`${String(code)} ${text}`);
    return String(body.spec?.["clusterIP"]);
  }

  async services(): Promise<Body[]> {
    return (await this.api.must("GET", "/api/v1/services")).items ?? [];
  }

  async range(name: string, ...cidrs: string[]): Promise<void> {
    await this.api.must("POST", "/apis/networking.k8s.io/v1/servicecidrs", { body: { metadata: { name }, spec: { cidrs } } });
    await this.becomes(name, "True");
  }

  async becomes(name: string, ready: "True" | "False"): Promise<void> {
    await this.api.until(async () => (await this.condition(name))?.status === ready, `${name} is Ready=${ready}`);
  }

  async condition(name: string): Promise<{ status: string; reason: string; message: string } | undefined> {
    const { status } = await this.api.must("GET", this.path(name));
    const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string; reason: string; message: string }[] };
    return conditions.find(({ type }) => type === "Ready");
  }

  async removeRange(name: string): Promise<void> {
    await this.api.must("DELETE", this.path(name));
  }

  async goes(name: string): Promise<void> {
    await this.api.until(async () => (await this.api.get(this.path(name))).code === 404, `${name} is gone`);
  }

  async removeService(name: string): Promise<void> {
    await this.api.must("DELETE", `/api/v1/namespaces/default/services/${name}`);
  }

  /** An IPAddress that a client made. */
  async hold(name: string): Promise<void> {
    const body = { metadata: { name }, spec: { parentRef: { resource: "services", namespace: "default", name: "a" } } };
    await this.api.must("POST", "/apis/networking.k8s.io/v1/ipaddresses", { body });
  }

  path(name: string): string {
    return `/apis/networking.k8s.io/v1/servicecidrs/${name}`;
  }
}

/** IPv4 is the first family, so a Service that asks for none has an address of the eight. */
const eight = serverForTests(rangeOf("10.0.0.0/29,fd00:ff::/112"));

describe("a default range of eight addresses", () => {
  const cluster = (name: string) => new Cluster(() => eight.url, name);

  async function filled(name: string): Promise<Cluster> {
    const full = cluster(name);
    for (let i = 0; i < 5; i++) await full.address(`service-${String(i)}`);
    return full;
  }

  upstreamRow("TestServiceAllocation, TestServiceAllocNewServiceCIDR", () => {
    it("a range of six addresses: full after kubernetes and five more, and a freed address is used at once", async () => {
      const full = await filled("alloc");
      const used = (await full.services()).map(({ spec }) => spec?.["clusterIP"]);
      expect(used.sort()).toEqual(["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]);
      const refused = await full.service("one-more");
      expect([refused.code, refused.body.message]).toEqual([500, expect.stringContaining("range is full")]);
      await full.removeService("service-2");
      await full.address("one-more");
    });

    it("a further /24: room for 140", async () => {
      const full = await filled("grow");
      expect((await full.service("too-many")).code).toBe(500);
      await full.range("more", "192.168.0.0/24");
      const addresses = await Promise.all(Array.from({ length: 140 }, (_, i) => full.address(`more-${String(i)}`)));
      expect([new Set(addresses).size, addresses.every((address) => address.startsWith("192.168.0."))]).toEqual([140, true]);
    });
  });

  upstreamRow("TestServiceCIDRDeletion", () => {
    it("deleted ranges: a duplicate of the full default goes, the last cover waits for its Services", async () => {
      const full = await filled("delete");
      await full.range("duplicate", "10.0.0.0/29");
      await full.removeRange("duplicate");
      await full.goes("duplicate");
      await full.range("lone", "10.100.0.0/24");
      await full.address("lone", { clusterIP: "10.100.0.100" });
      await full.range("outer", "10.100.0.0/16");
      await full.removeRange("lone");
      await full.goes("lone");
      await full.removeRange("outer");
      await full.becomes("outer", "False");
      expect(await full.condition("outer")).toMatchObject({
        reason: "Terminating",
        message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
      });
      await full.removeService("lone");
      await full.goes("outer");
    });
  });

  upstreamRow("TestControllerSync, canDeleteCIDR, ipToCidrs, cidrToCidrs", () => {
    it("finalizer and condition: present, and restored", async () => {
      const subject = cluster("sync");
      const { api } = subject;
      await subject.range("new", "10.1.0.0/24");
      expect((await api.must("GET", subject.path("new"))).metadata?.finalizers).toEqual([FINALIZER]);
      expect(await subject.condition("new")).toMatchObject({ status: "True", reason: "", message: "Kubernetes Service CIDR is ready" });
      await api.patch(subject.path("new"), MERGE_PATCH, { metadata: { finalizers: null } });
      await api.until(
        async () => Boolean((await api.must("GET", subject.path("new"))).metadata?.finalizers?.includes(FINALIZER)),
        "the finalizer is back",
      );
    });

    it.each<{ name: string; others?: string[]; services?: string[]; clients?: string[]; goes: boolean }>([
      { name: "nothing in it", goes: true },
      { name: "an address that it alone contains", services: ["10.1.0.7"], goes: false },
      { name: "an equal one", others: ["10.1.0.0/24"], services: ["10.1.0.7"], goes: true },
      { name: "a larger one", others: ["10.1.0.0/16"], services: ["10.1.0.7"], goes: true },
      { name: "a smaller one that covers all", others: ["10.1.0.0/28"], services: ["10.1.0.7"], goes: true },
      { name: "a smaller one that does not", others: ["10.1.0.0/28"], services: ["10.1.0.7", "10.1.0.77"], goes: false },
      { name: "the last address of its IPv6 range", services: ["fd00:1::ffff"], goes: false },
      { name: "an address elsewhere", clients: ["10.2.0.7"], goes: true },
      { name: "its network and broadcast addresses", clients: ["10.1.0.0", "10.1.0.255"], goes: true },
      { name: "an address without the labels of the allocator", clients: ["10.1.0.7"], goes: true },
    ])("deletion of a ServiceCIDR, $name: goes is $goes", async ({ name, others = [], services = [], clients = [], goes }) => {
      const subject = cluster(`can-delete-${name.replaceAll(" ", "-").toLowerCase()}`);
      await subject.range("subject", "10.1.0.0/24", "fd00:1::/112");
      for (const [i, other] of others.entries()) await subject.range(`other-${String(i)}`, other, "fd00:1::/112");
      for (const [i, clusterIP] of services.entries()) {
        await subject.address(`service-${String(i)}`, { clusterIP, ipFamilies: [clusterIP.includes(":") ? "IPv6" : "IPv4"] });
      }
      for (const address of clients) await subject.hold(address);
      await subject.removeRange("subject");
      if (goes) await subject.goes("subject");
      else await subject.becomes("subject", "False");
    });
  });
});

describe("between and across ranges", () => {
  const cluster = (name: string) => new Cluster(() => eight.url, name);

  it("IPAddress that no ServiceCIDR covers: keeps its address when a ServiceCIDR around it comes and goes", async () => {
    const outside = cluster("outside");
    await outside.hold("10.9.0.3");
    const refused = await outside.service("early", { clusterIP: "10.9.0.3" });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringContaining("the provided network does not match the current range"),
    ]);
    await outside.range("around", "10.9.0.0/29");
    const taken = await outside.service("late", { clusterIP: "10.9.0.3" });
    expect([taken.code, taken.body.message]).toEqual([422, expect.stringContaining("provided IP is already allocated")]);
    const addresses = await Promise.all(Array.from({ length: 10 }, (_, i) => outside.address(`any-${String(i)}`)));
    expect(addresses).not.toContain("10.9.0.3");
    const full = await outside.service("one-more");
    expect([full.code, full.body.message]).toEqual([500, expect.stringContaining("range is full")]);
    for (const [i, address] of addresses.entries()) if (address.startsWith("10.9.")) await outside.removeService(`any-${String(i)}`);
    await outside.removeRange("around");
    await outside.goes("around");
    expect((await outside.api.get("/apis/networking.k8s.io/v1/ipaddresses/10.9.0.3")).code).toBe(200);
  });

  it("IPAddress of a client, deleted: a Service gets its address at once", async () => {
    const freed = cluster("freed");
    await freed.hold("10.9.0.3");
    await freed.range("around", "10.9.0.0/29");
    await freed.api.must("DELETE", "/apis/networking.k8s.io/v1/ipaddresses/10.9.0.3");
    expect(await freed.address("next", { clusterIP: "10.9.0.3" })).toBe("10.9.0.3");
  });

  it("static bands of overlapping ranges: each is used only after the dynamic addresses of all of them", async () => {
    const crossed = cluster("crossed");
    await crossed.range("outer", "10.8.0.0/25");
    await crossed.range("inner", "10.8.0.64/27");
    const many = (name: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => crossed.address(`${name}-${String(i)}`)));
    const numbersIn = (addresses: readonly string[]) =>
      addresses
        .filter((address) => address.startsWith("10.8.0."))
        .map((address) => Number(address.split(".")[3]))
        .sort((a, b) => a - b);
    const sequence = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
    // Five of the default range. The static bands are .1 to .16 of the outer range and .65 to .80 of the inner one.
    expect(numbersIn(await many("dynamic", 5 + 94))).toEqual([...sequence(17, 64), ...sequence(81, 126)]);
    expect(numbersIn(await many("static", 32))).toEqual([...sequence(1, 16), ...sequence(65, 80)]);
    expect((await crossed.service("one-more")).code).toBe(500);
  });
});

upstreamRow("TestServiceAllocIPAddressLargeCIDR", () => {
  const server = serverForTests(rangeOf("2001:db8::/64"));

  it("a /64: dynamic addresses, and its last one by name", async () => {
    const cluster = new Cluster(() => server.url, "large");
    const addresses = [await cluster.address("dynamic")];
    addresses.push(await cluster.address("last", { clusterIP: "2001:db8::ffff:ffff:ffff:ffff" }));
    expect(addresses[1]).toBe("2001:db8::ffff:ffff:ffff:ffff");
    for (const address of addresses) {
      const holder = await cluster.api.must("GET", `/apis/networking.k8s.io/v1/ipaddresses/${encodeURIComponent(address)}`);
      expect(holder.spec?.["parentRef"]).toMatchObject({ resource: "services", namespace: "default" });
    }
  });
});

describe("flags that change between two starts", () => {
  const folder = temporaryFolder();
  let server: Server | undefined;
  const cluster = (name: string) => new Cluster(() => server?.url ?? "", name);
  const restart = async (ranges: string) => {
    await server?.stop();
    server = await startServer(folder, rangeOf(ranges));
  };

  afterAll(async () => {
    await server?.kill();
    removeFolder(folder);
  });

  upstreamRow("test/integration/network: FinalizersRepairLoop, FinalizersPatchStatus, ServiceCIDR28bits", () => {
    it("a default range of /28: serves", async () => {
      await restart("10.0.0.0/28");
      const small = cluster("small");
      expect(await small.address("named", { clusterIP: "10.0.0.14" })).toBe("10.0.0.14");
      expect(await small.address("any")).toMatch(/^10\.0\.0\.\d+$/);
    });
  });

  upstreamRow("TestIPAllocatorClusterIPMetrics", () => {
    it("metrics of the allocator: held, free, given and refused addresses by range and scope", async () => {
      const subject = cluster("metrics");
      await subject.api.must("PUT", "");
      const metrics = async () => {
        const families = parsePrometheus((await subject.api.get("/metrics")).text);
        const of = (name: string, scope?: string) =>
          families
            .get(`kube_apiserver_clusterip_allocator_${name}`)
            ?.samples.find(({ labels }) => labels["cidr"] === "10.0.0.0/28" && labels["scope"] === scope)?.value;
        const names = ["allocation_total", "allocation_errors_total"];
        return [of("allocated_ips"), of("available_ips"), ...names.flatMap((name) => [of(name, "dynamic"), of(name, "static")])];
      };
      const taken = [await subject.address("metrics-a"), await subject.address("metrics-b")];
      // the first is default/kubernetes, by its name
      expect(await metrics()).toEqual([3, 11, 2, 1, undefined, undefined]);
      // Refusals are kept with the next commit, or after a minute.
      const commit = (touched: string) =>
        subject.api.must("PATCH", "/api/v1/namespaces/default/services/metrics-a", {
          body: { metadata: { labels: { touched } } },
          headers: { "Content-Type": MERGE_PATCH },
        });
      for (const clusterIP of taken) {
        expect((await subject.service("clash", { clusterIP })).code).toBe(422);
        await commit(clusterIP);
      }
      expect(await metrics()).toEqual([3, 11, 2, 1, undefined, 2]);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => subject.service(`many-${String(i)}`)));
      expect(answers.filter(({ code }) => code === 201).length).toBe(11);
      await commit("yes");
      expect(await metrics()).toEqual([14, 0, 13, 1, 9, 2]);
    });
  });

  upstreamRow("TestCreateInvalidClusterIPInputs", () => {
    it.each<[object, string]>([
      [{ ipFamilyPolicy: "RequireDualStack" }, "cluster is not configured for dual-stack"],
      [{ ipFamilies: ["IPv6"] }, "not configured on this cluster"],
    ])("a cluster of one family, %j: refused in upstream's words", async (spec, text) => {
      const { code, body } = await cluster("small").service("invalid", spec);
      expect([code, body.message]).toEqual([422, expect.stringContaining(text)]);
    });
  });

  upstreamRow("dualstack_test.go", () => {
    it("PreferDualStack in a cluster that gains and loses a family: stored Services stay, new ones follow", async () => {
      const subject = cluster("families");
      const prefer = { ipFamilyPolicy: "PreferDualStack" };
      const families = async (name: string) => {
        const path = `/api/v1/namespaces/default/services/${name}`;
        const { spec } = await subject.api.must("PATCH", path, {
          body: { metadata: { labels: { touched: name } } },
          headers: { "Content-Type": MERGE_PATCH },
        });
        return spec?.["ipFamilies"];
      };
      await subject.address("one", prefer);
      await restart("10.0.0.0/28,fd00::/112");
      expect(await families("one")).toEqual(["IPv4"]);
      await subject.becomes("kubernetes", "True");
      await subject.api.until(
        async () => JSON.stringify((await subject.api.must("GET", subject.path("kubernetes"))).spec).includes("fd00::/112"),
        "the second family",
      );
      await subject.api.until(async () => (await subject.service("two", prefer)).code !== 500, "a dual-stack Service");
      expect(await families("two")).toEqual(["IPv4", "IPv6"]);
      await restart("10.0.0.0/28");
      expect(await families("two")).toEqual(["IPv4", "IPv6"]);
      await subject.address("three", prefer);
      expect(await families("three")).toEqual(["IPv4"]);
    });
  });

  upstreamRow("TestMigrateServiceCIDR", () => {
    it("another default range, through a temporary one: Services get addresses throughout", async () => {
      const subject = cluster("migrate");
      await subject.address("old");
      await subject.range("temporary", "10.168.0.0/24");
      await subject.removeRange("kubernetes");
      await subject.becomes("kubernetes", "False");
      expect(await subject.address("new")).toMatch(/^10\.168\.0\./);
      await subject.removeService("old");
      await restart("10.168.0.0/24");
      await subject.removeService("kubernetes");
      const found = async () => (await subject.api.get(subject.path("kubernetes"))).body;
      await subject.api.until(async () => JSON.stringify((await found()).spec) === '{"cidrs":["10.168.0.0/24"]}', "the new default range");
      await subject.becomes("kubernetes", "True");
      expect((await found()).metadata?.finalizers).toEqual([FINALIZER]);
      const service = async () => (await subject.api.get("/api/v1/namespaces/default/services/kubernetes")).body.spec?.["clusterIP"];
      await subject.api.until(async () => (await service()) === "10.168.0.1", "default/kubernetes at its new address", 15);
      await subject.removeRange("temporary");
      await subject.goes("temporary");
      expect(await subject.address("last")).toMatch(/^10\.168\.0\./);
    });
  });
});
