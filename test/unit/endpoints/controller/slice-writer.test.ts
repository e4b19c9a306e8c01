import { expect, it } from "vitest";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { forbidden, notFound, serviceUnavailable, type Status, succeeded } from "../../../../src/api/meta/status";
import { endpointSlicesDefinition } from "../../../../src/api/registry/endpoint-slices/definition";
import type { WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import { type SliceWrites, writeSlices } from "../../../../src/endpoints/controller/slice-writer";
import type { SliceChanges } from "../../../../src/endpoints/slices/slice-changes";
import { SliceTracker } from "../../../../src/endpoints/slices/slice-tracker";

const slice = (name: string): EndpointSlice => ({
  metadata: { name, namespace: "ns", uid: name, generation: 1 },
  addressType: "IPv4",
  endpoints: [],
});
const made = (object: object): WriteResult => ({ ok: true, code: 200, object: JSON.stringify(object), warnings: [], gone: false });
const refused = (status: Status): WriteResult => ({ ok: false, status, warnings: [] });

const NEW: EndpointSlice = { ...slice(""), metadata: { generateName: "web-", namespace: "ns" } };
const CHANGES: SliceChanges = { create: [NEW], update: [slice("old")], remove: [slice("gone")] };
const GONE = notFound(endpointSlicesDefinition, "gone");

it.each<{
  what: string;
  answers: Partial<Record<WriteRequest["verb"], WriteResult | Error>>;
  verbs: string[];
  writes: SliceWrites;
  told: string[];
}>([
  {
    what: "all are made",
    answers: {},
    verbs: ["create", "update", "delete"],
    writes: { result: "done" },
    told: ["create", "update", "delete"],
  },
  {
    what: "a slice to delete is gone",
    answers: { delete: refused(GONE) },
    verbs: ["create", "update", "delete"],
    writes: { result: "done" },
    told: ["create", "update"],
  },
  {
    what: "a slice to update is gone",
    answers: { update: refused(GONE) },
    verbs: ["create", "update"],
    writes: { result: "later", why: `failed to update old EndpointSlice for Service ns/web: ${GONE.message ?? ""}` },
    told: ["create"],
  },
  {
    what: "a create is forbidden: by what its name is made of",
    answers: { create: refused(forbidden(endpointSlicesDefinition, "web-x7k2p", "no")) },
    verbs: ["create"],
    writes: {
      result: "refused",
      why: 'failed to create EndpointSlice for Service ns/web: endpointslices.discovery.k8s.io "web-" is forbidden: no',
    },
    told: [],
  },
  {
    what: "a deletion is refused without a message",
    answers: { delete: refused({ ...succeeded(503, ""), message: undefined }) },
    verbs: ["create", "update", "delete"],
    writes: { result: "later", why: "failed to delete gone EndpointSlice for Service ns/web: " },
    told: ["create", "update"],
  },
  {
    what: "the store does not answer",
    answers: { create: new Error("lost") },
    verbs: ["create"],
    writes: { result: "silent", why: "failed to create EndpointSlice for Service ns/web: Error: lost" },
    told: [],
  },
  {
    what: "the store is in trouble",
    answers: { update: refused(serviceUnavailable("later", 1)) },
    verbs: ["create", "update"],
    writes: { result: "later", why: "failed to update old EndpointSlice for Service ns/web: later" },
    told: ["create"],
  },
])("$what: the writes and what is told of them", async ({ answers, verbs, writes, told }) => {
  const asked: string[] = [];
  const counted: string[] = [];
  const write = (request: WriteRequest): Promise<WriteResult> => {
    asked.push(request.verb);
    const answer = answers[request.verb] ?? made(slice("answered"));
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const ports = {
    store: { write },
    tracker: new SliceTracker(),
    writer: { manager: "endpointslice-controller", group: "discovery.k8s.io" },
    owner: "Service" as const,
    made: (operation: string) => void counted.push(operation),
    limited: <T>(work: () => Promise<T>) => work(),
  };
  expect(await writeSlices(ports, "ns/web", CHANGES)).toEqual(writes);
  expect([asked, counted]).toEqual([verbs, told]);
});
