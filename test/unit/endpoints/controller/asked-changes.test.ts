import { describe, expect, it } from "vitest";
import { MIRRORING_CONTROLLER, SLICE_CONTROLLER } from "../../../../src/api/meta/endpoint-keys";
import type { KubeObject } from "../../../../src/api/meta/kubernetes";
import {
  changesForeignEndpoints,
  changesMirroredService,
  changesNodeZone,
  changesPodEndpoint,
  changesServiceWithPods,
  changesSliceOf,
} from "../../../../src/endpoints/controller/asked-changes";

type Object = object | undefined;
type Case = [what: string, before: Object, after: Object, asks: boolean];

const service = (spec: object, metadata: object = {}): object => ({ metadata: { name: "a", ...metadata }, spec });
const WEB = { selector: { app: "web" }, clusterIP: "10.96.0.1", ports: [{ port: 80 }] };
const BARE = { clusterIP: "10.96.0.1", ports: [{ port: 80 }] };
const pod = (status: object, metadata: object = {}): object => ({
  metadata: { name: "p", labels: { app: "web" }, ...metadata },
  spec: {},
  status,
});
const AT = { podIPs: [{ ip: "10.1.0.1" }], phase: "Running" };
const node = (labels: object, rest: object = {}): object => ({ metadata: { name: "n", labels }, ...rest });
const slice = (manager?: string): object => ({
  metadata: { labels: manager ? { "endpointslice.kubernetes.io/managed-by": manager } : {} },
});
const written = (...managers: string[]): object => ({ metadata: { managedFields: managers.map((manager) => ({ manager })) } });

const TABLES: [filter: string, asks: (change: { before?: KubeObject; after?: KubeObject }) => boolean, cases: Case[]][] = [
  [
    "Services, for slices and Endpoints",
    changesServiceWithPods,
    [
      ["one with a selector comes", undefined, service(WEB), true],
      ["one without comes", undefined, service(BARE), false],
      ["one with a selector goes", service(WEB), undefined, true],
      ["one without goes", service(BARE), undefined, false],
      ["it gets a selector", service(BARE), service(WEB), true],
      ["it loses its selector", service(WEB), service(BARE), true],
      ["it becomes an ExternalName", service(WEB), service({ ...WEB, type: "ExternalName" }), true],
      ["its labels change: slices copy them", service(WEB), service(WEB, { labels: { a: "b" } }), true],
      ["its ports change", service(WEB), service({ ...WEB, ports: [{ port: 81 }] }), true],
      ["an annotation that nobody copies", service(WEB), service(WEB, { annotations: { a: "b" } }), false],
      ["its status", service(WEB), { ...service(WEB), status: { loadBalancer: {} } }, false],
    ],
  ],
  [
    "Pods",
    changesPodEndpoint,
    [
      ["one without an address comes", undefined, pod({}), false],
      ["it gets an address", pod({}), pod(AT), true],
      ["an address that every slice refuses: an event tells of it", pod({}), pod({ podIPs: [{ ip: "127.0.0.1" }] }), true],
      ["it turns ready", pod(AT), pod({ ...AT, conditions: [{ type: "Ready", status: "True" }] }), true],
      ["another condition", pod(AT), pod({ ...AT, conditions: [{ type: "Other", status: "True" }] }), false],
      ["its labels change", pod(AT), pod(AT, { labels: {} }), true],
      ["it is being deleted", pod(AT), pod(AT, { deletionTimestamp: "2026-01-01T00:00:00Z" }), true],
      ["it ends", pod(AT), pod({ ...AT, phase: "Failed" }), true],
      ["one that has ended goes", pod({ ...AT, phase: "Failed" }), undefined, false],
      ["it goes", pod(AT), undefined, true],
    ],
  ],
  [
    "Nodes",
    changesNodeZone,
    [
      ["one without a zone comes", undefined, node({}), true],
      ["it gets a zone", node({}), node({ "topology.kubernetes.io/zone": "a" }), true],
      ["a heartbeat", node({}), node({}, { status: { conditions: [] } }), false],
      ["it goes", node({}), undefined, true],
    ],
  ],
  [
    "slices, for their controller",
    changesSliceOf(SLICE_CONTROLLER),
    [
      ["one of its own comes", undefined, slice(SLICE_CONTROLLER), true],
      ["one of mirroring", undefined, slice(MIRRORING_CONTROLLER), false],
      ["one of somebody's", slice(), slice(), false],
      ["somebody takes one away", slice(SLICE_CONTROLLER), slice("other"), true],
      ["its own goes", slice(SLICE_CONTROLLER), undefined, true],
    ],
  ],
  [
    "Services, for mirroring",
    changesMirroredService,
    [
      ["one with a selector comes", undefined, service(WEB), false],
      ["one without comes", undefined, service(BARE), true],
      ["an empty selector is none", undefined, service({ ...BARE, selector: {} }), true],
      ["it gets a selector", service(BARE), service(WEB), true],
      ["it loses its selector", service(WEB), service(BARE), true],
      ["one without changes otherwise", service(BARE), service({ ...BARE, ports: [] }), false],
      ["one without goes", service(BARE), undefined, true],
      ["one with goes", service(WEB), undefined, false],
    ],
  ],
  [
    "Endpoints, for mirroring",
    changesForeignEndpoints("endpoints-controller"),
    [
      ["the controller's come", undefined, written("endpoints-controller"), false],
      ["it changes its own", written("endpoints-controller"), written("endpoints-controller"), false],
      ["its own go", written("endpoints-controller"), undefined, false],
      ["somebody's come", undefined, written("kubectl"), true],
      ["somebody edits those of the controller", written("endpoints-controller"), written("endpoints-controller", "kubectl"), true],
      ["nobody is known to have written them", undefined, { metadata: {} }, true],
      ["somebody's go", written("kubectl"), undefined, true],
    ],
  ],
];

describe.each(TABLES)("changes of %s: which ask for a pass", (_, asks, cases) => {
  it.each(cases)("%s", (__, before, after, expected) => {
    expect(asks({ ...(before && { before }), ...(after && { after }) })).toBe(expected);
  });
});
