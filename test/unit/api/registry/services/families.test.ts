import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import type { Family } from "../../../../../src/core/net/family";
import { applyDefaults } from "../../../../../src/api/registry/services/defaults";
import { initFamilies } from "../../../../../src/api/registry/services/families";
import { normalizeClusterIPs, patchAllocatedValues } from "../../../../../src/api/registry/services/normalize";
import { deepFreeze, sent, type Spec, texts } from "./a-service";

const ADDRESS: Record<string, string> = { "4": "10.0.0.10", "6": "2001:db8::10" };
const POLICY: Record<string, string> = { S: "SingleStack", P: "PreferDualStack", R: "RequireDualStack" };
const FAMILY: Record<string, Family> = { "4": "IPv4", "6": "IPv6" };

/** Which rule an error text belongs to; E1-E7 are the reference's names, `fam` is an address that does not fit its family. */
const CODES: readonly [string, RegExp][] = [
  ["E1", /^spec\.ipFamilyPolicy: Invalid value: ".*": must be 'SingleStack' to release the secondary cluster IP$/],
  ["E2", /^spec\.ipFamilyPolicy: Invalid value: ".*": must be 'SingleStack' to release the secondary IP family$/],
  [
    "E3",
    /^spec\.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified$/,
  ],
  [
    "E4",
    /^spec\.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified$/,
  ],
  ["E5", /^spec\.clusterIPs\[\d\]: Invalid value: \[.*\]: IPv[46] is not configured on this cluster$/],
  ["E6", /^spec\.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services$/],
  ["E7", /^spec\.ipFamilies\[\d\]: Invalid value: "IPv[46]": not configured on this cluster$/],
  ["fam", /^spec\.clusterIPs\[\d\]: Invalid value: ".*": expected an IPv[46] value as indicated by `ipFamilies\[\d\]`$/],
];

function codesOf(errors: readonly string[]): string {
  const codes = errors.map((text) => CODES.find(([, pattern]) => pattern.test(text))?.[0] ?? text);
  return [...new Set(codes)].join("+");
}

/** "46" -> IPv4, IPv6; "-" -> none */
function familiesOf(symbols: string): Family[] {
  return [...symbols].flatMap((symbol) => FAMILY[symbol] ?? []);
}

function specFor(ips: string, policy: string, families: string): Spec {
  const spec: Spec = {};
  if (ips.startsWith("None")) {
    spec.clusterIP = "None";
    if (ips === "None") spec.selector = undefined;
  } else if (ips !== "-") {
    spec.clusterIPs = [...ips].map((symbol) => ADDRESS[symbol] ?? "");
    spec.clusterIP = spec.clusterIPs[0];
  }
  if (policy !== "-") spec.ipFamilyPolicy = POLICY[policy];
  if (families !== "-") spec.ipFamilies = familiesOf(families);
  return spec;
}

/** "P/46" for what was decided, or the codes of the errors. */
function outcome(service: Service, errors: readonly string[]): string {
  if (errors.length > 0) return codesOf(errors);
  const policy = service.spec?.ipFamilyPolicy?.charAt(0) ?? "-";
  const families = (service.spec?.ipFamilies ?? []).map((family) => family.slice(-1)).join("");
  return `${policy}/${families || "-"}`;
}

/**
 * Every create on clusters whose primary family is IPv4, columns = ipFamilies that the client sends. `None+sel` = headless with a selector.
 * The other half of the clusters is the same table with the families swapped. Upstream: TestCreateInitIPFields.
 */
const CREATE = `
cluster ips      policy |  -      4      6      46     64
4       -        -      |  S/4    S/4    E7     E4     E4
4       -        S      |  S/4    S/4    E7     E4     E4
4       -        P      |  P/4    P/4    E7     E7     E7
4       -        R      |  E6     E6     E6+E7  E6+E7  E6+E7
4       4        -      |  S/4    S/4    fam    E4     fam
4       4        S      |  S/4    S/4    fam    E4     fam
4       4        P      |  P/4    P/4    fam    E7     fam
4       4        R      |  E6     E6     fam    E6+E7  fam
4       6        -      |  E5     fam    E7     fam    E4
4       6        S      |  E5     fam    E7     fam    E4
4       6        P      |  E5     fam    E7     fam    E7
4       6        R      |  E5     fam    E6+E7  fam    E6+E7
4       46       -      |  E3+E5  E3+E5  fam    E3+E4  fam
4       46       S      |  E3+E5  E3+E5  fam    E3+E4  fam
4       46       P      |  E5     E5     fam    E7     fam
4       46       R      |  E5     E5     fam    E6+E7  fam
4       64       -      |  E3+E5  fam    E3     fam    E3+E4
4       64       S      |  E3+E5  fam    E3     fam    E3+E4
4       64       P      |  E5     fam    E7     fam    E7
4       64       R      |  E5     fam    E6+E7  fam    E6+E7
4       None+sel -      |  S/4    S/4    E7     E4     E4
4       None+sel S      |  S/4    S/4    E7     E4     E4
4       None+sel P      |  P/4    P/4    E7     E7     E7
4       None+sel R      |  E6     E6     E6+E7  E6+E7  E6+E7
4       None     -      |  R/46   R/46   R/64   R/46   R/64
4       None     S      |  S/4    S/4    S/6    E4     E4
4       None     P      |  P/46   P/46   P/64   P/46   P/64
4       None     R      |  R/46   R/46   R/64   R/46   R/64
46      -        -      |  S/4    S/4    S/6    E4     E4
46      -        S      |  S/4    S/4    S/6    E4     E4
46      -        P      |  P/46   P/46   P/64   P/46   P/64
46      -        R      |  R/46   R/46   R/64   R/46   R/64
46      4        -      |  S/4    S/4    fam    E4     fam
46      4        S      |  S/4    S/4    fam    E4     fam
46      4        P      |  P/46   P/46   fam    P/46   fam
46      4        R      |  R/46   R/46   fam    R/46   fam
46      6        -      |  S/6    fam    S/6    fam    E4
46      6        S      |  S/6    fam    S/6    fam    E4
46      6        P      |  P/64   fam    P/64   fam    P/64
46      6        R      |  R/64   fam    R/64   fam    R/64
46      46       -      |  E3     E3     fam    E3+E4  fam
46      46       S      |  E3     E3     fam    E3+E4  fam
46      46       P      |  P/46   P/46   fam    P/46   fam
46      46       R      |  R/46   R/46   fam    R/46   fam
46      64       -      |  E3     fam    E3     fam    E3+E4
46      64       S      |  E3     fam    E3     fam    E3+E4
46      64       P      |  P/64   fam    P/64   fam    P/64
46      64       R      |  R/64   fam    R/64   fam    R/64
46      None+sel -      |  S/4    S/4    S/6    E4     E4
46      None+sel S      |  S/4    S/4    S/6    E4     E4
46      None+sel P      |  P/46   P/46   P/64   P/46   P/64
46      None+sel R      |  R/46   R/46   R/64   R/46   R/64
46      None     -      |  R/46   R/46   R/64   R/46   R/64
46      None     S      |  S/4    S/4    S/6    E4     E4
46      None     P      |  P/46   P/46   P/64   P/46   P/64
46      None     R      |  R/46   R/46   R/64   R/46   R/64
`;

interface CreateCase {
  cluster: string;
  ips: string;
  policy: string;
  families: string;
  want: string;
}

/** IPv4 <-> IPv6 in families, addresses and outcomes of decided families. Error codes keep their digits. */
function mirrored(text: string): string {
  return /^[EF]|fam/.test(text) ? text : text.replace(/[46]/g, (symbol) => (symbol === "4" ? "6" : "4"));
}

function createCases(): CreateCase[] {
  const [header = "", ...rows] = CREATE.trim().split("\n");
  const columns = (header.split("|")[1] ?? "").trim().split(/\s+/);
  return rows.flatMap((row) => {
    const [left = "", right = ""] = row.split("|");
    const [cluster = "", ips = "", policy = ""] = left.trim().split(/\s+/);
    return right
      .trim()
      .split(/\s+/)
      .map((want, i) => ({ cluster, ips, policy, families: columns[i] ?? "", want }));
  });
}

function create(clusterFamilies: readonly Family[], spec: Spec): string {
  const service = sent(spec);
  applyDefaults(service);
  normalizeClusterIPs({ after: service });
  const first = outcome(service, texts(initFamilies({ after: service }, clusterFamilies)));
  if (!/^[SPR]\//.test(first)) return first;
  // doing it again decides the same
  expect(outcome(service, texts(initFamilies({ after: service }, clusterFamilies)))).toBe(first);
  return first;
}

describe("initFamilies: create on every kind of cluster", () => {
  const cases = createCases();

  it("the table: covers the whole product of inputs", () => {
    expect(cases).toHaveLength(2 * 7 * 4 * 5);
  });

  it.each(cases)("primary IPv4: cluster $cluster, ips $ips, policy $policy, families $families -> $want", (row) => {
    expect(create(familiesOf(row.cluster), specFor(row.ips, row.policy, row.families))).toBe(row.want);
  });

  it("primary IPv6: the same with the families swapped", () => {
    for (const row of cases) {
      const got = create(familiesOf(mirrored(row.cluster)), specFor(mirrored(row.ips), row.policy, mirrored(row.families)));
      expect({ ...row, got }).toEqual({ ...row, got: mirrored(row.want) });
    }
  });
});

describe("initFamilies: texts", () => {
  it.each<{ name: string; spec: Spec; families: Family[]; want: string[] }>([
    {
      name: "family of an address not configured: the whole list is printed",
      spec: { clusterIP: "2001:db8::10" },
      families: ["IPv4"],
      want: ['spec.clusterIPs[0]: Invalid value: ["2001:db8::10"]: IPv6 is not configured on this cluster'],
    },
    {
      name: "requested family not configured",
      spec: { ipFamilies: ["IPv6"] },
      families: ["IPv4"],
      want: ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    },
    {
      name: "dual-stack demanded of a single-stack cluster",
      spec: { ipFamilyPolicy: "RequireDualStack" },
      families: ["IPv6"],
      want: ['spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
    },
    {
      name: "address against family",
      spec: { clusterIP: "10.0.0.1", ipFamilies: ["IPv6"] },
      families: ["IPv4", "IPv6"],
      want: ['spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    },
    {
      name: "several (pre) errors are collected",
      spec: { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4", "IPv4", "ipx"], ipFamilyPolicy: "Both" },
      families: ["IPv4"],
      want: [
        'spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when `clusterIP` is not specified',
        'spec.ipFamilies[1]: Duplicate value: "IPv4"',
        'spec.ipFamilies[2]: Unsupported value: "ipx": supported values: "IPv4", "IPv6"',
        'spec.ipFamilyPolicy: Unsupported value: "Both": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
      ],
    },
  ])("$name: upstream's text", ({ spec, families, want }) => {
    const service = sent(spec);
    normalizeClusterIPs({ after: service });
    expect(texts(initFamilies({ after: service }, families))).toEqual(want);
  });

  it("an ExternalName: unchanged", () => {
    const service = sent({ type: "ExternalName", externalName: "a.example" });
    expect(initFamilies({ after: service }, ["IPv4"])).toEqual([]);
    expect(service.spec?.ipFamilies).toBeUndefined();
    expect(service.spec?.ipFamilyPolicy).toBeUndefined();
  });
});

function stored(ips: string, policy: string, families: string): Service {
  const service = sent({ type: "ClusterIP", ...specFor(ips, policy, families) });
  normalizeClusterIPs({ after: service });
  return deepFreeze(service);
}

function update(before: Service, spec: Spec, clusterFamilies: readonly Family[] = ["IPv4", "IPv6"]) {
  const after = sent({ ...spec, selector: before.spec?.selector });
  applyDefaults(after);
  patchAllocatedValues({ after, before });
  normalizeClusterIPs({ after, before });
  const first = outcome(after, texts(initFamilies({ after, before }, clusterFamilies)));
  return { result: first, ips: after.spec?.clusterIPs };
}

const LISTS = ["-", "4", "46"];

describe("initFamilies: update on a dual-stack cluster", () => {
  for (const ips of LISTS) {
    for (const families of LISTS) {
      const sentText = `ips ${ips}, families ${families}`;
      for (const policy of ["-", "S", "P", "R"]) {
        it(`single, policy ${policy}, ${sentText}: the families of the row`, () => {
          const { result } = update(stored("4", "S", "4"), specFor(ips, policy, families));
          const errors = [...(ips === "46" ? ["E3"] : []), ...(families === "46" ? ["E4"] : [])].join("+");
          const becomesDual = policy === "P" || policy === "R";
          expect(result).toBe(becomesDual ? `${policy}/46` : errors || "S/4");
        });

        for (const oldPolicy of ["P", "R"]) {
          it(`dual ${oldPolicy}, policy ${policy}, ${sentText}: the families of the row`, () => {
            const { result, ips: after } = update(stored("46", oldPolicy, "46"), specFor(ips, policy, families));
            const errors = [...(ips === "4" ? ["E1"] : []), ...(families === "4" ? ["E2"] : [])].join("+");
            if (policy === "S") {
              expect(result).toBe("S/4");
              expect(after).toEqual([ADDRESS["4"]]);
            } else {
              expect(result).toBe(errors || `${policy === "-" ? oldPolicy : policy}/46`);
              if (!errors) expect(after).toEqual([ADDRESS["4"], ADDRESS["6"]]);
            }
          });
        }
      }
    }
  }

  it("a downgrade that makes the second family the primary one: refused", () => {
    expect(update(stored("46", "R", "46"), specFor("-", "S", "6")).result).toBe("fam");
  });
});

describe("initFamilies: update when the cluster has one family", () => {
  it("RequireDualStack: refused", () => {
    expect(update(stored("4", "S", "4"), specFor("-", "R", "-"), ["IPv4"]).result).toBe("E6");
    expect(update(stored("4", "S", "4"), specFor("-", "P", "46"), ["IPv4"]).result).toBe("E7");
    expect(update(stored("4", "S", "4"), specFor("-", "P", "-"), ["IPv4"]).result).toBe("P/4");
  });

  it("PreferDualStack after the cluster lost or gained a family: keeps its families", () => {
    expect(update(stored("46", "P", "46"), specFor("46", "P", "46"), ["IPv4"]).result).toBe("P/46");
    expect(update(stored("4", "P", "4"), specFor("4", "P", "4"), ["IPv4", "IPv6"]).result).toBe("P/4");
  });

  it("PreferDualStack with a request for the second family: gets it", () => {
    expect(update(stored("4", "P", "4"), specFor("4", "P", "46"), ["IPv4", "IPv6"]).result).toBe("P/46");
    expect(update(stored("4", "P", "4"), specFor("4", "R", "4"), ["IPv4", "IPv6"]).result).toBe("R/46");
  });
});

describe("initFamilies: update of headless Services", () => {
  it.each([
    { old: ["None+sel", "S", "4"], sentIPs: "None+sel", policy: "S", families: "6", want: "S/6" },
    { old: ["None+sel", "S", "4"], sentIPs: "None+sel", policy: "P", families: "-", want: "P/46" },
    { old: ["None+sel", "R", "46"], sentIPs: "None+sel", policy: "S", families: "46", want: "S/4" },
    { old: ["None+sel", "R", "46"], sentIPs: "None+sel", policy: "R", families: "64", want: "R/64" },
    { old: ["None+sel", "R", "46"], sentIPs: "None+sel", policy: "R", families: "4", want: "E2" },
  ])("$old to $sentIPs $policy $families: $want", ({ old, sentIPs, policy, families, want }) => {
    const [ips = "", oldPolicy = "", oldFamilies = ""] = old;
    expect(update(stored(ips, oldPolicy, oldFamilies), specFor(sentIPs, policy, families)).result).toBe(want);
  });

  it("ExternalName to an IP type: families are decided anew", () => {
    const before = deepFreeze(sent({ type: "ExternalName", externalName: "a.example" }));
    expect(update(before, specFor("-", "-", "-")).result).toBe("S/4");
    expect(update(before, specFor("-", "P", "64")).result).toBe("P/64");
  });
});
