/** Metadata of every kind: what a create of each mistake answers, as a dry run. */
import { collectionOf, type Kind, KINDS, nameOf, objectOf, titleOf } from "./kinds";
import { alone, type Case, type Group, post } from "./step";

const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
const long = (length: number): string => "x".repeat(length);

/** Members of metadata beside the name. */
const MEMBERS: Record<string, Record<string, unknown>> = {
  "labels of every form": {
    labels: {
      "": "a",
      "-a": "b",
      "a/b/c": "c",
      "A.b/c_d": "ok",
      ok: "not ok",
      long: long(64),
      [long(64)]: "x",
      [`${long(254)}/a`]: "x",
      "UP.er/a": "",
    },
  },
  "labels null": { labels: null },
  "labels a list": { labels: ["a"] },
  "label a number": { labels: { a: 1 } },
  "label null": { labels: { a: null } },
  annotations: { annotations: { "": "a", "a b": "c", "x/y": "ok", "UPPER/ok": "ok", "a/b/c": "d" } },
  "annotation true": { annotations: { a: true } },
  "annotations too large": { annotations: { a: long(262_145) } },
  finalizers: { finalizers: ["", "a", "a/b", "a/b/c", "-a/b", "kubernetes", "foregroundDeletion", "orphan", "a/b"] },
  "both finalizers of deletion": { finalizers: ["foregroundDeletion", "orphan"] },
  "finalizers a text": { finalizers: "a/b" },
  "owner empty": { ownerReferences: [{}] },
  "owner null": { ownerReferences: [null] },
  "owner of an Event": { ownerReferences: [{ ...owner, kind: "Event" }] },
  "owner of a bad version": { ownerReferences: [{ ...owner, apiVersion: "a/b/c" }] },
  "two controllers": {
    ownerReferences: [
      { ...owner, controller: true },
      { ...owner, name: "q", uid: "v", controller: true },
    ],
  },
  "two equal owners": { ownerReferences: [owner, owner] },
  "controller a text": { ownerReferences: [{ ...owner, controller: "yes" }] },
  generateName: { generateName: "Not_A_Name" },
  "generateName a number": { generateName: 7 },
  "namespace of another": { namespace: "another" },
  "namespace a number": { namespace: 5 },
  resourceVersion: { resourceVersion: "5" },
  "resourceVersion 0": { resourceVersion: "0" },
  "resourceVersion a word": { resourceVersion: "word" },
  uid: { uid: "given" },
  creationTimestamp: { creationTimestamp: "2001-01-01T00:00:00Z" },
  "creationTimestamp a word": { creationTimestamp: "yesterday" },
  "creationTimestamp a number": { creationTimestamp: 5 },
  deletionTimestamp: { deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 },
  "deletionGracePeriodSeconds a fraction": { deletionGracePeriodSeconds: 1.5 },
  generation: { generation: 7 },
  "generation negative": { generation: -1 },
  selfLink: { selfLink: "/x" },
  "managedFields without manager": { managedFields: [{}] },
  "managedFields a map": { managedFields: {} },
  unknown: { unknown: 1, clusterName: "c" },
};

const NAMES: Record<string, unknown> = {
  empty: "",
  null: null,
  "a number": 5,
  uppercase: "Upper",
  underscore: "a_b",
  dot: "a.b",
  ".": ".",
  "..": "..",
  slash: "a/b",
  percent: "a%b",
  "64 characters": long(64),
  "254 characters": long(254),
  "ends with a dash": "a-",
  "begins with a digit": "1a",
  colon: "system:a",
  space: "a b",
  "an address": "10.96.0.201",
  "no canonical address": "010.96.0.201",
};

/** The object beside its metadata. */
const BODIES: Record<string, (object: Record<string, unknown>) => unknown> = {
  "apiVersion of another": (object) => ({ ...object, apiVersion: "apps/v1" }),
  "apiVersion missing": ({ apiVersion: _apiVersion, ...object }) => object,
  "apiVersion a number": (object) => ({ ...object, apiVersion: 1 }),
  "kind of another": (object) => ({ ...object, kind: "Deployment" }),
  "kind missing": ({ kind: _kind, ...object }) => object,
  "kind a list": (object) => ({ ...object, kind: [] }),
  "metadata missing": ({ metadata: _metadata, ...object }) => object,
  "metadata null": (object) => ({ ...object, metadata: null }),
  "metadata a text": (object) => ({ ...object, metadata: "m" }),
  "unknown member": (object) => ({ ...object, unknown: { a: 1 } }),
  "other case of a member": (object) => ({ ...object, Metadata: { name: "other" } }),
  "an empty object": () => ({}),
  null: () => "null",
  "a list": () => "[]",
  "a text": () => '"a"',
  "a number": () => "5",
  nothing: () => "",
  half: (object) => JSON.stringify(object).slice(0, 40),
  twice: (object) => `${JSON.stringify(object)}${JSON.stringify(object)}`,
  "a member twice": (object) => JSON.stringify(object).replace("{", '{"metadata":{"name":"first"},'),
};

export const metadataGroups: readonly Group[] = KINDS.map((kind) => ({ name: `metadata-${titleOf(kind)}`, cases: [...casesOf(kind)] }));

function* casesOf(kind: Kind): Generator<Case> {
  const path = `${collectionOf(kind)}?dryRun=All`;
  const group = `metadata-${titleOf(kind)}`;
  let n = 0;
  const one = (metadata: object = {}) => objectOf(kind, nameOf(kind, group, n++), n, metadata);
  for (const [name, members] of Object.entries(MEMBERS)) yield alone(name, post(path, one(members)));
  for (const [name, value] of Object.entries(NAMES)) yield alone(`name ${name}`, post(path, one({ name: value })));
  yield alone("generateName alone", post(path, one({ name: undefined, generateName: "made-" })));
  for (const [name, body] of Object.entries(BODIES)) yield alone(`body: ${name}`, post(path, body(one())));
  for (const validation of ["Strict", "Warn", "Ignore", "Other"]) {
    const body = JSON.stringify({ ...one({ unknown: 1 }), more: true }).replace('"metadata":{', '"metadata":{"labels":{"a":"1","a":"2"},');
    yield alone(`fieldValidation ${validation}`, post(`${path}&fieldValidation=${validation}`, body));
  }
}
