/** What docs/tenants.md says of ranges for the Services of some namespaces, by kubectl. */
import { beforeAll, describe, expect, it } from "vitest";
import { kubectlInCluster } from "../../support/clients/kubectl";
import { list, service, serviceCIDR } from "./objects";

const kubectl = kubectlInCluster();
const { ok } = kubectl;
const SELECTOR = "servicenet.dev/namespace-selector";

function range(name: string, cidrs: string[], annotations: Record<string, string>): object {
  const made = serviceCIDR(name, cidrs) as { metadata: object };
  return { ...made, metadata: { ...made.metadata, annotations } };
}

function create(name: string, namespace: string, spec: object = {}): void {
  ok(`create -n ${namespace} -f ${kubectl.file(`${namespace}-${name}.json`, service(name, { ports: [{ port: 80 }], ...spec }))}`);
}

function addressOf(name: string, namespace: string): string {
  return ok(`get service ${name} -n ${namespace} -o jsonpath={.spec.clusterIP}`);
}

beforeAll(() => {
  for (const tenant of ["a", "b", "c"]) ok(`create namespace ${tenant}`);
  ok("label namespace a tenant=a");
  ok("label namespace b tenant=b");
  const ranges = [
    range("for-a", ["10.98.0.0/24"], { [SELECTOR]: "tenant=a" }),
    range("for-b", ["10.98.0.64/26"], { [SELECTOR]: "tenant=b", "servicenet.dev/when-full": "Any" }),
  ];
  ok(`create -f ${kubectl.file("ranges.json", list(...ranges))}`);
  ok("wait --for=condition=Ready servicecidr/for-a servicecidr/for-b --timeout=30s");
});

describe("a range for a tenant", () => {
  it("each tenant takes from its own, others from neither", async () => {
    // A draw may be a second behind a new range.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const namespace of ["a", "b", "c"]) create("web", namespace);
    expect(addressOf("web", "a")).toMatch(/^10\.98\.0\.([1-5]?\d|6[0-3]|12[89]|1[3-9]\d|2\d\d)$/);
    expect(addressOf("web", "b")).toMatch(/^10\.98\.0\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])$/);
    expect(addressOf("web", "c")).not.toMatch(/^10\.98\./);
  });

  it("a named address of another tenant: refused, and the answer says why", () => {
    const named = kubectl.file("named.json", service("named", { clusterIP: "10.98.0.70", ports: [{ port: 80 }] }));
    expect(kubectl.run(`create -n a -f ${named}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'ServiceCIDR "for-b" (10.98.0.64/26) is kept for namespaces that match "tenant=b", and namespace "a" does not',
      ) as string,
    });
    ok(`create -n b -f ${named}`);
  });

  it("another label: the next Service has another range, and nothing moves", () => {
    const before = addressOf("web", "c");
    ok("label namespace c tenant=b");
    create("later", "c");
    expect(addressOf("later", "c")).toMatch(/^10\.98\.0\./);
    expect(addressOf("web", "c")).toBe(before);
  });

  it("get -o wide shows the selector, get without it upstream's columns", () => {
    expect(ok("get servicecidrs for-a -o wide --no-headers")).toMatch(/^for-a +10\.98\.0\.0\/24 +\S+ +tenant=a$/);
    expect(ok("get servicecidrs kubernetes -o wide --no-headers")).toMatch(/ <all>$/);
    expect(ok("get servicecidrs for-a").split("\n")[0]?.trim()).toMatch(/^NAME +CIDRS +AGE$/);
  });

  it("an annotation that is no selector: refused with its field, by create and by annotate", () => {
    const bad = kubectl.file("bad.json", range("bad", ["10.99.0.0/24"], { [SELECTOR]: "tenant in (a" }));
    const field = `metadata.annotations[${SELECTOR}]: Invalid value`;
    expect(kubectl.run(`create -f ${bad}`)).toMatchObject({ code: 1, err: expect.stringContaining(field) as string });
    expect(kubectl.run(`annotate servicecidr for-a --overwrite ${SELECTOR}=a=b=c`)).toMatchObject({
      code: 1,
      err: expect.stringContaining(field) as string,
    });
  });
});
