/** What ServiceCIDRs and IPAddresses refuse, on the real server: with upstream's text, and without any change. */
import { beforeAll, describe, expect, it } from "vitest";
import { Api, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from "../../support/clients/api";
import type { Answer, Sent } from "../../support/clients/api";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();
const api = new Api(() => cluster.url);

const ranges = "/apis/networking.k8s.io/v1/servicecidrs";
const addresses = "/apis/networking.k8s.io/v1/ipaddresses";
const parentRef = { resource: "things", name: "x" };
const range = (name: string, ...cidrs: unknown[]) => ({ metadata: { name }, spec: { cidrs } });
const address = (name: string, spec: object = { parentRef }) => ({ metadata: { name }, spec });

beforeAll(async () => {
  await api.must("POST", ranges, { body: range("there", "10.100.0.0/24") });
  await api.must("POST", ranges, { body: range("both", "10.101.0.0/24", "fd00:1::/64") });
  await api.must("POST", addresses, { body: { metadata: { name: "192.0.2.1", finalizers: ["example.com/hold"] }, spec: { parentRef } } });
  await api.must("GET", "/api/v1/services");
  for (const name of ["kubernetes", "there", "both"]) {
    await api.until(async () => JSON.stringify((await api.get(`${ranges}/${name}`)).body).includes('"status":"True"'), `${name} is Ready`);
  }
  await api.until(async () => (await api.get(`${addresses}/10.96.0.1`)).code === 200, "default/kubernetes has its address");
});

/** All that a refused request could have changed, resourceVersions of the stores included. */
async function state(): Promise<string[]> {
  return Promise.all([ranges, addresses, "/api/v1/services"].map(async (path) => (await api.get(path)).text));
}

/** The answer has that code, reason and message, and the request changed nothing. */
async function refused(request: () => Promise<Answer>, want: { code: number; reason: string; message: string }): Promise<void> {
  const before = await state();
  const { code, body } = await request();
  expect({ code, reason: body.reason, message: body.message, kind: body.kind }).toEqual({ ...want, kind: "Status" });
  expect(await state()).toEqual(before);
}

const invalid = (message: string) => ({ code: 422, reason: "Invalid", message });
const NOT_A_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const NOT_AN_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const ONE_PER_FAMILY = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe("ServiceCIDR: spec.cidrs", () => {
  const entry = (text: string, problem: string, index = 0) =>
    `spec.cidrs[${String(index)}]: Invalid value: ${JSON.stringify(text)}: ${problem}`;
  const all = (cidrs: string[], problem: string) => `spec.cidrs: Invalid value: ${JSON.stringify(cidrs)}: ${problem}`;
  const none = "spec.cidrs: Required value: at least one CIDR required";

  it.each<{ name: string; cidrs: string[] | null | undefined; want: string[] }>([
    { name: "host bits", cidrs: ["10.0.0.1/24"], want: [entry("10.0.0.1/24", "must not have bits set beyond the prefix length")] },
    { name: "host bits, IPv6", cidrs: ["fd00::1/64"], want: [entry("fd00::1/64", "must not have bits set beyond the prefix length")] },
    {
      name: "three CIDRs",
      cidrs: ["10.0.0.0/24", "fd00::/64", "10.1.0.0/24"],
      want: ['spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/24","fd00::/64","10.1.0.0/24"]}: may only hold up to 2 values'],
    },
    { name: "two of IPv4", cidrs: ["10.0.0.0/24", "10.1.0.0/24"], want: [all(["10.0.0.0/24", "10.1.0.0/24"], ONE_PER_FAMILY)] },
    { name: "two of IPv6", cidrs: ["fd00::/64", "fd01::/64"], want: [all(["fd00::/64", "fd01::/64"], ONE_PER_FAMILY)] },
    { name: "one twice", cidrs: ["10.0.0.0/24", "10.0.0.0/24"], want: [all(["10.0.0.0/24", "10.0.0.0/24"], ONE_PER_FAMILY)] },
    { name: "leading zeros", cidrs: ["10.00.0.0/24"], want: [entry("10.00.0.0/24", "must not have leading 0s in IP or prefix length")] },
    {
      name: "leading zeros of the length",
      cidrs: ["10.0.0.0/024"],
      want: [entry("10.0.0.0/024", "must not have leading 0s in IP or prefix length")],
    },
    {
      name: "IPv4-mapped",
      cidrs: ["::ffff:10.0.0.0/120"],
      want: [entry("::ffff:10.0.0.0/120", "must not have an IPv4-mapped IPv6 address")],
    },
    { name: "a zone", cidrs: ["fe80::%eth0/64"], want: [entry("fe80::%eth0/64", NOT_A_CIDR)] },
    { name: "uppercase", cidrs: ["FD00:1::/64"], want: [entry("FD00:1::/64", 'must be in canonical form ("fd00:1::/64")')] },
    { name: "spelled out", cidrs: ["fd00:0::/64"], want: [entry("fd00:0::/64", 'must be in canonical form ("fd00::/64")')] },
    { name: "a blank before", cidrs: [" 10.0.0.0/24"], want: [entry(" 10.0.0.0/24", NOT_A_CIDR)] },
    { name: "a blank after", cidrs: ["10.0.0.0/24 "], want: [entry("10.0.0.0/24 ", NOT_A_CIDR)] },
    { name: "blanks in it", cidrs: ["10.0.0.0 /24"], want: [entry("10.0.0.0 /24", NOT_A_CIDR)] },
    { name: "an empty list", cidrs: [], want: [none] },
    { name: "null", cidrs: null, want: [none] },
    { name: "no list", cidrs: undefined, want: [none] },
    { name: "an empty text", cidrs: [""], want: [entry("", NOT_A_CIDR)] },
    { name: "an address", cidrs: ["10.0.0.0"], want: [entry("10.0.0.0", NOT_A_CIDR)] },
    { name: "too long for IPv4", cidrs: ["10.0.0.0/33"], want: [entry("10.0.0.0/33", NOT_A_CIDR)] },
    { name: "too long for IPv6", cidrs: ["fd00::/129"], want: [entry("fd00::/129", NOT_A_CIDR)] },
    { name: "a sign in the length", cidrs: ["10.0.0.0/+8"], want: [entry("10.0.0.0/+8", NOT_A_CIDR)] },
    { name: "no length", cidrs: ["10.0.0.0/"], want: [entry("10.0.0.0/", NOT_A_CIDR)] },
    {
      name: "both entries wrong",
      cidrs: ["10.0.0.1/24", "x"],
      want: [entry("10.0.0.1/24", "must not have bits set beyond the prefix length"), entry("x", NOT_A_CIDR, 1)],
    },
  ])("$name: refused in upstream's words", async ({ cidrs, want }) => {
    const told = want.length === 1 ? want.join() : `[${want.join(", ")}]`;
    const message = `ServiceCIDR.networking.k8s.io "bad" is invalid: ${told}`;
    await refused(() => api.send("POST", ranges, { body: { metadata: { name: "bad" }, spec: { cidrs } } }), invalid(message));
  });

  it("a name that is no DNS subdomain: refused", async () => {
    const message = `ServiceCIDR.networking.k8s.io "Bad_" is invalid: metadata.name: Invalid value: "Bad_": ${SUBDOMAIN}`;
    await refused(() => api.send("POST", ranges, { body: range("Bad_", "10.0.0.0/24") }), invalid(message));
  });

  it("an existing name with another prefix: refused", async () => {
    await refused(() => api.send("POST", ranges, { body: range("there", "10.102.0.0/24") }), {
      code: 409,
      reason: "AlreadyExists",
      message: 'servicecidrs.networking.k8s.io "there" already exists',
    });
  });

  const fixed = (field: string, value: unknown) => `${field}: Invalid value: ${JSON.stringify(value)}: field is immutable`;
  it.each<{ name: string; of: string; cidrs: string[] | null; want: string }>([
    { name: "another prefix", of: "there", cidrs: ["10.100.0.0/23"], want: fixed("spec.cidrs[0]", "10.100.0.0/23") },
    { name: "another second prefix", of: "both", cidrs: ["10.101.0.0/24", "fd00:2::/64"], want: fixed("spec.cidrs[1]", "fd00:2::/64") },
    { name: "a second one in front", of: "there", cidrs: ["fd00:2::/64", "10.100.0.0/24"], want: fixed("spec.cidrs[0]", "fd00:2::/64") },
    {
      name: "a second one of its family",
      of: "there",
      cidrs: ["10.100.0.0/24", "10.102.0.0/24"],
      want: all(["10.100.0.0/24", "10.102.0.0/24"], ONE_PER_FAMILY),
    },
    {
      name: "a bad second one",
      of: "there",
      cidrs: ["10.100.0.0/24", "fd00::1/64"],
      want: entry("fd00::1/64", "must not have bits set beyond the prefix length", 1),
    },
    { name: "one less", of: "both", cidrs: ["10.101.0.0/24"], want: fixed("spec.cidrs", ["10.101.0.0/24"]) },
    {
      name: "the other order",
      of: "both",
      cidrs: ["fd00:1::/64", "10.101.0.0/24"],
      want: `[${fixed("spec.cidrs[0]", "fd00:1::/64")}, ${fixed("spec.cidrs[1]", "10.101.0.0/24")}]`,
    },
    { name: "none", of: "there", cidrs: [], want: fixed("spec.cidrs", []) },
  ])("changed to $name, by PUT and by patch: refused in upstream's words", async ({ of, cidrs, want }) => {
    const message = `ServiceCIDR.networking.k8s.io "${of}" is invalid: ${want}`;
    await refused(() => api.send("PUT", `${ranges}/${of}`, { body: { metadata: { name: of }, spec: { cidrs } } }), invalid(message));
    await refused(() => api.patch(`${ranges}/${of}`, MERGE_PATCH, { spec: { cidrs } }), invalid(message));
  });
});

describe("IPAddress", () => {
  it.each([
    ["foo", NOT_AN_ADDRESS],
    ["1.2.3", NOT_AN_ADDRESS],
    ["1.2.3.256", NOT_AN_ADDRESS],
    ["10.0.0.0/24", NOT_AN_ADDRESS],
    ["fe80::1%eth0", NOT_AN_ADDRESS],
    [" 10.0.0.1", NOT_AN_ADDRESS],
    ["10.0.0.1 ", NOT_AN_ADDRESS],
    ["10.0.0.01", "must not have leading 0s"],
    ["::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"],
    ["2001:DB8::1", 'must be in canonical form ("2001:db8::1")'],
    ["2001:db8:0::1", 'must be in canonical form ("2001:db8::1")'],
    ["2001:db8::0.0.0.1", 'must be in canonical form ("2001:db8::1")'],
  ])("the name %j: refused in upstream's words", async (name, problem) => {
    const message = `IPAddress.networking.k8s.io ${JSON.stringify(name)} is invalid: metadata.name: Invalid value: ${JSON.stringify(name)}: ${problem}`;
    await refused(() => api.send("POST", addresses, { body: address(name) }), invalid(message));
  });

  const parent = "spec.parentRef";
  it.each<[string, object, string]>([
    ["no parent", {}, `${parent}: Required value`],
    ["an empty parent", { parentRef: {} }, `[${parent}.resource: Required value, ${parent}.name: Required value]`],
    ["a parent of a bad group", { parentRef: { ...parentRef, group: "A_" } }, `${parent}.group: Invalid value: "A_": ${SUBDOMAIN}`],
    [
      "a parent whose name is a path",
      { parentRef: { ...parentRef, name: "a/b" } },
      `${parent}.name: Invalid value: "a/b": may not contain '/'`,
    ],
  ])("%s: refused in upstream's words", async (_, spec, problem) => {
    const message = `IPAddress.networking.k8s.io "192.0.2.9" is invalid: ${problem}`;
    await refused(() => api.send("POST", addresses, { body: address("192.0.2.9", spec) }), invalid(message));
  });

  it.each([
    ["by hand", "192.0.2.1"],
    ["for default/kubernetes", "10.96.0.1"],
  ])("an existing name, made %s: 409", async (_, name) => {
    const message = `ipaddresses.networking.k8s.io "${name}" already exists`;
    await refused(() => api.send("POST", addresses, { body: address(name) }), { code: 409, reason: "AlreadyExists", message });
  });

  it("another parent, and no parent: refused", async () => {
    const path = `${addresses}/192.0.2.1`;
    const old = 'IPAddress.networking.k8s.io "192.0.2.1" is invalid: ';
    const changed = `${old}${parent}: Invalid value: {"Group":"","Resource":"things","Namespace":"","Name":"y"}: field is immutable`;
    await refused(() => api.patch(path, MERGE_PATCH, { spec: { parentRef: { name: "y" } } }), invalid(changed));
    const taken = `${old}[${parent}: Invalid value: null: field is immutable, ${parent}: Required value]`;
    await refused(() => api.patch(path, MERGE_PATCH, { spec: { parentRef: null } }), invalid(taken));
  });

  it("PUT of a missing name: creates nothing", async () => {
    const message = 'ipaddresses.networking.k8s.io "192.0.2.9" not found';
    await refused(() => api.send("PUT", `${addresses}/192.0.2.9`, { body: address("192.0.2.9") }), {
      code: 404,
      reason: "NotFound",
      message,
    });
  });
});

describe.each([
  ["servicecidrs", "ServiceCIDR", ranges, "there"],
  ["ipaddresses", "IPAddress", addresses, "192.0.2.1"],
])("deleting %s", (resource, kind, collection, name) => {
  const path = `${collection}/${name}`;
  const conflict = (what: string, message: string) => ({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ${what}.networking.k8s.io "${name}": ${message}`,
  });

  it("stale preconditions: refused", async () => {
    const { uid = "", resourceVersion = "" } = (await api.must("GET", path)).metadata ?? {};
    const deleting = (preconditions: object): Promise<Answer> => api.send("DELETE", path, { body: { preconditions } } satisfies Sent);
    await refused(
      () => deleting({ uid: "other" }),
      conflict(
        kind,
        `the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      ),
    );
    await refused(
      () => deleting({ uid, resourceVersion: "1" }),
      conflict(
        kind,
        `the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
      ),
    );
  });

  it("an update with a stale resourceVersion: refused", async () => {
    const message = "the object has been modified; please apply your changes to the latest version and try again";
    const stale = { metadata: { resourceVersion: "1", labels: { a: "b" } } };
    await refused(() => api.patch(path, MERGE_PATCH, stale), conflict(resource, message));
  });
});

describe("finalizers", () => {
  const path = `${addresses}/192.0.2.1`;

  it("removal of a missing finalizer: changes nothing", async () => {
    const before = await state();
    const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/other"] } };
    expect((await api.patch(path, STRATEGIC_PATCH, patch)).code).toBe(200);
    expect(await state()).toEqual(before);
  });

  it("an object being deleted: no finalizer comes back, and the last one is removed once", async () => {
    await api.must("DELETE", path);
    const more = { metadata: { finalizers: ["example.com/hold", "example.com/late"] } };
    await refused(
      () => api.patch(path, MERGE_PATCH, more),
      invalid(
        'IPAddress.networking.k8s.io "192.0.2.1" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}',
      ),
    );
    const takeOff = () => api.patch(path, JSON_PATCH, [{ op: "remove", path: "/metadata/finalizers/0" }]);
    expect((await takeOff()).code).toBe(200);
    expect((await api.get(path)).code).toBe(404);
    await refused(takeOff, { code: 404, reason: "NotFound", message: 'ipaddresses.networking.k8s.io "192.0.2.1" not found' });
  });

  it("a JSON patch that removes a finalizer of a ServiceCIDR twice: refused as a whole", async () => {
    const remove = { op: "remove", path: "/metadata/finalizers/0" };
    await refused(
      () => api.patch(`${ranges}/there`, JSON_PATCH, [remove, remove]),
      invalid("the server rejected our request due to an error in our request"),
    );
  });
});
