import { describe, expect, it } from "vitest";
import { OWN_DOMAIN } from "../../../../src/api/meta/own-annotation";
import { definitions } from "../../../../src/api/registry/all";
import { clusterProfilesDefinition } from "../../../../src/api/registry/cluster-profiles/definition";
import { IPAM_GROUP } from "../../../../src/api/registry/ipam/ipam";
import { GIT_VERSION } from "../../../../src/core/config/version";
import { int32, keyedListOf, listOf, message, plain, pointer, ref, required, string } from "../../../../src/api/schema/dsl";
import { ALL_KINDS } from "./all-kinds";
import { differences, schemaFacts, upstreamFacts } from "./upstream-facts";

const NO_NULL =
  "a member without a value is left out; Go clients read null and absence alike (compatibility.md, members with an empty value)";

/** The deliberate differences of each version, with their reasons. A difference that no longer exists makes the test fail. */
const MEANT: Record<string, Record<string, string>> = {
  "1.36": {
    "io.k8s.api.authentication.v1.TokenRequestSpec.boundObjectRef: null yes, here none": NO_NULL,
    "io.k8s.api.authentication.v1.TokenRequestSpec.expirationSeconds: null yes, here none": NO_NULL,
    "io.k8s.api.core.v1.GRPCAction.service: null yes, here none": NO_NULL,
    "io.k8s.api.core.v1.ScaleIOVolumeSource.secretRef: null yes, here none": NO_NULL,
    "io.k8s.api.core.v1.TypedLocalObjectReference.apiGroup: null yes, here none": NO_NULL,
    "io.k8s.api.core.v1.TypedObjectReference.apiGroup: null yes, here none": NO_NULL,
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta.managedFields: presence omitempty, here pointer":
      "a request with an empty list resets the managers, so decoding keeps the empty list; no answer shows one",
  },
};

describe("schemas of the served kinds", () => {
  it.each(Object.entries(MEANT))("the table of Kubernetes %s: equal, but for the listed differences", async (version, meant) => {
    const upstream = await upstreamFacts(version);
    expect(differences(upstream, schemaFacts(ALL_KINDS)).sort()).toEqual(Object.keys(meant).sort());
    expect(upstream.size).toBeGreaterThan(200);
  });

  it("kinds of the registry and of its actions: all are compared", () => {
    const upstreams = definitions.filter(({ group }) => ![OWN_DOMAIN, IPAM_GROUP, clusterProfilesDefinition.group].includes(group));
    const served = upstreams.flatMap(({ schema, actions = [] }) => [schema, ...actions.map((action) => action.schema)]);
    expect(served.filter((schema) => !ALL_KINDS.includes(schema)).map(({ name }) => name)).toEqual([]);
  });

  it("version that the server reports: has a table", () => {
    expect(Object.keys(MEANT)).toContain(/^v(\d+\.\d+)\./.exec(GIT_VERSION)?.[1]);
  });
});

describe("comparison of schemas", () => {
  const Item = message("t.Item", { name: required(1, string) }, { atomic: true });
  const right = schemaFacts([
    message("t.Kind", { a: plain(1, string), b: plain(2, keyedListOf(Item, "name")), c: pointer(3, int32, "", { default: 1 }) }),
  ]);
  const compared = (...args: Parameters<typeof message>): string[] => differences(right, schemaFacts([message(...args)]));

  it("a missing message, a missing field and an unknown field: reported", () => {
    expect(compared("t.Kind", { a: plain(1, string), d: plain(4, string) })).toEqual([
      "t.Item: missing",
      "t.Kind.b: missing",
      "t.Kind.c: missing",
      "t.Kind.d: unknown upstream",
    ]);
  });

  it("another number, type, presence, list semantics, default or atomicity: reported", () => {
    const other = message("t.Item", { name: required(1, string) });
    expect(compared("t.Kind", { a: required(5, int32), b: plain(2, listOf(ref(other))), c: pointer(3, int32) }, { isKind: true })).toEqual([
      "t.Item: [atomic], here []",
      "t.Kind: [], here [kind]",
      "t.Kind.a: number 1, here 5",
      "t.Kind.a: type string, here int32",
      "t.Kind.a: presence omitempty, here always",
      "t.Kind.a: required none, here yes",
      "t.Kind.b: list map, here atomic",
      "t.Kind.b: keys name, here none",
      "t.Kind.b: strategy merge, here none",
      "t.Kind.b: mergeKey name, here none",
      "t.Kind.c: default 1, here none",
    ]);
  });

  it("two messages of one name: error", () => {
    const twin = message("t.Item", {});
    expect(() => schemaFacts([message("t.Kind", { a: plain(1, ref(Item)), b: plain(2, ref(twin)) })])).toThrow(
      "two messages are called t.Item",
    );
  });

  it("a version without a table: error", async () => {
    await expect(upstreamFacts("1.0")).rejects.toThrow("no table of Kubernetes 1.0");
  });
});
