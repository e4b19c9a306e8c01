import { expect, it } from "vitest";
import type { ServiceAccount } from "../../../../../src/api/meta/kubernetes";
import { serviceAccountsDefinition } from "../../../../../src/api/registry/service-accounts/definition";
import { create, update } from "../outcomes";

const ANNOTATION = "kubernetes.io/enforce-mountable-secrets";
const WARNING = `metadata.annotations[${ANNOTATION}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;

function anAccount(content: Partial<ServiceAccount> = {}, annotations?: Record<string, string>): ServiceAccount {
  return { metadata: { name: "a", namespace: "ns", ...(annotations ? { annotations } : {}) }, ...content };
}

it("references to Secrets: only their names are kept", () => {
  const sent = anAccount({ secrets: [{ name: "s", namespace: "other", uid: "u" }, { kind: "Secret" }] });
  const { object, errors } = create(serviceAccountsDefinition, sent);
  expect([object.secrets, errors]).toEqual([[{ name: "s" }, {}], []]);
  expect(update(serviceAccountsDefinition, { before: object, after: { ...object, secrets: sent.secrets ?? [] } }).object.secrets).toEqual([
    { name: "s" },
    {},
  ]);
});

it("name: a DNS subdomain", () => {
  const { errors } = create(serviceAccountsDefinition, { metadata: { name: "A" } });
  expect(errors).toEqual([expect.stringMatching(/^metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of/)]);
});

it("the deprecated annotation: a warning when it comes, none when it was there", () => {
  const enforcing = anAccount({}, { [ANNOTATION]: "true" });
  expect(create(serviceAccountsDefinition, enforcing).warnings).toEqual([WARNING]);
  expect(update(serviceAccountsDefinition, { before: anAccount(), after: enforcing }).warnings).toEqual([WARNING]);
  expect(update(serviceAccountsDefinition, { before: enforcing, after: enforcing }).warnings).toEqual([]);
});
