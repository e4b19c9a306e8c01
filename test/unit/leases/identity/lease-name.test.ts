import { expect, it } from "vitest";
import { identityLeaseName } from "../../../../src/leases/identity/lease-name";

const digest = async (bytes: Uint8Array): Promise<string> =>
  [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");

it.each([
  ["localhost", "apiserver-l2yubf4cvcl5c7a3wrubrwqdve"],
  ["node-1", "apiserver-lgabes5ywnaqeagh5dny4zlzs4"],
  ["kind-control-plane", "apiserver-c7uylvfxlbqccnk6myfkwetzze"],
  ["master-0.example.com", "apiserver-k7nkldil3orunqwiqg2xeoi7ju"],
])("identity Lease of %s: has upstream's name", async (hostname, want) => {
  expect(await identityLeaseName(hostname, digest)).toBe(want);
});
