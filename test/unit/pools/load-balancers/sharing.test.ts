/** Which Services may share an address: the rules of MetalLB and of Cilium. */
import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { sharingOf, whyNotShared } from "../../../../src/pools/load-balancers/sharing";

const METALLB = "metallb.io/allow-shared-ip";
const CILIUM = "lbipam.cilium.io/sharing-key";
const ACROSS = "lbipam.cilium.io/sharing-cross-namespace";

interface Asked {
  annotations?: Record<string, string>;
  spec?: Service["spec"];
  namespace?: string;
}

function sharer(name: string, { annotations = {}, spec = {}, namespace = "ns" }: Asked): Parameters<typeof whyNotShared>[1] {
  const sharing = sharingOf({ metadata: { annotations }, spec });
  return { namespace, name, ...(sharing !== undefined && { sharing }) };
}

const port = (number: number, protocol?: string): Service["spec"] => ({ ports: [{ port: number, ...(protocol && { protocol }) }] });
const local = (number: number, selector?: Record<string, string>): Service["spec"] => ({
  ...port(number),
  externalTrafficPolicy: "Local",
  ...(selector && { selector }),
});
const refused = (why: string): string => `can't change sharing key for "ns/a", address also in use by ns/b: ${why}`;

describe("two Services at one address", () => {
  it.each<[string, Asked, Asked, string | undefined]>([
    ["no key at the asker", {}, { annotations: { [METALLB]: "k" } }, '"10.0.0.1" is already in use'],
    ["no key at the holder", { annotations: { [METALLB]: "k" } }, {}, refused("different sharing key")],
    ["empty keys", { annotations: { [METALLB]: "" } }, { annotations: { [METALLB]: "" } }, '"10.0.0.1" is already in use'],
    ["other keys", { annotations: { [METALLB]: "k" } }, { annotations: { [METALLB]: "l" } }, refused("different sharing key")],
    ["keys of both", { annotations: { [METALLB]: "k" } }, { annotations: { [CILIUM]: "k" } }, refused("different sharing key")],
    ["other ports", { annotations: { [METALLB]: "k" }, spec: port(80) }, { annotations: { [METALLB]: "k" }, spec: port(443) }, undefined],
    [
      "the earlier spelling of the key",
      { annotations: { "metallb.universe.tf/allow-shared-ip": "k" }, spec: port(80) },
      { annotations: { [METALLB]: "k" }, spec: port(443) },
      undefined,
    ],
    [
      "one port",
      { annotations: { [METALLB]: "k" }, spec: port(80) },
      { annotations: { [METALLB]: "k" }, spec: port(80, "TCP") },
      'port TCP/80 is already in use on "10.0.0.1"',
    ],
    [
      "one port of two protocols",
      { annotations: { [METALLB]: "k" }, spec: port(53) },
      { annotations: { [METALLB]: "k" }, spec: port(53, "UDP") },
      undefined,
    ],
    [
      "two policies",
      { annotations: { [METALLB]: "k" }, spec: local(80, { a: "b" }) },
      { annotations: { [METALLB]: "k" }, spec: port(443) },
      refused("different ExternalTrafficPolicy"),
    ],
    [
      "Local, the same Pods",
      { annotations: { [CILIUM]: "k" }, spec: local(80, { a: "b", c: "d" }) },
      { annotations: { [CILIUM]: "k" }, spec: local(443, { c: "d", a: "b" }) },
      undefined,
    ],
    [
      "Local, other Pods",
      { annotations: { [CILIUM]: "k" }, spec: local(80, { a: "b" }) },
      { annotations: { [CILIUM]: "k" }, spec: local(443, { a: "c" }) },
      refused("ExternalTrafficPolicy local but selecting different set of pods"),
    ],
    [
      "Local, no selector",
      { annotations: { [CILIUM]: "k" }, spec: local(80) },
      { annotations: { [CILIUM]: "k" }, spec: local(443) },
      refused("ExternalTrafficPolicy local but a service has no selector"),
    ],
    [
      "MetalLB's key in two namespaces",
      { annotations: { [METALLB]: "k" }, spec: port(80) },
      { annotations: { [METALLB]: "k" }, spec: port(443), namespace: "other" },
      undefined,
    ],
    [
      "Cilium's key in two namespaces",
      { annotations: { [CILIUM]: "k" }, spec: port(80) },
      { annotations: { [CILIUM]: "k", [ACROSS]: "ns" }, spec: port(443), namespace: "other" },
      `can't change sharing key for "ns/a", address also in use by other/b: different and not permitted namespace`,
    ],
    [
      "Cilium's key in two namespaces that permit each other",
      { annotations: { [CILIUM]: "k", [ACROSS]: "x, other" }, spec: port(80) },
      { annotations: { [CILIUM]: "k", [ACROSS]: "*" }, spec: port(443), namespace: "other" },
      undefined,
    ],
  ])("%s", (_, asker, holder, why) => {
    expect(whyNotShared("10.0.0.1", sharer("a", asker), sharer("b", holder))).toBe(why);
  });
});
