import { expect, it } from "vitest";
import { addressWithin, insteadOfLowPort } from "../../../../src/clients/proxy/listen-place";
import { prefixOf } from "../../../model/prefix-of";

it.each([
  ["10.96.0.5", "127.0.0.0/8", "127.96.0.5"],
  ["10.96.0.5", "127.20.0.0/16", "127.20.0.5"],
  ["10.96.200.5", "127.20.0.0/17", "127.20.72.5"],
  ["10.96.0.5", "127.0.0.1/32", "127.0.0.1"],
  ["fd00:10:96::5", "127.6.0.0/16", "127.6.0.5"],
  ["fd00:10:96::1:2", "fd00:7::/64", "fd00:7::1:2"],
  ["10.96.0.5", "fd00:7::/64", "fd00:7::a60:5"],
  ["no address", "127.0.0.0/8", "no address"],
])("addressWithin, %s in %s: %s", (address, prefix, expected) => {
  expect(addressWithin(prefixOf(prefix), address)).toBe(expected);
});

it.each([
  [80, 10_000, 10_080],
  [1_023, 10_000, 11_023],
  [1_024, 10_000, undefined],
  [80, 0, undefined],
])("insteadOfLowPort, %i with %i: %s", (port, offset, expected) => {
  expect(insteadOfLowPort(port, offset)).toBe(expected);
});
