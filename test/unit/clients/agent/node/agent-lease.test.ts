import { expect, it } from "vitest";
import { ownAnnotation, writtenOwn } from "../../../../../src/api/meta/own-annotation";
import { type AgentIdentity, isForeign, ownerOf, writtenBy } from "../../../../../src/clients/agent/node/agent-lease";

const own = { node: "n", id: "own", start: { count: 9, nonce: "m" } };
const writtenAs = (identity: Partial<AgentIdentity>) => writtenBy(undefined, { ...own, ...identity }, ownerOf("n", "uid"), 0);

it.each<[string, Partial<AgentIdentity>, boolean]>([
  ["this process", {}, false],
  ["another folder", { id: "other" }, true],
  ["another folder, started earlier", { id: "other", start: { count: 1, nonce: "m" } }, true],
  ["an earlier start, fewer digits or more", { start: { count: 8, nonce: "z" } }, false],
  ["a later start", { start: { count: 10, nonce: "a" } }, true],
  ["one that counted at once: the order of their nonces decides", { start: { count: 9, nonce: "n" } }, true],
  ["one that counted at once: the other way round", { start: { count: 9, nonce: "l" } }, false],
])("isForeign, the Lease of %s: %o is %s", (_, identity, foreign) => {
  expect(isForeign(writtenAs(identity), own)).toBe(foreign);
});

it.each(["", "12345678-9abc-4def-8123-456789abcdef", "10", "10."])("isForeign, a start of another form (%s): is of the past", (start) => {
  const { metadata, spec } = writtenAs({});
  const annotations = { ...metadata?.annotations, ...writtenOwn(ownAnnotation("agent-start"), start) };
  expect(isForeign({ metadata: { ...metadata, annotations }, spec: spec ?? {} }, own)).toBe(false);
});

it.each([
  ["another folder", { "servicenet.io/agent-id": "other" }],
  ["a later start of the folder", { "servicenet.io/agent-start": "10.a" }],
])("isForeign, an agent of the release before has written %s, by the earlier spelling alone: it has the Lease", (_, written) => {
  const { metadata, spec } = writtenAs({});
  const lease = { metadata: { ...metadata, annotations: { ...metadata?.annotations, ...written } }, spec: spec ?? {} };
  expect(isForeign(lease, own)).toBe(true);
});
