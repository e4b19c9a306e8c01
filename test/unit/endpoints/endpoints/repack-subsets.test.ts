import { expect, it } from "vitest";
import { type EndpointSubset, repackSubsets } from "../../../../src/endpoints/endpoints/repack-subsets";
import { ipv4 } from "../../../support/worlds/slice-world";

/** `"1.2.3.4 u1 | !1.2.3.5 : 80 443"`: addresses with their uids, ! = not ready, then ports. */
function subset(text: string): EndpointSubset {
  const [addresses = "", ports = ""] = text.split(" : ");
  const all = addresses.split(" | ").map((one) => {
    const [ip = "", uid] = one.replace("!", "").split(" ");
    return { ready: !one.startsWith("!"), address: { ip, ...(uid && { targetRef: { uid } }) } };
  });
  const those = (wanted: boolean) => all.filter(({ ready }) => ready === wanted).map(({ address }) => address);
  return {
    addresses: those(true),
    notReadyAddresses: those(false),
    ports: ports.split(" ").flatMap((port) => (port ? [{ port: Number(port), protocol: "TCP" }] : [])),
  };
}

function text({ addresses, notReadyAddresses, ports }: EndpointSubset): string {
  const one = (mark: string) => (address: { ip: string; targetRef?: { uid?: string } }) =>
    `${mark}${address.ip}${address.targetRef?.uid ? ` ${address.targetRef.uid}` : ""}`;
  const all = [...(addresses ?? []).map(one("")), ...(notReadyAddresses ?? []).map(one("!"))];
  return `${all.join(" | ")} : ${(ports ?? []).map(({ port }) => port).join(" ")}`;
}

// upstream pkg/api/v1/endpoints/util_test.go
it.each<[string, string[], string[]]>([
  ["nothing", [], []],
  ["one address without ports", ["1.2.3.4"], ["1.2.3.4 : "]],
  ["one address, one port", ["1.2.3.4 : 111"], ["1.2.3.4 : 111"]],
  ["one address that is not ready", ["!1.2.3.4 : 111"], ["!1.2.3.4 : 111"]],
  ["one address twice", ["1.2.3.4 | 1.2.3.4 : 111"], ["1.2.3.4 : 111"]],
  ["one address ready and not: not ready", ["1.2.3.4 | !1.2.3.4 : 111"], ["!1.2.3.4 : 111"]],
  ["one address in two subsets, ready in the second", ["!1.2.3.4 : 111", "1.2.3.4 : 111"], ["!1.2.3.4 : 111"]],
  ["one address of two objects: both", ["1.2.3.4 u2 | 1.2.3.4 u1 : 111"], ["1.2.3.4 u1 | 1.2.3.4 u2 : 111"]],
  ["one address, two ports in two subsets: joined", ["1.2.3.4 : 111", "1.2.3.4 : 222"], ["1.2.3.4 : 111 222"]],
  ["two addresses, one port in two subsets: joined", ["1.2.3.5 : 111", "1.2.3.4 : 111"], ["1.2.3.4 | 1.2.3.5 : 111"]],
  ["two addresses, two ports: one subset", ["1.2.3.4 | 1.2.3.5 : 111 222"], ["1.2.3.4 | 1.2.3.5 : 111 222"]],
  [
    "each address with a port of its own and one together: two subsets and one",
    ["1.2.3.4 : 111 222", "1.2.3.5 : 222 333"],
    ["1.2.3.4 : 111", "1.2.3.4 | 1.2.3.5 : 222", "1.2.3.5 : 333"],
  ],
  ["ready for one port and not for another: two subsets", ["1.2.3.4 : 111", "!1.2.3.4 : 222"], ["1.2.3.4 : 111", "!1.2.3.4 : 222"]],
  ["one address without ports and with one: the port stays", ["1.2.3.4", "1.2.3.4 : 111"], ["1.2.3.4 : 111"]],
])("%s: the subsets of the row, repacked once or twice", (_, given, want) => {
  const subsets = given.map(subset);
  const repacked = repackSubsets(subsets);
  expect(repacked.map(text)).toEqual(want);
  expect(repackSubsets(repacked)).toEqual(repacked);
});

it("a subset without addresses: left out", () => {
  expect(repackSubsets([{ ports: [{ port: 80 }] }])).toEqual([]);
});

it("20,000 ports of 20,000 addresses: one subset, in work that grows with their sum", () => {
  const addresses = Array.from({ length: 20_000 }, (_, i) => ({ ip: ipv4(i) }));
  const ports = Array.from({ length: 20_000 }, (_, i) => ({ name: `p${i}`, port: i + 1, protocol: "TCP" }));
  const [only, ...others] = repackSubsets([{ addresses, ports }]);
  expect([only?.addresses?.length, only?.ports?.length, others.length]).toEqual([20_000, 20_000, 0]);
});
