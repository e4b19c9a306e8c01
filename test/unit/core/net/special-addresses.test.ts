import { expect, it } from "vitest";
import { parseAddress } from "../../../../src/core/net/address";
import { specialAddressMessages } from "../../../../src/core/net/special-addresses";

const LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)";
const LINK_LOCAL = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
const MULTICAST = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";

it.each([
  ["10.0.0.1", []],
  ["2001:db8::1", []],
  ["224.0.1.0", []],
  ["0.0.0.0", ["may not be unspecified (0.0.0.0)"]],
  ["::", ["may not be unspecified (::)"]],
  ["127.255.0.1", [LOOPBACK]],
  ["::1", [LOOPBACK]],
  ["169.254.169.254", [LINK_LOCAL]],
  ["fe80::1", [LINK_LOCAL]],
  ["febf::1", [LINK_LOCAL]],
  ["224.0.0.251", [MULTICAST]],
  ["ff02::1", [MULTICAST]],
])("special address %s: refused as an endpoint with its reason, others accepted", (text, want) => {
  const parsed = parseAddress(text);
  expect(parsed.ok && specialAddressMessages(parsed.value, text)).toEqual(want);
});
